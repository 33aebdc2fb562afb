"""The compiled player, table solver and trainer, and the weights of the evaluation."""
