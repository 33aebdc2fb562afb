"""The compiled trainer as Python sees it: rules, boards and checks are those of the core."""

from array import array

from merels.engine.core.core import SearchWorker, TableSet, TranspositionTable, _Board, _Rules

SAMPLE_FORMAT: str                       # of training's `Sample`, as in `struct`
SAMPLE_BYTES: int
WHOLE: int                               # a whole point, in the numbers of a sample
NO_POINTS: int                           # points that are not known

def shuffle(data: bytearray, seed: int) -> None:
    """Put packed samples in random order; `ValueError` for bytes that are not samples.

    All functions of samples raise it: for a size that is no multiple of ``SAMPLE_BYTES``, an
    impossible board or way of flying, or more than a whole point.
    """

def board_key(fields: _Board) -> int:
    """A number that the 16 images of a board share, and no other board has."""

def is_held_out(fields: _Board) -> bool:
    """Whether a board is one in 64, chosen by its key, that no fitting sees."""

def select_samples(
    data: bytes | bytearray, unseen: array[int], held_out: bool
) -> bytearray:
    """The samples that are held out, or those that are not.

    ``unseen`` has keys of boards, 64-bit numbers in rising order, that are in neither.
    """

def split_samples(data: bytes | bytearray | memoryview) -> list[bytearray]:
    """The samples of each quarter of the phases, in their order: what they teach has nothing in
    common.
    """

def draw_samples(
    tables: TableSet, own: int, opponent: int, hand: int, number: int, seed: int
) -> bytearray:
    """Up to ``number`` samples from random places of a table, with its values as results.

    ``hand`` is the men in hand of both sides together. Boards that end the game are left out.
    """

def hash_samples(
    table: TranspositionTable, rules: _Rules, number: int, seed: int
) -> bytearray:
    """Up to ``number`` samples without a score or result: random positions that searches met.

    Every second one becomes a position after it.
    """

def score_samples(
    worker: SearchWorker, rules: _Rules, data: bytes | bytearray, nodes: int, per_logit: float
) -> bytearray:
    """Samples of the rules' way of flying with scores, where they had none, of short searches.

    Each ends with the iteration that reaches ``nodes``; ``per_logit`` hundredths of a man are worth
    73 % of the points. ValueError where it is below 1.
    """

def leaf_samples(
    tables: TableSet, worker: SearchWorker, data: bytes | bytearray, nodes: int
) -> bytearray:
    """Where searches by the tables' rules end after critical samples' best-looking moves, right and
    wrong.

    A sample is critical if the tables have its way of flying and all that its moves lead to, it is
    not lost, and at most a third of the moves hold its value. Of those that do and of those that do
    not, the move that looks best after 30 nodes is searched to the iteration that reaches
    ``nodes``. Up to two samples of each, without a score or result. ValueError without nodes.
    """

def label_samples(tables: TableSet, data: bytes | bytearray) -> bytearray:
    """Samples with the tables' values as results, where they have the way of flying and the board.
    """

def labelled_samples(data: bytes | bytearray) -> bytearray:
    """The samples that have a result."""

class Fit:
    """The weights of a quarter of the phases, fitted from nothing to samples: by ``share`` to their
    scores, for the rest to their results.

    ``quarter`` is a place in what `split_samples` returns. ValueError where there is no such, or
    where ``share`` is not 0 to 1.
    """

    def __init__(self, share: float, quarter: int, seed: int = 1) -> None: ...
    def epoch(
        self, data: bytes | bytearray | memoryview, rate: float, decay: float = 0
    ) -> float:
        """One pass over packed samples of the quarter at a learning rate, 0 to learn nothing.

        With each batch all parameters lose ``rate`` times ``decay`` of themselves. Returns the mean
        squared error, each taken before its batch's step; 0 without samples. ValueError for a rate
        or a decay below 0 or above 1, or a sample of another quarter.
        """

    def write(self, weights: bytearray) -> None:
        """Put them where they belong in weights as `load_weights` takes them."""
