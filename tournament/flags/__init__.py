"""The command lines of tournaments and tunes, read and checked."""
