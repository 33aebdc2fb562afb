"""``merels play``: games against the engine in the terminal."""

from __future__ import annotations

import random

from merels.engine.game.position import BLACK, WHITE
from merels.engine.search.levels import LEVELS
from merels.protocol.commands.arguments import (
    add_flag,
    add_rules_flags,
    make_parser,
    rules_of,
    setup_of,
)
from merels.protocol.commands.exit_status import OK
from merels.protocol.terminal.dialogue import MOVES_HELP, Dialogue, read_level
from merels.protocol.terminal.search import read_seconds


def main(argv: list[str]) -> int:
    """Play games in the terminal until the user leaves."""
    levels = ", ".join(f"{level.name} {level.elo}" for level in LEVELS)
    parser = make_parser(
        "play", "Plays a game against you in this terminal. In the game, 'help' lists commands.",
        MOVES_HELP,
    )
    add_flag(
        parser, "colour", choices=("white", "black", "random"), default="white",
        help="your colour (default: white)",
    )
    add_flag(
        parser, "level", metavar="L",
        help=f"level of the engine: {levels}, a rating in between, or full (default: full)",
    )
    add_flag(
        parser, "time", metavar="SECONDS", default="1",
        help="time for each move of the engine (default: 1)",
    )
    add_rules_flags(parser)
    add_flag(
        parser, "position", metavar="P", default="startpos",
        help="position to start from, quoted; 'moves d6 f4 …' may follow (default: startpos)",
    )
    add_flag(parser, "record", metavar="FILE", help="append each game to this PGN file")
    arguments = parser.parse_args(argv)
    setup = setup_of([arguments.position], rules_of(arguments))
    sides = {"white": WHITE, "black": BLACK, "random": random.choice((WHITE, BLACK))}
    dialogue = Dialogue(
        setup.position,
        human=sides[arguments.colour],
        level=None if arguments.level is None else read_level(arguments.level),
        seconds=read_seconds(arguments.time),
        path=arguments.record,
    )
    try:
        dialogue.run()
    except (EOFError, KeyboardInterrupt):
        print("\nGoodbye.")
    dialogue.auto_save()
    return OK
