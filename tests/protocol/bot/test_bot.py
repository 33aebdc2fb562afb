"""The bot bridge as a real process that reads and writes lines of JSON."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from merels.engine.game.notation import parse_move, play_moves
from merels.engine.game.position import Position
from merels.engine.game.rules import preset
from merels.engine.search.limits import Limit
from merels.protocol.bot.move_request import read_request
from merels.protocol.bot.players import EnginePlayer
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.process.errors import EngineTerminated
from tests.commands import MERELS, refusal
from tests.processes import FAKE, limited
from tests.protocol.gui import ENGINE

COMMAND = [*MERELS, "bot"]


class Bot:
    """A running ``merels bot``; ``hello`` is the first line that it prints, parsed."""

    def __init__(self, *flags: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.hello: Any = None

    def read(self) -> Any:
        """Return the next line, parsed."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def send(self, text: str) -> Any:
        """Send a line of text and return the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.read()

    def ask(self, **request: Any) -> Any:
        """Send a request and return the answer."""
        return self.send(json.dumps(request))

    def close(self) -> int:
        """Close the input and return the exit code."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        return self.process.wait(20)


@contextmanager
def bot(*flags: str) -> Iterator[Bot]:
    """Yield a running bridge; close it and check that it exits with status 0."""
    started = Bot(*flags)
    with limited(started.process, 400):
        started.hello = started.read()
        yield started
        assert started.close() == 0


def test_a_bot_plays_both_sides_of_a_game() -> None:
    with bot() as bridge:
        assert bridge.hello["merels"] == "bot" and bridge.hello["version"] == 2
        moves: list[str] = []
        while True:
            answer = bridge.ask(id=len(moves), moves=moves, nodes=200, variant="multi")
            assert answer["id"] == len(moves)
            if answer["move"] is None:
                break
            assert set(answer["score"]) in ({"cp"}, {"win_in"}) and answer["nodes"] >= 1
            result = answer["result"]
            moves.append(answer["move"])
            assert (result is not None) == (
                play_moves(Position(preset("multi")), moves).outcome() is not None
            )
        final = play_moves(Position(preset("multi")), moves).outcome()
        assert final is not None
        assert (answer["result"], answer["reason"]) == (final.result, str(final))
        assert bridge.send('{"new": true, "id": "x"}') == {"id": "x", "ready": True}


def test_a_request_may_set_limit_level_clock_and_moves_to_choose_from() -> None:
    with bot("-time", "0.05", "-variant", "morris") as bridge:
        assert bridge.hello["variant"] == "morris"
        assert parse_move(bridge.ask()["move"]) in Position().legal_moves()
        assert bridge.ask(nodes=500, only=["a1"])["move"] == "a1"
        assert bridge.ask(depth=2)["depth"] == 2
        assert bridge.ask(level="Beginner", time=5)["nodes"] <= 200
        assert bridge.ask(level=1400, time=5)["move"]
        assert bridge.ask(clock={"white": 0.2, "black": 0.2, "white_inc": 0})["move"]
        assert bridge.ask(clock={"white": -1, "black": 1})["move"]
        assert bridge.ask(moves="d6 f4 d7 b4", only=["d5xf4"], nodes=100)["move"] == "d5xf4"


def test_each_side_has_its_own_clock() -> None:
    clock = {"white": 1, "black": 2, "white_inc": 0.1, "black_inc": 0.2}
    limit = read_request({"clock": clock}, preset("mill"), Limit()).limit
    assert limit == Limit(white_clock=1, black_clock=2, white_inc=0.1, black_inc=0.2)


def test_a_seed_varies_a_level() -> None:
    with bot() as bridge, bot("-engine", shlex.join(ENGINE)) as process:
        varied = []
        for player in (bridge, process):
            varied.append([player.ask(level="Beginner", seed=seed)["move"] for seed in range(8)])
            assert player.ask(level="Beginner")["move"] == varied[-1][0]
        assert varied[0] == varied[1] and len(set(varied[0])) > 2


@pytest.mark.parametrize(
    "request_, token, word, index",
    [
        ({"moves": ["d6", "d6"]}, "d6", "occupied", 1),
        ({"moves": ["d6", "zz"]}, "zz", "expected a move", 1),
        ({"moves": "d6 xd6"}, "d6xd6", "each point once", 0),
        ({"moves": 5}, "moves", "a list of moves", None),
        ({"position": "a b c"}, "a b c", "6 or 17", None),
        ({"position": "********/********/******** x 9 9 0 1"}, "x", "side to move", 1),
        ({"position": 1}, "position", "a text", None),
        ({"variant": "chess"}, "chess", "rule set", None),
        ({"set": {"Flying": "often"}}, "often", "Flying", None),
        ({"set": ["Flying"]}, "set", "object", None),
        ({"time": 0}, "time 0", "seconds", None),
        ({"time": "1"}, "time 1", "seconds", None),
        ({"nodes": 1.5}, "nodes 1.5", "whole number", None),
        ({"nodes": 10**16}, f"nodes {10**16}", f"to {10**15}", None),
        ({"depth": True}, "depth True", "whole number", None),
        ({"level": "Godlike"}, "Godlike", "Champion", None),
        ({"level": 5}, "5", "rating from", None),
        ({"level": "Club", "seed": -1}, "seed -1", "from 0 to", None),
        ({"seed": True}, "seed True", "whole number", None),
        ({"clock": {"green": 1}}, "clock", "white_inc", None),
        ({"clock": 5}, "clock", "white_inc", None),
        ({"only": ["a1xa4"]}, "a1xa4", "removes nothing", 0),
        ({"turns": ["d6"]}, "turns", "expected a field: id", None),
        ({"only": []}, "only", "at least one", None),
        ({"new": "x"}, "new", "true or false", None),
        ({"clock": {}}, "clock", "expected the clock of white", None),
        ({"clock": {"white_inc": 1, "black": 5}}, "clock", "expected the clock of white", None),
        ({"moves": ["d6"], "clock": {"white": 1}}, "clock", "expected the clock of black", None),
    ],
)
def test_an_error_names_the_invalid_field(
    shared: Bot, request_: dict[str, Any], token: str, word: str, index: int | None
) -> None:
    answer = shared.ask(id=[1], **request_)
    assert answer["id"] == [1] and answer["token"] == token and word in answer["expected"]
    assert answer["index"] == index and answer["error"].startswith(f"'{token}'")


@pytest.fixture(scope="module")
def shared() -> Iterator[Bot]:
    """Yield one bridge for all invalid requests; it must still answer after them."""
    with bot() as bridge:
        yield bridge
        assert bridge.ask(nodes=10)["move"]


@pytest.mark.parametrize(
    "line", ["x", "[]", "1", "null", "[" * 100_000, '"' + "x" * (3 << 20) + '"',
     '{"id": NaN}', '{"id": -Infinity}', '{"id": 1e999}']
)
def test_a_line_that_is_not_a_json_object_gets_a_short_error(shared: Bot, line: str) -> None:
    answer = shared.send(line)
    assert answer["id"] is None and "JSON object" in answer["expected"]
    assert len(answer["error"]) < 500


def test_the_error_about_a_request_that_is_too_long_names_the_limit(shared: Bot) -> None:
    answer = shared.send('{"id": "' + "x" * (1 << 20) + '"}')
    assert answer["token"].startswith('{"id": "xx') and "at most 1048576" in answer["expected"]
    assert shared.send('{"id": "' + "x" * (1 << 19) + '", "new": true}')["ready"]


def test_an_engine_that_has_died_is_restarted_for_the_next_request() -> None:
    with bot("-engine", shlex.join([*FAKE, "die-search"])) as bridge:
        assert bridge.hello["engine"] == "Fake"
        assert bridge.ask(time=1)["move"]
        assert "the engine has gone" in bridge.ask(time=1)["error"]
        assert bridge.ask(time=1)["move"]


def test_an_invalid_request_does_not_restart_the_engine() -> None:
    with bot("-engine", shlex.join([*FAKE, "die-search"])) as bridge:
        assert bridge.ask(time=1)["move"]
        answer = bridge.ask(time=1, level="Club")
        assert answer["token"] == "level" and "UCI_LimitStrength" in answer["expected"]
        # The fake dies at its second search, so the first process still runs.
        assert "the engine has gone" in bridge.ask(time=1)["error"]


def test_fields_that_are_null_are_ignored() -> None:
    with bot("-time", "0.01") as bridge:
        fields = "id new position moves variant set time depth nodes clock level seed only"
        assert bridge.ask(**dict.fromkeys(fields.split()))["move"]


def test_the_error_about_a_missing_engine_names_its_command() -> None:
    assert "/no/such" in refusal("bot", "-engine", "/no/such")


@pytest.mark.skipif(os.name != "posix", reason="SIGINT as a terminal sends it")
def test_ctrl_c_ends_the_bridge_without_a_traceback() -> None:
    started = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with limited(started) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and errors == ""


def test_the_answer_of_a_level_does_not_depend_on_earlier_requests() -> None:
    with bot() as bridge:
        answers = [bridge.ask(level="Champion", time=60)["move"] for _ in range(3)]
        bridge.ask(position="startpos", moves="d6 f4", nodes=5000)
        answers.append(bridge.ask(level="Champion", time=60)["move"])
        assert len(set(answers)) == 1


def test_a_request_without_a_level_restores_the_options_of_the_engine_spec() -> None:
    options = (("uci_limitstrength", "true"), ("uci_elo", "800"))
    player = EnginePlayer(EngineSpec(tuple(ENGINE), "E", options=options))
    try:
        for level in ("Club", None):
            body = {"level": level, "nodes": 1}
            player.choose(read_request(body, preset("mill"), Limit()))
        assert player._engine is not None
        settings = player._engine._settings
        assert options == tuple((name, settings[name]) for name, _ in options)
        assert settings["levelseed"] == "0"
    finally:
        player.close()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_engine_that_has_died_when_its_level_is_set_is_restarted() -> None:
    player = EnginePlayer(EngineSpec(tuple(ENGINE), "E"))
    engine = player._engine
    assert engine is not None
    os.kill(engine.pid, signal.SIGKILL)
    assert engine.connection._process.wait(60.0)
    request = read_request({"level": "Club", "nodes": 1}, preset("mill"), Limit())
    with pytest.raises(EngineTerminated):
        player.choose(request)
    assert player.choose(request).move in Position().legal_moves()
    player.close()
