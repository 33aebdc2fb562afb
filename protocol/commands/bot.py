"""``merels bot``: an engine kept ready for programs that only want moves."""

from __future__ import annotations

import sys

from merels.engine.common.errors import InputError
from merels.engine.search.limits import Limit
from merels.protocol.bot.bridge import LONGEST_REQUEST, VERSION, Bridge
from merels.protocol.bot.players import EnginePlayer, InProcessPlayer
from merels.protocol.client.dialects import DIALECTS
from merels.protocol.commands.arguments import (
    add_engine_flag,
    add_flag,
    add_rules_flags,
    add_search_flags,
    make_parser,
    read_engine_flag,
    rules_of,
)
from merels.protocol.process.errors import EngineError
from merels.protocol.terminal.search import read_seconds

_EPILOG = f"""\
Each line of input is a request, each line of output its answer, in order (version {VERSION}). All
fields of a request are optional:
  id        anything; returned with the answer
  new       true: a new game begins; without other fields the answer is {{"ready": true}}
  position  'startpos' (default) or a position's text     moves  what was played from there
  variant   a rule set; set {{"Flying": "never", ...}} changes fields of it
  time      seconds; or depth, or nodes, or clock {{"white", "black", "white_inc", "black_inc"}}
  level     a built-in level's name or a rating            only   the moves to choose from
  seed      varies the mistakes of a level (default 0: always the same answer)
The answer has move (null when the game is over), side, score ({{"cp": 12}}, or {{"win_in": 5}} in
plies, from the mover's point of view), depth, nodes and pv, and also result and reason if the move
ends the game. An error has error, token, expected and index. Example:
  {{"id": 1, "moves": ["d6", "f4"], "time": 0.5, "level": "Club"}}
"""


def main(argv: list[str]) -> int:
    """Answer requests until the end of the input."""
    parser = make_parser(
        "bot", "Keeps an engine ready and answers lines of JSON with its moves.", _EPILOG
    )
    add_engine_flag(parser, "another engine than merels, a command or")
    add_flag(
        parser, "time", metavar="SECONDS", default="1",
        help="for each move, where a request names no limit (default: 1)",
    )
    add_search_flags(parser)
    add_rules_flags(parser)
    arguments = parser.parse_args(argv)
    rules = rules_of(arguments)
    limit = Limit(time=read_seconds(arguments.time))
    if arguments.engine is None:
        return serve(Bridge(InProcessPlayer(arguments.hash, arguments.threads), rules, limit))
    spec = read_engine_flag(arguments.engine, tuple(DIALECTS), [rules])
    try:
        player = EnginePlayer(spec)
    except EngineError as error:
        raise InputError(spec.command[0], str(error)) from None
    try:
        return serve(Bridge(player, rules, limit))
    finally:
        player.close()


def serve(bridge: Bridge) -> int:
    """Answer each line of standard input on standard output."""
    print(bridge.hello(), flush=True)
    while data := sys.stdin.buffer.readline(LONGEST_REQUEST + 1):
        line = data.decode("utf-8", "replace").strip()
        if len(data) > LONGEST_REQUEST:
            rest = data
            while rest and not rest.endswith(b"\n"):
                rest = sys.stdin.buffer.readline(LONGEST_REQUEST)
            expected = f"expected a JSON object on one line of at most {LONGEST_REQUEST} bytes"
            print(bridge.refusal(InputError(line, expected)), flush=True)
        elif line:
            print(bridge.answer(line), flush=True)
    return 0
