"""What ``merels tournament --help`` prints."""

from __future__ import annotations

import textwrap

from merels.protocol.client.engine_spec import OPTION
from merels.tournament.commands.flag_table import ENGINE_KEYS, GROUPS, Flag

INTRODUCTION = """\
merels tournament [flags]

Plays a tournament between engines and rates them. With two engines it is a match. Without flags,
some of the built-in levels play each other. For example:

  merels tournament -engine cmd=./new name=New -engine cmd=./old name=Old \\
      -each tc=10+0.1 -rounds 100 -concurrency 2 -pgnout file=games.pgn

In each round every engine plays every other two games on one opening, with colours swapped.
Ctrl-C stops after the games in progress, a second Ctrl-C at once. -journal file=F keeps every
finished game, and -journal file=F -resume continues a run, however it was stopped.

Keys of -engine and -each:
  cmd=PROGRAM           args="ARGUMENTS"      dir=FOLDER to run in
  name=NAME             proto=uci|ugi|sanmill option.NAME=VALUE
  tc=MOVES/MIN:SEC+INC  a clock, such as 40/1:30+0.5, 10+0.1 or inf
  st=SECONDS a move     nodes=N a move        depth=N (or plies=N) a move
  timemargin=MS (0)     ponder                restart=on restarts it for each game
  starttimeout=SECONDS to start (10)          pingtimeout=SECONDS to answer (15)
  cpu=SECONDS           memory=MIB            core=MIB limit each of its processes: processor
                        time in a game, address space, size of a core dump
"""
WIDTH = 96
INDENT = 24


def help_text() -> str:
    """The whole text, from the table of flags."""
    lines = [INTRODUCTION]
    for group, flags in GROUPS.items():
        lines.append(f"{group}:")
        for name, flag in flags.items():
            lines.extend(_entry(name, flag))
        lines.append("")
    lines.append("An engine that fails loses that game, and the tournament continues.")
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
    first = [head] if len(head) + 2 > INDENT else [head.ljust(INDENT) + text.pop(0)]
    return first + [" " * INDENT + line for line in text]
