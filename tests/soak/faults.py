"""The faults of `erratic.py` by letter."""

from __future__ import annotations

_LINES = "write(b'info depth 1 score cp 1 nodes 1 pv d6\\n' * 100)"
IN_SEARCH = {
    "c": "print info depth 1 score cp 1 & exit 1", "s": "exit SIGSEGV", "h": "hang",
    "q": "do signal.signal(signal.SIGTERM, signal.SIG_IGN) & print bestmove 0000 & hang",
    "i": "answer bestmove a1xg7", "g": "answer bestmove \\x01\\udcff%$ hello",
    "e": f"do while True: {_LINES}", "d": "do os.close(1) & hang",
    "p": "write info depth 5 score cp 3 nodes 77 pv d6 f & exit 0",
    "k": "do spawn(session=True) & exit 3", "x": "reply & exit 1", "o": "sleep 4",
    "f": f"do for _ in range(200): {_LINES}", "t": "reply & print bestmove {last}",
}
"""Actions of `tests.kit.fake_engine` at a search."""
AT_START = {"l": "sleep 4", "r": "answer readyko", "m": "exit 1"}
"""Actions at isready."""
LOSING = frozenset("cshqigedpk")
"""Faults that lose the game in which they occur, under any limits."""
USUAL = "ccsshqiiggeddppkxxootttffllrrmm"
"""Letters to draw from; faults that take long are rarer."""
