"""A scriptable engine: ``python -I -S fake_engine.py SCRIPT``; `tests.kit.fakes` has scripts.

Without a script it answers every command, and plays random legal moves at once. A script consists
of rules ``EVENT[#N[+]][{CONDITION}]: ACTION [ARGUMENT] [& ACTION …]``, separated by ``;``.

EVENT is ``start``, a command such as ``go``, ``in`` (every line read), ``out`` (every line of the
engine's own answers), ``eof`` (end of input) or ``end`` (before the exit). ``#N`` is its N-th
occurrence, ``#N+`` that and all later ones. CONDITION is a Python expression with ``line``, its
``words``, the attributes of `Engine` (``searching``, ``setup`` …) and the names of this module.

| action | effect |
|---|---|
| ``exit STATUS`` | end with an exit status, or by a signal such as ``SIGSEGV`` |
| ``hang`` | never return |
| ``sleep SECONDS``, ``burn SECONDS`` | wait, or use the processor, before the next action |
| ``thread`` | run the remaining actions in a thread |
| ``wait FILE`` | wait until the file exists |
| ``once FILE`` | create the file; the process that creates it drops its script |
| ``print TEXT`` | write a line, then carry on |
| ``answer TEXT`` | write a line instead of the engine's own answer |
| ``write TEXT`` | write text without a line feed instead of the engine's own answer |
| ``drop`` | ignore the line |
| ``reply`` | give the engine's own answer now |
| ``hold`` | (``go``) answer only after ``stop`` or ``ponderhit`` |
| ``s/PATTERN/TEXT/`` | replace in the line |
| ``report FILE`` | write the arguments, descriptors and limits of the process to a file |
| ``merels`` | (``start``) be merels itself instead of a random mover |
| ``do CODE`` | execute Python |

TEXT is the inside of an f-string: it may have ``{move}``, ``{answer}`` (a reply to this move),
``{last}`` (the previous move) and escapes; ``\\udcXX`` stands for the byte ``XX``.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

exists = os.path.exists
MEGABYTE = 1 << 20
EVIL = (
    "\x1b[2J\x1b]0;owned\x07<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    "\"'}{[White \"Z\"]\u202e\u2028\x85\x00=cmd|' /C calc'!A0\udcff\udced\udca0\udc80"
)
"""Escape sequences, markup, quotes, a change of writing direction, line separators, NUL, bytes."""
POINTS = "d5 e5 e4 e3 d3 c3 c4 c5 d6 f6 f4 f2 d2 b2 b4 b6 d7 g7 g4 g1 d1 a1 a4 a7".split()
LINES = [{r + (m - 1) % 8, r + m, r + m + 1} for r in (0, 8, 16) for m in (0, 2, 4, 6)]
LINES += [{m, m + 8, m + 16} for m in (0, 2, 4, 6)]
NEAR = [
    {q for q in range(24) if p // 8 == q // 8 and (p - q) % 8 in (1, 7)
     or p % 2 == 0 and abs(p - q) == 8} for p in range(24)
]
VARIANTS = {"loc": ("never", False, 1), "multi": ("both", False, 2)}
"""Who may fly, whether locked mills may be removed, and the most men removed by one move."""
RULE = re.compile(r"\s*(\w+)(?:#(\d+)(\+?))?(?:\{(.*?)\})?: *(.*?)\s*", re.S)
UCI = (
    "id name Fake", "id author nobody",
    "option name UCI_Variant type combo default mill var mill var multi var loc",
    "option name Hash type spin default 16 min 1 max 1024", "uciok",
)


def write(text: str | bytes) -> None:
    """Write to standard output at once."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    while data:
        data = data[os.write(1, data) :]


def hang() -> None:
    """Sleep forever."""
    while True:
        time.sleep(1000)


def leave(status: str) -> None:
    """End with a status, or by a signal."""
    if status.startswith("SIG"):
        os.kill(os.getpid(), getattr(signal, status))
        hang()
    os._exit(int(status or 0))


def burn(seconds: float) -> None:
    """Use the processor for ``seconds`` of its time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def wait_for(path: str) -> None:
    """Wait until a file exists."""
    while not exists(path):
        time.sleep(0.01)


def create(path: str) -> bool:
    """Create a file; return False if it exists."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def report(path: str) -> None:
    """Write to a file, atomically, how this process was started."""
    import json
    import resource

    descriptors = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            descriptors[name] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # The descriptor of the listing itself is closed.
    limits = {
        name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
        for name in ("CPU", "AS", "CORE")
    }
    with open(path + ".part", "w") as file:
        json.dump({
            "words": sys.argv, "descriptors": descriptors, "limits": limits,
            "leads": os.getpid() == os.getsid(0) == os.getpgid(0),
        }, file)  # fmt: skip
    os.rename(path + ".part", path)


def spawn(session: bool = False, code: str = "import time; time.sleep(1000)") -> Any:
    """Start a child process that holds the engine's pipes, in a session of its own on request."""
    import subprocess

    return subprocess.Popen((sys.executable, "-S", "-c", code), start_new_session=session)


class Board:
    """The men of a position, and their legal moves."""

    def __init__(self, fields: str = "********/********/******** w 9 9 0 1") -> None:
        board, side, *hands = fields.split()[:4]
        self.men = [{p for p, man in enumerate(board.replace("/", "")) if man == c} for c in "O@"]
        self.hands = [int(hands[0]), int(hands[1])]
        self.side = "wb".index(side)

    def play(self, token: str) -> None:
        """Play a move."""
        move, *removed = token.lower().split("x")
        origin, _, to = move.rpartition("-")
        own = self.men[self.side]
        if origin:
            own.remove(POINTS.index(origin))
        else:
            self.hands[self.side] -= 1
        own.add(POINTS.index(to))
        self.side = 1 - self.side
        self.men[self.side].difference_update(map(POINTS.index, removed))

    def moves(self, variant: str) -> list[str]:
        """Return all legal moves."""
        flying, locked, most = VARIANTS.get(variant, ("own", True, 1))
        own, other, hand = self.men[self.side], self.men[1 - self.side], self.hands[self.side]
        if min(len(men) + left for men, left in zip(self.men, self.hands)) < 3:
            return []
        sizes = [len(own)] if flying == "own" else list(map(len, self.men))
        may_fly = not hand and flying != "never" and 3 in sizes
        if flying == "both":
            may_fly = may_fly and self.hands == [0, 0]
        tokens = []
        for origin in [None] if hand else sorted(own):
            rest = own - {origin}
            for to in set(range(24)) - own - other:
                if origin is None or may_fly or to in NEAR[origin]:
                    closed = sum(to in line and line <= rest | {to} for line in LINES)
                    start = "" if origin is None else f"{POINTS[origin]}-"
                    for taken in removals(other, min(closed, most), locked):
                        tokens.append(start + "x".join([POINTS[to], *taken]))
        return tokens


def removals(men: set[int], count: int, locked: bool) -> list[list[str]]:
    """Return the sets of up to ``count`` men that may be removed one after the other."""
    free = {point for point in men if not any(point in line and line <= men for line in LINES)}
    if count and (choice := free or (men if locked else set())):
        sets = {
            tuple(sorted([POINTS[point], *others]))
            for point in choice for others in removals(men - {point}, count - 1, locked)
        }
        return sorted(map(list, sets))
    return [[]]


class Rule:
    """A rule of the script."""

    def __init__(self, text: str) -> None:
        match = RULE.fullmatch(text)
        assert match is not None, f"not a rule: {text}"
        self.event, number, more, self.condition, actions = match.groups()
        self.first = int(number or 1)
        self.last = float("inf") if more or not number else self.first
        self.actions = actions.split(" & ")
        self.count = 0

    def applies(self, event: str, line: Line) -> bool:
        """Return whether the rule applies to an event, which it counts."""
        if event != self.event or self.condition and not eval(self.condition, globals(), line):
            return False
        self.count += 1
        return self.first <= self.count <= self.last


class Line:
    """A line read or written, and the names that a script may use."""

    def __init__(self, engine: Engine, text: str = "") -> None:
        self.engine, self.line = engine, text

    def __getitem__(self, name: str) -> Any:
        if name == "words":
            return self.line.split()
        try:
            return self.line if name == "line" else getattr(self.engine, name)
        except AttributeError:
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: object) -> None:
        setattr(self.engine, name, value)

    def text(self, text: str, prefix: str = "f") -> str:
        """Return a script's text with its expressions and escapes replaced."""
        return str(eval(f'{prefix}"""{text}"""', globals(), self))

    def run(self, event: str) -> bool:
        """Carry out the rules for an event; return whether the line is done with."""
        return any(rule.applies(event, self) and self.act(rule.actions)
                   for rule in list(self.engine.rules))

    def act(self, actions: list[str]) -> bool:
        """Carry out actions; return whether the line is done with."""
        engine, done = self.engine, False
        for index, action in enumerate(actions):
            name, _, argument = action.strip(" ").partition(" ")
            if name.startswith("s/"):
                _, pattern, text, _ = action.strip(" ").split("/")
                self.line = re.sub(pattern, self.text(text, "rf"), self.line)
            elif name == "thread":
                rest = actions[index + 1 :]
                threading.Thread(target=self.act, args=(rest,), daemon=True).start()
                return True
            elif name == "print":
                write(self.text(argument) + "\n")
            elif name in ("answer", "write"):
                write(self.text(argument) + ("\n" if name == "answer" else ""))
                engine.note(self.line)
                engine.finish()
                done = True
            elif name == "reply":
                engine.take(self.line)
                done = True
            elif name in ("drop", "hold"):
                engine.held |= name == "hold"
                done = True
            elif name == "once":
                if create(argument):
                    engine.rules.clear()
                    return True
            elif name == "do":
                exec(argument, globals(), self)
            else:
                ACTIONS[name](engine, argument)
        return done


class Engine:
    """The state of the conversation."""

    def __init__(self, script: str) -> None:
        self.rules = [Rule(text) for text in script.split(";") if text.strip()]
        self.setup = self.go = ""
        """The last lines ``position`` and ``go``."""
        self.searches = self.hellos = self.pings = 0
        self.searching = self.held = self.error = self.quits = False
        self.variant, self.last, self.seed, self.end = "mill", "", 7, "\n"
        self.board = Board()
        self.lines: Iterator[bytes] = iter(sys.stdin.buffer.readline, b"")
        self.handle: Callable[[str], None] = self.obey
        self.session: Any = None
        self._move = ""
        self._lock = threading.RLock()
        """Held while a line is obeyed: the client may send the next one before a thread is done."""

    def pick(self, items: list[Any]) -> Any:
        """Return a random item; the sequence depends only on the seed."""
        self.seed = (self.seed * 6364136223846793005 + 1442695040888963407) % 2**64
        return items[(self.seed >> 33) % len(items)]

    @property
    def moves(self) -> list[str]:
        """The legal moves of the position."""
        return self.board.moves(self.variant)

    @property
    def move(self) -> str:
        """The random move of this search; 0000 if there is none."""
        if not self._move:
            self._move = self.pick(self.moves or ["0000"])
        return self._move

    @property
    def answer(self) -> str:
        """The last of the opponent's legal replies to the move; 0000 if there is none."""
        if self.move == "0000":
            return "0000"
        board = Board()
        board.men, board.hands = list(map(set, self.board.men)), list(self.board.hands)
        board.side = self.board.side
        board.play(self.move)
        return (board.moves(self.variant) or ["0000"])[-1]

    def emit(self, *texts: str) -> None:
        """Write lines of the engine's own answers, after the script's changes."""
        for text in texts:
            if text.startswith("bestmove"):
                self.searching = False
            self.error |= text.startswith("info string error")
            line = Line(self, text)
            if not line.run("out"):
                write(line.line + self.end)

    def become_merels(self) -> None:
        """Pass all lines to a session of merels."""
        import site

        site.main()
        from merels.protocol.uci.streams import Output
        from merels.protocol.uci.uci_session import Session

        output = Output(1)
        output.write = self.emit  # type: ignore[method-assign]
        self.session = Session(output)
        self.handle = self.session.handle

    def note(self, line: str) -> None:
        """Record a line that sets up a position or starts a search."""
        if line.startswith("position"):
            self.setup = line
        elif line.startswith("go"):
            self.searching, self.go = True, line
            self.searches += 1

    def take(self, line: str) -> None:
        """Record a line and obey it."""
        with self._lock:
            self.note(line)
            self.handle(line)

    def finish(self) -> None:
        """End the search with the move that has been sent."""
        self.searching = self.held = False
        self.last, self._move = self._move or self.last, ""

    def obey(self, line: str) -> None:
        """Carry out one command as a sound engine."""
        words = line.split()
        command = words[0] if words else ""
        if command == "uci":
            self.emit(*UCI)
        elif command == "isready":
            self.emit("readyok")
        elif command == "setoption" and words[2].lower() == "uci_variant":
            self.variant = words[4]
        elif command == "position":
            at = words.index("moves") if "moves" in words else len(words)
            self.board = Board() if words[1] == "startpos" else Board(" ".join(words[2:at]))
            for token in words[at + 1 :]:
                self.board.play(token)
        elif command == "go" or command in ("stop", "ponderhit") and self.held:
            info = f"info depth 3 score cp 5 nodes 42 pv {self.move}"
            self.emit(info, f"bestmove {self.move}")
            self.finish()
        elif command == "quit":
            self.quits = True

    def read(self) -> None:
        """Read commands to the end of the input, or to ``quit``."""
        Line(self).run("start")
        for data in self.lines:
            line = Line(self, data.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n"))
            self.error = False
            self.pings += line.line == "isready"
            words = line.line.split()
            done = line.run("in") or line.run(words[0] if words else "")
            self.hellos += line.line in ("uci", "ugi")
            if not done:
                self.take(line.line)
            if self.quits or self.session is not None and self.session.has_quit:
                break
        else:
            Line(self).run("eof")
        if self.session is not None:
            self.session.close()
        Line(self).run("end")


ACTIONS: dict[str, Callable[[Engine, str], object]] = {
    "exit": lambda _, status: leave(status), "hang": lambda *_: hang(),
    "sleep": lambda _, seconds: time.sleep(float(seconds or 0)),
    "burn": lambda _, seconds: burn(float(seconds)), "wait": lambda _, path: wait_for(path),
    "merels": lambda engine, _: engine.become_merels(), "report": lambda _, path: report(path),
}

if __name__ == "__main__":
    Engine(sys.argv[1] if len(sys.argv) > 1 else "").read()
