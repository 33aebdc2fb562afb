"""Interface of the compiled trainer. Arguments and their checks are those of core.pyi.

Samples are bytes in the format that training/samples.pxi describes. Functions that take samples
raise `ValueError` if the size is no multiple of ``SAMPLE_BYTES``, and for a sample with an
impossible board, an unknown value of Flying, or a score or result above one point. No other thread
may change samples during a call.
"""

from array import array

from merels.engine.core.core import SearchWorker, TableSet, TranspositionTable, _Board, _Rules

SAMPLE_BYTES: int

def pack_sample(
    fields: _Board, flying: int, score: float | None, result: float | None
) -> bytes:
    """Return the sample of a board.

    ``flying`` is the rule's number. ``score`` is the points that a search expects for the side to
    move, ``result`` its points in the game or by the tables, each from 0 to 1, or None.
    """

def shuffle(data: bytearray, seed: int) -> None:
    """Shuffle samples in place."""

def board_key(fields: _Board) -> int:
    """Return a key that only the 16 symmetric images of a board share; plies are ignored."""

def is_held_out(fields: _Board) -> bool:
    """Return whether a board is held out from every fit: one board in 64, chosen by its key."""

def select_samples(
    data: bytes | bytearray, unseen: array[int], held_out: bool
) -> bytearray:
    """Return only the samples that are held out, or only the others.

    Boards whose keys are in ``unseen``, 64-bit numbers in rising order, are never returned.
    """

def split_samples(data: bytes | bytearray | memoryview) -> list[bytearray]:
    """Return the samples of each quarter of the phases, in order. Quarters share no weights."""

def draw_samples(
    tables: TableSet, own: int, opponent: int, hand: int, number: int, seed: int
) -> bytearray:
    """Return up to ``number`` samples from random places of a table, with its values as results.

    ``hand`` is the number of men in hand of both sides together. Finished games are left out.
    """

def hash_samples(
    table: TranspositionTable, rules: _Rules, number: int, seed: int
) -> bytearray:
    """Return up to ``number`` samples from random entries of a hash table, without score or result.

    About half of them are positions after a random move from an entry's position.
    """

def score_samples(
    worker: SearchWorker, rules: _Rules, data: bytes | bytearray, nodes: int, per_logit: float
) -> bytearray:
    """Return the samples, with a score from a short search for those that had no score.

    Finished games and samples of another value of Flying are unchanged. A search ends with the
    iteration that reaches ``nodes``. A score of ``per_logit`` hundredths of a man is an expectation
    of 73 % of the points; `ValueError` if it is below 1.
    """

def leaf_samples(
    tables: TableSet, worker: SearchWorker, data: bytes | bytearray, nodes: int
) -> bytearray:
    """Return samples of the leaves of searches after right and wrong moves of critical samples.

    A sample is critical if it is not lost, at most a third of its moves keep its value, and the
    tables have its Flying and the values of all moves. A search of 30 nodes scores each move. The
    best move that keeps the value, and the best that does not, are then searched to the iteration
    that reaches ``nodes``. Each critical sample gives up to two samples, without score or
    result. `ValueError` if ``nodes`` is 0.
    """

def label_samples(tables: TableSet, data: bytes | bytearray) -> bytearray:
    """Return the samples; positions in the tables get their values there as results."""

def labelled_samples(data: bytes | bytearray) -> bytearray:
    """Return the samples that have a result."""

class Fit:
    """Weights of a quarter of the phases, fitted to samples.

    A label is the weighted mean of score and result; ``share`` is the weight of the score, from 0
    to 1. Without a score, the label is the result, which every sample must have. ``quarter`` is an
    index of the list that `split_samples` returns. `ValueError` if either number is out of range.
    """

    def __init__(self, share: float, quarter: int, seed: int = 1) -> None: ...
    def epoch(
        self, data: bytes | bytearray | memoryview, rate: float, decay: float = 0
    ) -> float:
        """Fit the weights in one pass over samples of the quarter; return the mean squared error.

        Each error is computed before the step of its batch; the mean is 0 without samples. ``rate``
        is the learning rate; with 0, the error is only measured. Each batch reduces all parameters
        by the fraction ``rate`` * ``decay``. `ValueError` for a rate or decay that is not from 0 to
        1, or for a sample of another quarter or without a result.
        """

    def write(self, weights: bytearray) -> None:
        """Write the weights to their places in a buffer of `core.WEIGHTS_SIZE` bytes."""
