"""``merels bot``: moves for programs that send requests as lines of JSON."""

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
Example of a request:
  {{"id": 1, "moves": ["d6", "f4"], "time": 0.5, "level": "Club"}}

The first line of output names the engine, its rules and the version of the format ({VERSION}). Then
each line of input is a request, which is answered by a line. All fields of a request are optional:
  id        any value; the answer repeats it
  new       true: a new game begins; without other fields the answer is {{"ready": true}}
  position  'startpos' (default) or six fields
  moves     the moves played from the position
  variant   a rule set
  set       its fields that differ, such as {{"Flying": "never"}}
  time      limit in seconds; or depth (plies); or nodes;
            or clock {{"white", "black", "white_inc", "black_inc"}} in seconds
  level     name of a built-in level, or a rating
  seed      varies the mistakes of a level (default 0); equal seeds make equal mistakes
  only      the moves to choose from
The answer has move, side, score ({{"cp": 12}}, or {{"win_in": 5}} in plies, from the mover's point
of view), depth, nodes, pv, result and reason. result and reason are null unless the move ends the
game. If the game is over already, the answer has only move (null), result and reason. The answer to
an invalid request has error, token, expected and index.
"""


def main(argv: list[str]) -> int:
    """Answer requests until the input ends."""
    parser = make_parser(
        "bot", "Keeps an engine running and answers requests in JSON with its moves.", _EPILOG
    )
    add_engine_flag(parser, "an engine to use instead of merels")
    add_flag(
        parser, "time", metavar="SECONDS", default="1",
        help="time of a move if its request has no limit (default: 1)",
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
    """Print the first line, then answer each line of standard input that is not blank."""
    print(bridge.hello(), flush=True)
    while data := sys.stdin.buffer.readline(LONGEST_REQUEST + 1):
        line = data.decode("utf-8", "replace").strip()
        if len(data) > LONGEST_REQUEST:
            chunk = data
            while chunk and not chunk.endswith(b"\n"):
                chunk = sys.stdin.buffer.readline(LONGEST_REQUEST)
            expected = f"expected a JSON object on one line of at most {LONGEST_REQUEST} bytes"
            print(bridge.refusal(InputError(line, expected)), flush=True)
        elif line:
            print(bridge.answer(line), flush=True)
    return 0
