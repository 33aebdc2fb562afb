"""The bot bridge: an engine behind lines of JSON, a request in and an answer out for each move.

A bot for a playing site needs neither the engine protocol nor the rules: it sends a position and
the moves from it, and gets a move.
"""

from __future__ import annotations

import json
from typing import Any

from merels.engine.common.errors import InputError, shorten
from merels.engine.game.position import COLOURS
from merels.engine.game.rules import Rules
from merels.engine.game.score import PovScore
from merels.engine.search.levels import LEVELS
from merels.engine.search.limits import Limit
from merels.protocol.bot.move_request import Request, read_new, read_object, read_request
from merels.protocol.bot.players import EnginePlayer, InProcessPlayer
from merels.protocol.process.errors import EngineError

VERSION = 2
"""The version of the form of requests and answers; version 1 called a move a turn."""
LONGEST_REQUEST = 1 << 20
"""Bytes of a request."""


class Bridge:
    """Answers requests, each a JSON object on a line."""

    def __init__(self, player: InProcessPlayer | EnginePlayer, rules: Rules, limit: Limit) -> None:
        """``rules`` and ``limit`` apply where a request names none."""
        self._player, self._rules, self._limit = player, rules, limit

    def hello(self) -> str:
        """The first line, which introduces the engine."""
        return json.dumps(
            {"merels": "bot", "version": VERSION, "engine": self._player.name,
             "variant": str(self._rules), "levels": [level.name for level in LEVELS]}
        )

    def answer(self, line: str) -> str:
        """The answer to a request."""
        identity: Any = None
        try:
            body = read_object(line)
            identity = body.get("id")
            if read_new(body):
                self._player.new_game()
                if set(body) <= {"id", "new"}:
                    return json.dumps({"id": identity, "ready": True})
            request = read_request(body, self._rules, self._limit)
            if request.level is not None:
                # A level answers alike, whatever was asked before.
                self._player.new_game()
            answer = self._play(request)
        except InputError as error:
            return self.refusal(error, identity)
        except EngineError as error:
            answer = {"error": str(error), "token": None, "expected": None, "index": None}
        return json.dumps({"id": identity, **answer})

    def refusal(self, error: InputError, identity: Any = None) -> str:
        """The answer to a bad request."""
        answer = {
            "error": str(error),
            "token": shorten(error.token),
            "expected": error.expected,
            "index": error.index,
        }
        return json.dumps({"id": identity, **answer})

    def _play(self, request: Request) -> dict[str, Any]:
        """The move for a request, and the result if it ends the game."""
        outcome = request.position.outcome()
        if outcome is not None:
            return {"move": None, "result": outcome.result, "reason": str(outcome)}
        choice = self._player.choose(request)
        if choice.move is None:
            raise EngineError("the engine plays no move")
        ended = request.position.play(choice.move).outcome()
        return {
            "move": str(choice.move),
            "side": COLOURS[request.position.side].lower(),
            "score": _score(choice.info.score),
            "depth": choice.info.depth,
            "nodes": choice.info.nodes,
            "pv": [str(move) for move in choice.info.pv],
            "result": None if ended is None else ended.result,
            "reason": None if ended is None else str(ended),
        }


def _score(score: PovScore | None) -> dict[str, int] | None:
    """The mover's view: ``cp`` in hundredths of a man, or ``win_in`` in plies."""
    if score is None:
        return None
    own = score.relative
    return {"win_in": own.win_in} if own.win_in is not None else {"cp": own.cp or 0}
