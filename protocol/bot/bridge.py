"""Answers to the requests of a bot: a request is a line of JSON, and so is its answer.

A bot for a playing site needs no implementation of the engine protocol or of the rules. It sends a
position and the moves from it, and receives a move.
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
"""Version of the format of requests and answers; in version 1, moves were called turns."""
LONGEST_REQUEST = 1 << 20
"""Maximum length of a request, in bytes."""


class Bridge:
    """Answers requests; each request is a JSON object on one line."""

    def __init__(self, player: InProcessPlayer | EnginePlayer, rules: Rules, limit: Limit) -> None:
        """Create a bridge; ``rules`` and ``limit`` apply to requests without rules or a limit."""
        self._player, self._rules, self._limit = player, rules, limit

    def hello(self) -> str:
        """Return the first line of output: format version, engine, rules and names of levels."""
        return json.dumps(
            {"merels": "bot", "version": VERSION, "engine": self._player.name,
             "variant": str(self._rules), "levels": [level.name for level in LEVELS]}
        )

    def answer(self, line: str) -> str:
        """Return the answer to a request."""
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
                # The answer of a level must not depend on earlier requests.
                self._player.new_game()
            answer = self._play(request)
        except InputError as error:
            return self.refusal(error, identity)
        except EngineError as error:
            answer = {"error": str(error), "token": None, "expected": None, "index": None}
        return json.dumps({"id": identity, **answer})

    def refusal(self, error: InputError, identity: Any = None) -> str:
        """Return the answer to an invalid request, whose ``id`` is ``identity``."""
        answer = {
            "error": str(error),
            "token": shorten(error.token),
            "expected": error.expected,
            "index": error.index,
        }
        return json.dumps({"id": identity, **answer})

    def _play(self, request: Request) -> dict[str, Any]:
        """Return the answer's fields; only move, result and reason if the game is over already."""
        outcome = request.position.outcome()
        if outcome is not None:
            return {"move": None, "result": outcome.result, "reason": str(outcome)}
        choice = self._player.choose(request)
        if choice.move is None:
            raise EngineError("the engine plays no move")
        outcome = request.position.play(choice.move).outcome()
        return {
            "move": str(choice.move),
            "side": COLOURS[request.position.side].lower(),
            "score": _score(choice.info.score),
            "depth": choice.info.depth,
            "nodes": choice.info.nodes,
            "pv": [str(move) for move in choice.info.pv],
            "result": None if outcome is None else outcome.result,
            "reason": None if outcome is None else str(outcome),
        }


def _score(score: PovScore | None) -> dict[str, int] | None:
    """Return the mover's score: ``cp`` in hundredths of a man, or ``win_in`` in plies."""
    if score is None:
        return None
    relative = score.relative
    if relative.win_in is not None:
        return {"win_in": relative.win_in}
    return {"cp": relative.cp or 0}
