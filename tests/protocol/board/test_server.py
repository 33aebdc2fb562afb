"""The board's server: answers, refusals, lost connections and failing engines."""

from __future__ import annotations

import os
import shlex
import signal
import socket
from pathlib import Path

import pytest

from merels.engine.game.position import Position
from merels.protocol.board.events import Feed
from merels.protocol.board.sessions import MAX_SESSIONS
from tests.commands import command
from tests.kit.fakes import fake
from tests.processes import needs_proc
from tests.protocol.board.conftest import SILENT
from tests.protocol.board.server import Server, alive
from tests.protocol.board.steps import ANALYST, BEGINNER, PERSON, clock

pytestmark = pytest.mark.thorough

PAGE = Path(__file__).parents[3] / "protocol" / "board" / "page"
JSON_HEADERS = {"Content-Type": "application/json"}


def test_the_page_is_small_and_complete(server: Server) -> None:
    total = 0
    files = [path for path in PAGE.rglob("*") if path.is_file()]
    assert len(files) > 20
    for path in files:
        name = path.relative_to(PAGE).as_posix().removeprefix("index.html")
        status, data, answer = server.ask("GET", f"/{name}")
        assert status == 200, name
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-store"
        assert b"//cdn" not in data and b"https://" not in data
        total += len(data)
    # About a fifth of this size are texts in two languages.
    assert total < 260_000


@pytest.mark.parametrize(
    "name",
    [
        "../command.py", "..%2fcommand.py", "%2e%2e/command.py", "....//command.py", "/etc/passwd",
        "../../../../../../etc/passwd", "..\\command.py", "page/app.js", "app.js%00.html",
        "file:///etc/passwd", "command.py", "./app.js",
    ],
)
def test_files_outside_the_page_are_not_served(server: Server, name: str) -> None:
    status, data, _ = server.ask("GET", f"/{name}")
    assert status == 404 and b"root:" not in data and b"import" not in data


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1:1"},
        {"Host": "user@127.0.0.1:{port}"},
        {"Host": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_are_refused(server: Server, headers: dict[str, str]) -> None:
    headers = {name: value.format(port=server.port) for name, value in headers.items()}
    for method, path in (("GET", ""), ("GET", "events?session=x"), ("POST", "api/open")):
        body = b"{}" if method == "POST" else None
        status, _, answer = server.ask(method, f"/{path}", body, {**JSON_HEADERS, **headers})
        assert status == 403
        assert answer.headers["Access-Control-Allow-Origin"] is None


def test_only_json_of_a_bounded_size_is_read(server: Server) -> None:
    path = "/api/open"
    assert server.ask("POST", path, b"x" * (2 << 20), JSON_HEADERS)[0] == 413
    assert server.ask("POST", path, b"", {**JSON_HEADERS, "Content-Length": "9" * 30})[0] == 413
    assert server.ask("POST", path, b"{}", {**JSON_HEADERS, "Content-Length": "-1"})[0] == 411
    assert server.ask("POST", path, b"{}", {"Content-Type": "text/plain"})[0] == 415
    for body in (b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000):
        assert server.ask("POST", path, body, JSON_HEADERS)[0] == 400
    chunked = {**JSON_HEADERS, "Transfer-Encoding": "chunked"}
    assert server.ask("POST", path, None, chunked)[0] == 411
    assert server.ask("PUT", path, b"{}", JSON_HEADERS)[0] == 501


@pytest.mark.parametrize(
    "action, body, word",
    [
        ("nonsense", {}, "no such request"),
        ("play", {"move": "z9", "at": 0}, "z9"),
        ("play", {"move": 7, "at": 0}, "move"),
        ("play", {"move": "d6", "at": 3}, "changed"),
        ("play", {"move": "d6xd7", "at": 0}, "removes nothing"),
        ("new", {"variant": "chess"}, "chess"),
        ("new", {"fields": {"Flying": "sometimes"}}, "sometimes"),
        ("new", {"position": "x"}, "6 or 17"),
        ("new", {"players": [{"engine": 99}, {}, ANALYST]}, "engine 99"),
        ("new", {"time": {"kind": "move", "seconds": 1e9}}, "seconds"),
        ("new", {"time": {"kind": "move", "seconds": float("nan")}}, "seconds"),
        ("new", {"time": {"kind": "move", "seconds": True}}, "seconds True"),
        ("evaluation", {"lines": 6}, "lines 6"),
        ("go", {"node": 5}, "of this game"),
        ("go", {"node": "1"}, "of this game"),
        ("undo", {}, "no move"),
        ("load", {"text": ""}, "position or a game record"),
        ("load", {"text": "1. d6 d6"}, "d6 is occupied (move 1, Black, line 1)"),
        ("load", {"text": "1. 7 14\n2. 7"}, "7 is occupied (move 2, White, line 2)"),
        ("configure", {"seat": 1, "settings": {"Hash": "8"}}, "no such request"),
    ],
)
def test_a_bad_request_is_refused_with_its_fault(
    server: Server, action: str, body: dict[str, object], word: str
) -> None:
    session = server.open()
    status, answer = server.api(action, session=session, **body)
    assert status in (400, 502) and word in answer["error"]
    with server.stream(session) as stream:
        state = stream.until("state", lambda state: True)
        assert state["plies"] == 0
        assert sorted(state["legal"]) == sorted(map(str, Position().legal_moves()))


def test_a_query_with_too_many_fields_is_not_a_server_error(server: Server) -> None:
    query = "a=1&b=2&c=3&d=4&e=5&session=x"
    assert server.ask("GET", f"/events?{query}")[0] == 204
    assert server.errors() == ""


def test_an_unknown_board_is_reported(server: Server) -> None:
    status, answer = server.api("undo", session="unknown")
    assert status == 400 and "gone" in answer["error"]
    with server.stream("unknown") as stream:
        assert stream.status == 204


def test_a_lost_connection_does_not_disturb_the_board(server: Server) -> None:
    session = server.open()
    server.api("analyse", session=session, on=True)
    for _ in range(5):
        # The client resets the connection, so the server's next write fails.
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            path = f"/events?session={session}"
            head = f"GET {path} HTTP/1.1\r\nHost: {server.host}\r\nCookie: {server.cookie}"
            raw.sendall(f"{head}\r\n\r\n".encode())
            assert raw.recv(64).startswith(b"HTTP/1.1 200")
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(b"POST /half a requ")
    with server.stream(session) as stream:
        stream.until("info", lambda info: info["lines"])
    assert server.api("analyse", session=session, on=False)[0] == 200


def test_a_new_board_replaces_the_oldest_unwatched_one(server: Server) -> None:
    first = server.open()
    for _ in range(MAX_SESSIONS):
        server.open()
    assert server.api("undo", session=first)[1]["error"].startswith("this board is gone")


@needs_proc
def test_engines_end_with_the_server() -> None:
    with Server("-engine", f"cmd={shlex.join(fake('stubborn'))}", "name=Stubborn") as server:
        session = server.begin({"engine": 1}, {"engine": 0}, time={"kind": "move", "seconds": 9})
        with server.stream(session) as stream:
            stream.until("state", lambda state: state["plies"] == 1)
            engines = server.engines(2)
        assert server.stop() == 0
        assert not any(map(alive, engines))


@needs_proc
def test_a_crashed_engine_is_reported_and_can_be_restarted(server: Server) -> None:
    full = {"engine": 0, "level": "full"}
    session = server.begin(black=full, time={"kind": "move", "seconds": 60})
    server.api("evaluation", session=session, on=True)
    server.api("play", session=session, move="d6", at=0)
    with server.stream(session) as stream:
        stream.until("info", lambda info: info["lines"])
        os.kill(server.engines()[-1], signal.SIGKILL)
        state = stream.until("state", lambda state: state["error"])
        assert state["error"] == "Black: the engine has gone: killed by SIGKILL"
        assert state["plies"] == 1
        server.api("players", session=session, players=[PERSON, BEGINNER, ANALYST])
        state = stream.until("state", lambda state: state["plies"] == 2)
        assert state["error"] == ""


@needs_proc
def test_an_engine_that_does_not_end_its_analysis_is_killed(server: Server) -> None:
    session = server.open()
    server.api("players", session=session, players=[PERSON, PERSON, {"engine": 3}])
    server.api("analyse", session=session, on=True)
    with server.stream(session) as stream:
        stream.until("info", lambda info: info["name"] == "Mute" and info["lines"])
        mute = server.engines()[-1]
        server.api("players", session=session, players=[PERSON, PERSON, ANALYST])
        # Engine 3 is killed after two seconds, and merels replaces it.
        info = stream.until("info", lambda info: info["name"] == "merels" and info["lines"])
        assert info["role"] == "Analysis" and not alive(mute)
        assert server.api("export", session=session)[0] == 200


@needs_proc
def test_an_engine_that_does_not_end_its_search_is_killed(server: Server) -> None:
    session = server.begin(black={"engine": 3}, time=clock(600))
    server.api("evaluation", session=session, on=True)
    server.api("play", session=session, move="d6", at=0)
    with server.stream(session) as stream:
        stream.until("info", bool)
        mute = server.engines()[-1]
        # Engine 3 has ten minutes on its clock, but is killed two seconds after the change.
        server.api("players", session=session, players=[PERSON, {"engine": 1}, ANALYST])
        stream.until("state", lambda state: state["plies"] == 2)
        assert not alive(mute)


@needs_proc
def test_an_engine_that_ignores_stop_does_not_outlive_the_server() -> None:
    with Server("-engine", f"cmd={shlex.join(fake(SILENT))}", "name=Mute") as server:
        session = server.begin({"engine": 1}, time=clock(600))
        server.api("evaluation", session=session, on=True)
        with server.stream(session) as stream:
            stream.until("info", bool)
            engines = server.engines()
        assert server.stop() == 0
        assert not any(map(alive, engines))


@needs_proc
def test_ctrl_c_does_not_wait_for_an_engine_that_hangs_at_start() -> None:
    with Server("-engine", f"cmd={shlex.join(fake('mute'))}", "name=Mute") as server:
        session = server.begin({"engine": 1})
        with server.stream(session) as stream:
            stream.until("state", lambda state: state["thinking"])
            engines = server.engines()
        # The handshake may take ten seconds; waiting for it would exceed the limit here.
        assert server.stop(8.0) == 0
        assert server.errors() == "\n"
        assert not any(map(alive, engines))


def test_bad_flags_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    for flags, word in (
        (["-port", "x"], "port"),
        (["-engine", "name=A"], "cmd="),
        (["-engine", "cmd= "], "cmd="),
        (["-engine", "cmd='./my engine"], "no closing quotation mark"),
        (["-engine", "cmd=a", "proto=xyz"], "xyz"),
        (["-engine", "cmd=a", "colour=red"], "colour=red"),
        (["-host", "256.256.256.256"], "256.256.256.256"),
        (["-host", "\udcff"], "cannot listen on this address"),
        (["-host", "a" * 100], "cannot listen on this address"),
        (["-host", ""], "-host"),
    ):
        assert command("board")(["-no-open", *flags]) == 2
        assert word in capsys.readouterr().err


def test_pending_events_are_bounded() -> None:
    feed = Feed()
    for _ in range(100_000):
        feed.announce("info")
    assert feed.take(0.0) == {"info"}
    assert feed.take(0.0) == set()
    feed.close()
    assert feed.take(5.0) is None
