"""What ``merels tournament --help`` prints."""

from __future__ import annotations

import textwrap

from merels.protocol.client.engine_spec import OPTION
from merels.tournament.commands.flags import ENGINE_KEYS, FLAGS, Flag

INTRODUCTION = """\
merels tournament [flags]

Plays a tournament between engines and rates them. Without flags, some of the built-in levels
meet. With two engines it is a match:

  merels tournament -engine cmd=./new name=New -engine cmd=./old name=Old \\
      -each tc=10+0.1 -rounds 100 -concurrency 2 -pgnout file=games.pgn

Each round everyone meets everyone in two games on one opening, with colours exchanged.
Ctrl-C finishes the games in progress; again stops at once. With -journal file=F every finished
game is kept, and -journal file=F -resume goes on where a run stopped, however it stopped.

Keys of -engine and -each:
  cmd=PROGRAM           args="ARGUMENTS"      dir=FOLDER to run in
  name=NAME             proto=uci|ugi|sanmill option.NAME=VALUE
  tc=MOVES/MIN:SEC+INC  a clock, such as 40/1:30+0.5, 10+0.1 or inf
  st=SECONDS a move     nodes=N a move        depth=N (or plies=N) a move
  timemargin=MS (0)     ponder                restart=on starts it anew for each game
  starttimeout=SECONDS to start (10)          pingtimeout=SECONDS to answer (15)
  cpu=SECONDS           memory=MIB            core=MIB: the most that each of its processes may
                        use: processor time in a game, address space, size of a core dump
"""
WIDTH = 96
INDENT = 24


def help_text() -> str:
    """The whole text, from the table of flags."""
    lines = [INTRODUCTION]
    groups = dict.fromkeys(flag.group for flag in FLAGS.values())
    for group in groups:
        lines.append(f"{group}:")
        for name, flag in FLAGS.items():
            if flag.group == group:
                lines.extend(_entry(name, flag))
        lines.append("")
    lines.append("A failing engine loses the game that it fails in, and the tournament goes on.")
    return "\n".join(lines)


def _entry(name: str, flag: Flag) -> list[str]:
    """A flag's lines."""
    if flag.keys == ENGINE_KEYS:
        takes = "KEYS"
    elif flag.keys:
        takes = " ".join(f"{key}=" for key in flag.keys if key != OPTION)
    else:
        fewest, most = flag.words
        takes = "" if most == 0 else "X" if fewest else "[X]"
    head = f"  {name} {takes}".rstrip()
    text = textwrap.wrap(flag.help, WIDTH - INDENT)
    if len(head) + 2 > INDENT:
        return [head, *(" " * INDENT + line for line in text)]
    return [head.ljust(INDENT) + text[0], *(" " * INDENT + line for line in text[1:])]
