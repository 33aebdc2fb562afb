"""Fake engines: the function `fake` returns the command of one with a script."""

from __future__ import annotations

import sys
from pathlib import Path

PROGRAM = str(Path(__file__).with_name("fake_engine.py"))
SANMILL = (sys.executable, str(Path(__file__).parents[1] / "fakes" / "sanmill.py"))

_USUAL = "info depth 3 score cp 5 nodes 42 pv {move}\\n"
_STUBBORN = "start: do signal.signal(signal.SIGTERM, signal.SIG_IGN); quit: drop; eof: hang"
_INFO = "info depth 1 score cp 1 nodes 1 pv d6\\n"
_BESTMOVE = "out{words[0] == 'bestmove'}: "

FAULTS = {
    "sound": "",
    # The engine ends; the argument is its exit status or the name of a signal.
    "die-start": "start: exit ARGUMENT",
    "die-ready": "isready: exit ARGUMENT",
    "die-search": "go#2: print info depth 1 score cp 1 & exit ARGUMENT",
    "die-after": "go#2: reply & exit ARGUMENT",
    "cut-move": "go: write bestmove {move[:1]} & exit ARGUMENT",
    "no-newline": f"go#3: write {_USUAL}bestmove {{move}} & exit 0",
    "parent-dies": "start: do spawn(); go#2: exit 3",
    # It does not answer, or late; the argument is a number of seconds.
    "mute": "uci: hang",
    "never-ready": "isready: drop",
    "never": "go: drop",
    "deaf": "go#2: hang",
    "close-stdout": "go#2: do os.close(1) & hang",
    "text-for-readyok": "isready#2+: write ARGUMENT",
    "text-for-bestmove": "go: write ARGUMENT; isready{go}: drop",
    "stops-only": "go: hold; stop: sleep ARGUMENT",
    "slow-start": "start: sleep ARGUMENT",
    "late": "go#2: sleep ARGUMENT",
    "chats": "go#2: do for _ in range(int(10 * ARGUMENT)): "
    "write('info depth 1\\n'), time.sleep(0.1)",
    "sleeps": "go#2: thread & sleep ARGUMENT & reply",
    "computes": "go#2: thread & burn ARGUMENT & reply",
    "shares-core": "go#2: do os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}) & "
    "do loops = [spawn(code='while True: pass') for _ in range(4)] & burn ARGUMENT & "
    "do [loop.kill() for loop in loops] & reply",
    "ponders": f"go{{'ponder' in words}}: hold; stop: sleep ARGUMENT; "
    f"{_BESTMOVE}s/$/ ponder {{answer}}/",
    # It does not end.
    "stubborn": _STUBBORN,
    "family": f"{_STUBBORN}; start: do spawn(), spawn(session='ARGUMENT' == 'session')",
    # It answers something else.
    "illegal": "go: answer bestmove a1xg7",
    "garbage": "go: answer bestmove \\x01\\xff%$ hello",
    "none": "go: answer bestmove (none)",
    "zeros": "go: answer bestmove 0000",
    "empty": "go: answer bestmove",
    "rejects-hash": "setoption{words[2] == 'Hash'}: "
    "answer info string error '{words[4]}': no memory for it",
    # It answers in an unusual form.
    "upper": f"go: answer {_USUAL}BESTMOVE {{move.upper()}}",
    "cr": "start: do end = '\\r'",
    "crlf": "start: do end = '\\r\\n'",
    "tab": f"{_BESTMOVE}s/bestmove (.*)/bestmove\\t\\1\\t/",
    "blank": f"{_BESTMOVE}s/(bestmove) (.*)/  \\1  \\2 /",
    "split": f"{_BESTMOVE}s/x/ x/",
    "unended": f"go: write {_USUAL}bestmove {{move}}",
    "bad-numbers": f"go: answer info depth x{{'9' * 5000}} score cp 12abc nodes -{{'8' * 400}} nps"
    "\\ninfo depth 99999999999999999999 score cp nodes\\ninfo score mate\\nbestmove {move}",
    # It writes too much.
    "double": "go: reply & sleep 0.002 & print bestmove {last}",
    "stale": f"go#2+: answer bestmove {{last}}\\n{_USUAL}bestmove {{move}}",
    "long-line": "go: print info string {'x' * 20 * MEGABYTE}",
    "many-lines": f"go: do write(b'{_INFO}' * 300_000)",
    "junk": "go: do write(os.urandom(100_000) + b'\\n')",
    "flood": f"go: do while True: write(b'{_INFO}' * 100)",
    "stderr": "go: do os.write(2, b'e' * MEGABYTE)",
    # It is hostile.
    "hostile": "uci: answer id name Hostile {EVIL}\\nid author {EVIL}\\noption name Evil{EVIL} "
    "type string default {EVIL}\\noption name Hash type combo default a var a var {EVIL}\\nuciok; "
    "go: do os.write(2, (EVIL + '\\n').encode(errors='surrogateescape')) & "
    "answer info depth 1 score cp 5 nodes 1 string {EVIL}\\n"
    "info depth {EVIL} score cp 7 nodes 2 pv {EVIL}\\nbestmove {EVIL} ponder {EVIL}",
    "fails-to-start": "start: do os.write(2, EVIL.encode(errors='surrogateescape')) & exit 3",
    "endless-greeting": "uci: do while True: write("
    "b'option name X type string default ' + b'x' * MEGABYTE + b'\\n')",
    "memory": "go: do blocks = [bytearray(MEGABYTE) for _ in range(ARGUMENT)] & "
    "answer bestmove d6",
    "cpu": "go: do while True: pass",
}
"""Scripts of faults and habits by name; ``ARGUMENT`` is replaced by an argument."""


def fake(words: str = "", argument: str = "", *, once: Path | None = None) -> tuple[str, ...]:
    """Return the command of a fake engine.

    ``words`` are a name of `FAULTS`, and perhaps an argument, or a script. With ``once``, the first
    process creates this file and has no fault; only later processes have the script.
    """
    name, _, rest = words.partition(" ")
    script = FAULTS.get(name, words).replace("ARGUMENT", argument or rest)
    if once is not None:
        script = f"start: once {once}; {script}"
    return (sys.executable, "-I", "-S", PROGRAM, script)
