"""Fuzzing of the engine's protocol: bursts of lines to a real process."""

from __future__ import annotations

import os
import random
import re
import tempfile
from pathlib import Path

from merels.engine.game.notation import (
    format_moves,
    format_position,
    format_seventeen,
    parse_move,
    parse_position,
)
from merels.engine.game.position import Position
from merels.engine.game.rules import FIELDS, PRESETS
from merels.protocol.uci.settings import OPTIONS
from tests.engine.random_games import choose, random_rules
from tests.fuzz.harness import Case, Defect, Fuzzer, Hang, Tally
from tests.fuzz.mutate import NUMBERS, spoil
from tests.protocol.gui import Gui

LINES_OF_A_BURST = 250
BURSTS_OF_A_PROCESS = 1000
RESET = (
    b"stop", b"debug off", b"setoption name UCI_Variant value mill",
    b"setoption name UCI_LimitStrength value false", b"setoption name MultiPV value 1",
    b"setoption name Threads value 1", b"setoption name Hash value 1", b"ucinewgame",
)
"""Commands that reset the engine, so that one process serves many bursts."""
MARK = "end-of-part"
"""An unknown command: the engine's complaint shows that it has read all lines before it."""
START = b"position startpos moves d6 f4"
AT_START = "********/O*@*****/******** w 8 8 0 2"
_COMPLAINTS = ("info string error", "info string unknown")
_POSITION = re.compile(r"[O@*]{8}/[O@*]{8}/[O@*]{8} [wb] \d \d \d")
_HUGE = 1 << 17
"""Approximate length of the longest lines, in characters."""
_GO = (
    "depth 1", "depth 2", "nodes 1", "nodes 50", "movetime 1", "mate 1", "infinite", "ponder",
    "wtime 5 btime 5", "p1time 3 p2time 4 p1inc 0", "wtime -5 winc 0 movestogo 0", "perft 0",
    "perft 1", "perft 2", "searchmoves d6 a1 depth 1", "depth 1 nodes 1 movetime 1",
)
_SEARCHES = [f"go {words}" for words in _GO if not words.startswith("perft")]
_PLAIN = (
    "isready", "isready", "stop", "stop", "ponderhit", "d", "fen", "fen 17", "eval", "flip", "uci",
    "ugi", "ucinewgame", "uginewgame", "debug on", "debug off", "query p1turn", "query gameover",
    "query result", "perft 1", "register later", "compiler", "help", "", "position startpos",
)
_COSTLY = re.compile(
    r"hash\D*\d{3}|threads\D*([5-9]|\d\d)|perft\D*([5-9]|\d\d)|bench|debug\s*log|quit",
    re.IGNORECASE,
)
"""Lines that would take much memory or time or end the process; other tests send them."""


class Streams(Fuzzer):
    """Bursts of lines in both dialects; after a burst, a process must behave like a new process."""

    name = "protocol"
    unit = "lines"

    def __enter__(self) -> Streams:
        self._folder = tempfile.TemporaryDirectory()
        # A file in place of the folder of tables, so that no tables are built in the background.
        self._tables = os.path.join(self._folder.name, "none")
        open(self._tables, "w").close()
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._gui.__exit__()
        self._folder.cleanup()

    def _start(self) -> None:
        self._bursts = 0
        self._gui = Gui(Path(self._folder.name), {"MERELS_TABLES": self._tables})

    def refresh(self) -> None:
        """Start a new process for the next burst."""
        self._gui.__exit__()
        self._start()

    def make(self, chance: random.Random) -> Case:
        """Return a burst: a dialect, then valid and damaged lines, sometimes reordered."""
        lines = [chance.choice(("uci", "ugi")), _variant(chance), "setoption name Hash value 1"]
        position = Position(rules=PRESETS["mill"])
        number = chance.choice((3, 30, LINES_OF_A_BURST))
        while len(lines) < number:
            position, line = _sound_line(position, chance)
            if chance.random() < 0.6:
                line = _spoilt(line, chance)
            lines.append(line)
        if chance.random() < 0.3:
            lines = _reordered(lines, chance)
        # Each character of a case's text is one byte.
        return [_bytes(line).decode("latin-1") for line in lines if not _COSTLY.search(line)]

    def check(self, case: Case) -> Tally:
        """Send a burst and check the answers; then send its last line only, and search."""
        burst = [line.encode("latin-1") for line in case]
        asked = b"\n".join(burst).lower()
        lines = self._talk([*RESET, *burst])
        for answer, word, fewest in (
            ("readyok", b"isready", case.count("isready")),
            ("bestmove", b"go", sum(line in _SEARCHES for line in case)),
        ):
            count = sum(line.split(" ")[0] == answer for line in lines)
            most = asked.count(word)
            expect(fewest <= count <= most, f"{count} {answer}, expected {fewest} to {most}")
        rejected = sum(line.startswith(_COMPLAINTS) for line in lines)
        last = re.split(rb"[\r\n]", burst[-1])[0] if burst else b""
        lines = self._talk([*RESET, START, last, b"fen", *RESET, START, b"fen", b"go nodes 20"])
        indexes = [index for index, line in enumerate(lines) if _POSITION.match(line)][-2:]
        refused = [line for line in lines[: indexes[0]] if line.startswith("info string error")]
        before, after = (lines[index] for index in indexes)
        expect(not refused or before == AT_START, f"position {before} in spite of {refused}")
        expect(after == AT_START, f"position {after} in spite of {START!r}")
        move = [line.split()[1] for line in lines if line.startswith("bestmove")][-1]
        objection = parse_position(AT_START).objection(parse_move(move))
        expect(objection is None, f"{move}: {objection}")
        return Tally(max(0, len(burst) - rejected), min(rejected, len(burst)))

    def _talk(self, commands: list[bytes]) -> list[str]:
        """Send commands; return the engine's output for them, after its searches have ended."""
        self._bursts += 1
        if self._bursts > BURSTS_OF_A_PROCESS:
            self.refresh()
        try:
            self._gui.raw(b"\n".join((*commands, b"stop", b"ucinewgame", MARK.encode(), b"")))
            lines = self._gui.until(lambda line: MARK in line)[:-1]
        except (AssertionError, OSError) as error:
            raise Hang(str(error)) from None
        expect(not self._gui.errors(), self._gui.errors()[-300:])
        scored = False
        for line in lines:
            answer = line.strip().startswith(("info", "bestmove", "readyok", "option", "id "))
            expect(not answer or line == line.strip(), f"spaces around {line[:60]!r}")
            expect(len(line) < 8000, f"a line of {len(line)} characters")
            expect("internal" not in line and "Traceback" not in line, line[:200])
            expect(scored or not line.startswith("bestmove"), f"no score before {line}")
            scored = not line.startswith("bestmove") and (scored or " score " in line)
        return lines


def expect(holds: bool, defect: str) -> None:
    """Raise `Defect` unless a condition holds."""
    if not holds:
        raise Defect(defect)


def _sound_line(position: Position, chance: random.Random) -> tuple[Position, str]:
    """Return the client's position after a valid line, and the line."""
    draw = chance.random()
    if draw < 0.35:
        return _position_line(position, chance)
    if draw < 0.45:
        return position, "go " + chance.choice(_GO)
    if draw < 0.55:
        return position, _setting(chance)
    return position, chance.choice(_PLAIN)


def _position_line(position: Position, chance: random.Random) -> tuple[Position, str]:
    """Return a position after some random moves, or a new start, and the line that sets it."""
    if chance.random() < 0.2 or position.outcome() is not None:
        position = Position(rules=position.rules)
    start = position
    moves = []
    for _ in range(chance.choice((0, 1, 2, 5, 20))):
        legal = position.legal_moves()
        if not legal or position.outcome() is not None:
            break
        moves.append(choose(position, legal, chance))
        position = position.play(moves[-1])
    write = chance.choice((format_position, format_position, format_position, format_seventeen))
    text = "startpos" if start == Position(rules=start.rules) else f"fen {write(start)}"
    if moves or chance.random() < 0.3:
        text += f" moves {format_moves(moves)}"
    return position, f"position {text}".rstrip()


def _variant(chance: random.Random) -> str:
    return f"setoption name UCI_Variant value {chance.choice(list(PRESETS))}"


def _setting(chance: random.Random) -> str:
    """Return a setoption line with a value that is often valid."""
    if chance.random() < 0.4:
        return _variant(chance)
    if chance.random() < 0.5:
        rules = random_rules(chance)
        field = chance.choice(FIELDS)
        return f"setoption name {field.name} value {getattr(rules, field.attribute)}"
    option = chance.choice(list(OPTIONS.values()))
    value = chance.choice((option.default, str(option.minimum or 0), "true", "false", "", "<empty>",
                           chance.choice(NUMBERS), *option.choices[:1]))
    return f"setoption name {option.name} value {value}"


def _spoilt(line: str, chance: random.Random) -> str:
    """Return a line with random damage."""
    draw = chance.random()
    if draw < 0.8:
        return spoil(line, chance, _PLAIN)
    if draw < 0.9:
        words = line.split() or [""]
        words[chance.randrange(len(words))] = chance.choice(NUMBERS)
        return " ".join(words)
    if draw < 0.95:
        return bytes(chance.randrange(256) for _ in range(chance.choice((1, 5, 80)))).decode(
            "latin-1"
        )
    if draw < 0.999:
        return f"{chance.choice(('joho', 'xyz debug', '0'))} {line}"
    return (line + chance.choice((" ", " d6", "x", "9", "\xff"))) * (_HUGE // (len(line) + 1))


def _reordered(lines: list[str], chance: random.Random) -> list[str]:
    """Return the lines in random order, some of them repeated and some left out."""
    mixed = chance.choices(lines, k=len(lines))
    return [line for line in mixed if "go " not in line or chance.random() < 0.5]


def _bytes(line: str) -> bytes:
    """Return a line's bytes: one for each character if possible, otherwise UTF-8."""
    try:
        return line.encode("latin-1")
    except UnicodeEncodeError:
        return line.encode("utf-8", "replace")
