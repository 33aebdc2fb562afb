"""A malicious engine for tests: ``python hostile.py MODE [ARGUMENT]``.

It uses only the standard library. In the mode ``tame`` it does no harm. `EVIL` is the text that it
prints: escape sequences, markup, quotes, a change of writing direction, line separators, NUL, and
bytes that are not UTF-8.
"""

import json
import os
import resource
import sys

MODE = sys.argv[1]
ARGUMENT = sys.argv[2] if len(sys.argv) > 2 else ""
EVIL = (
    "\x1b[2J\x1b]0;owned\x07<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    "\"'}{[White \"Z\"]\u202e\u2028\x85\x00=cmd|' /C calc'!A0"
).encode() + b"\xff\xed\xa0\x80"
MEGABYTE = 1 << 20


def write(data: bytes) -> None:
    """Write to standard output at once."""
    while data:
        data = data[os.write(1, data) :]


def descriptors() -> dict[str, str]:
    """Return the targets of all open descriptors."""
    targets = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            targets[name] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # The descriptor of the listing itself is closed.
    return targets


def report(path: str) -> None:
    """Write to a file, atomically, how this process was started."""
    assert not os.path.exists(path) or os.path.isfile(path), "a device would be replaced"
    start = {
        "words": sys.argv,
        "descriptors": descriptors(),
        "leads": os.getpid() == os.getsid(0) == os.getpgid(0),
        "limits": {
            name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
            for name in ("CPU", "AS", "CORE")
        },
    }
    with open(path + ".part", "w") as file:
        json.dump(start, file)
    os.rename(path + ".part", path)


def go() -> None:
    """Answer ``go`` as the mode requires."""
    if MODE == "words":
        os.write(2, EVIL + b"\n")
        write(b"info depth 1 score cp 5 nodes 1 string " + EVIL + b"\n")
        write(b"info depth " + EVIL + b" score cp 7 nodes 2 pv " + EVIL + b"\n")
        write(b"bestmove " + EVIL + b" ponder " + EVIL + b"\n")
    elif MODE == "endless-line":
        write(b"info string " + b"x" * (10 * MEGABYTE))
    elif MODE == "memory":
        blocks = [bytearray(MEGABYTE) for _ in range(int(ARGUMENT))]
        write(b"bestmove d6 ponder %d\n" % len(blocks))
    elif MODE == "cpu":
        while True:
            pass
    else:
        write(b"bestmove (none)\n")


def main() -> None:
    """Read commands to the end of the input."""
    if MODE == "report":
        report(ARGUMENT)
    if MODE == "fails-to-start":
        os.write(2, EVIL)
        sys.exit(3)
    evil = EVIL if MODE == "words" else b""
    for line in sys.stdin:
        words = line.split()
        command = words[0] if words else ""
        if command == "uci" and MODE == "floods":
            while True:
                write(b"option name X type string default " + b"x" * MEGABYTE + b"\n")
        elif command == "uci":
            write(b"id name Hostile " + evil + b"\nid author " + evil + b"\n")
            write(b"option name Evil" + evil + b" type string default " + evil + b"\n")
            write(b"option name Hash type combo default a var a var " + evil + b"\nuciok\n")
        elif command == "isready":
            write(b"readyok\n")
        elif command == "go":
            go()
        elif command == "quit":
            break


if __name__ == "__main__":
    main()
