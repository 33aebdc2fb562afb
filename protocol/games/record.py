"""Game records: games with the content that PGN stores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping

from merels.engine.common.errors import InputError, required_text
from merels.engine.common.messages import message
from merels.engine.game.position import COUNTING_RULES, Move, Position
from merels.engine.game.rules import PRESETS
from merels.protocol.games.tree import RESULTS, Node, Tree, place_of
from merels.protocol.games.writer import format_record


class Record(Tree):
    """A game: tags, result, and a tree of moves from a first position.

    ``str(record)`` is the game as PGN. ``record.root`` is the node before the first move.
    `InputError` for an argument of another type, an illegal move, an unknown result, and for tags
    FEN and Variant that differ from the first position and its rules.
    """

    def __init__(
        self, start: Position | None = None, moves: Iterable[Move] = (), result: str = "*",
        tags: dict[str, str] | None = None,
    ) -> None:
        super().__init__(start, moves, result, tags)
        stated = self.tags.get("FEN", "")
        # A FEN in another form, such as MFEN, is not compared.
        if len(stated.split()) == 6 and Position(stated, self.start.rules).key != self.start.key:
            raise InputError(
                stated, f"the tag FEN differs from the first position, {self.start.fen()}"
            )

        variant, rules = self.tags.get("Variant", ""), self.start.rules
        if variant.lower() in PRESETS and variant.lower() != rules.variant:
            raise InputError(
                variant,
                f"the tag Variant differs from the rules of the first position, {rules.variant}",
            )

    @property
    def result(self) -> str:
        """The result: 1-0, 0-1, 1/2-1/2, or * if it is not known; the tag Result follows it."""
        return self._result

    @result.setter
    def result(self, result: str) -> None:
        if result not in RESULTS:
            raise InputError(str(result), f"expected a result: {', '.join(RESULTS)}")
        self._result = result

    @property
    def headers(self) -> MutableMapping[str, str]:
        """The tags, and the result as the tag Result, as in python-chess."""
        return _Headers(self)

    @property
    def variations(self) -> list[Node]:
        """The first moves; the first of them continues the main line."""
        return self.root.children

    def add_variation(self, move: Move | str, comment: str = "") -> Node:
        """Add a first move; see `Node.add_variation`."""
        return self.root.add_variation(move, comment)

    def __str__(self) -> str:
        return format_record(self)


class _Headers(MutableMapping[str, str]):
    """The tags of a record; Result is its result."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def __getitem__(self, name: str) -> str:
        return self._record.result if name == "Result" else self._record.tags[name]

    def __setitem__(self, name: str, value: str) -> None:
        if name == "Result":
            self._record.result = value
        else:
            self._record.tags[required_text(name, "the name of a tag")] = (
                required_text(value, f"the value of tag {name}")
            )

    def __delitem__(self, name: str) -> None:
        del self._record.tags[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._record.tags, "Result": ""})

    def __len__(self) -> int:
        return len({*self._record.tags, "Result"})

    def __repr__(self) -> str:
        return repr(dict(self))


def notices_of(record: Record, by_flags: bool = True) -> list[str]:
    """Return the notices of ``record``: `drawn_notice` and ``record.result_notice``."""
    return [text for text in (drawn_notice(record, by_flags), record.result_notice) if text]


def drawn_notice(record: Record, by_flags: bool = True) -> str:
    """Return a notice of ``record.drawn``, or '' if it is None.

    With ``by_flags``, the notice names the flags -variant and -set.
    """
    if record.drawn is None:
        return ""
    plies, outcome = record.drawn
    setting = f"{COUNTING_RULES[outcome.reason]}=0"
    if by_flags:
        setting = f"-set {setting}" + " or -variant morris" * (outcome.reason == "three")
    if not plies:
        return message(
            "{reason} before the first move; the later moves are read, too; {setting} turns this "
            "draw off", reason=str(outcome), setting=setting,
        )
    return message(
        "{reason} at {place} ({move}); the later moves are read, too; {setting} turns this draw "
        "off", reason=str(outcome), place=place_of(record.start, plies - 1),
        move=record.moves[plies - 1], setting=setting,
    )
