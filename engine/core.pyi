"""Types of the compiled core. Positions, rules and weights come as plain tuples.

rules    (flying 0 never 1 own 2 both, locked mills safe, two men for two mills, blocked draws,
         repetition, no-removal plies, three-three plies)
board    (own mask, opponent's mask, own hand, opponent's hand, plies without a removal)
turn     to | origin << 5 | first taken << 10 | second taken << 15, with 31 for none
"""

from collections.abc import Callable, Sequence

_Rules = tuple[int, bool, bool, bool, int, int, int]
_Board = tuple[int, int, int, int, int]
_Weights = tuple[tuple[int, ...], ...]
_Line = tuple[int, int, list[int]]

FEATURE_NAMES: tuple[str, ...]

def check_geometry(men: int) -> int: ...
def perft(rules: _Rules, fields: _Board, depth: int) -> int: ...
def legal_turns(rules: _Rules, fields: _Board) -> list[int]: ...
def outcome(rules: _Rules, fields: _Board, history: Sequence[int]) -> tuple[str, int]: ...
def features(
    rules: _Rules, fields: _Board
) -> tuple[int, list[int], list[int]]: ...
def evaluate(rules: _Rules, weights: _Weights, fields: _Board) -> int: ...

class TranspositionTable:
    megabytes: int
    def __init__(self, megabytes: int) -> None: ...
    def clear(self) -> None: ...
    def new_search(self) -> None: ...
    def full(self) -> int: ...

class SearchWorker:
    depth: int
    nodes: int
    def __init__(self, table: TranspositionTable) -> None: ...
    def stop(self) -> None: ...
    def set_deadline(self, deadline: int | None) -> None: ...
    def arm(self) -> None: ...
    def clear(self) -> None: ...
    def run(
        self,
        rules: _Rules,
        weights: _Weights,
        fields: _Board,
        history: Sequence[int],
        root_turns: Sequence[int],
        report: Callable[[int, list[_Line]], bool],
        *,
        first_depth: int = 1,
        max_depth: int = ...,
        node_limit: int = 0,
        lines: int = 1,
        noise: int = 0,
        noise_seed: int = 0,
    ) -> bool: ...
