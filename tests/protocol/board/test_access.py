"""Access to the board: only with the cookie, which the start address gives."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.kit.waiting import wait
from tests.processes import limited, needs_proc
from tests.protocol.board.server import COMMAND, Client, Server, serving_here

HTML = {"Accept": "text/html,application/xhtml+xml"}
NO_COOKIE = {"Cookie": ""}


@pytest.fixture(scope="module")
def board() -> Iterator[Client]:
    """A client of a board's server that runs in this process."""
    with serving_here() as client:
        yield client


@pytest.mark.parametrize("path", [
    "/", "/index.html", "/x/", "//", "/app.js", "/start", "/start/", "/start/code", "/events",
    "/api/open", "/%00/",
])
@pytest.mark.parametrize("cookie", ["", "{name}=", "{name}={short}", "{name}={secret}x",
                                    "other={secret}", "{secret}", "{name}=\xff"])
def test_nothing_is_served_without_the_cookie(board: Client, path: str, cookie: str) -> None:
    name, secret = board.cookie.split("=")
    headers = {"Cookie": cookie.format(name=name, secret=secret, short=secret[:-1])}
    for method in ("GET", "POST"):
        status, data, _ = board.ask(method, path, None, headers)
        assert status == 403 and b"terminal" in data and secret.encode() not in data


def test_the_cookie_is_found_among_malformed_cookies(board: Client) -> None:
    headers = {"Cookie": f'a="{{\\"; b; merels-1=x;{board.cookie} ; c=[,]'}
    assert board.ask("GET", "/", None, headers)[0] == 200


def test_a_cookie_is_valid_for_one_server_only(board: Client) -> None:
    with serving_here() as other:
        assert board.cookie.split("=")[0] != other.cookie.split("=")[0]
        both = {"Cookie": f"{board.cookie}; {other.cookie}"}
        assert board.ask("GET", "/", None, both)[0] == other.ask("GET", "/", None, both)[0] == 200
        assert other.ask("GET", "/", None, {"Cookie": board.cookie})[0] == 403


def test_only_the_start_address_gives_the_cookie() -> None:
    with Server() as server:
        path = urlsplit(server.start_address).path
        # The local start file, which opens the address, counts as another site.
        headers = HTML | NO_COOKIE | {"Sec-Fetch-Site": "cross-site"}
        for _ in range(2):
            status, data, answer = server.ask("GET", path, None, headers)
            assert status == 200 and b"refresh" in data
            cookie = answer.headers["Set-Cookie"]
            assert cookie == f"{server.cookie}; Path=/; HttpOnly; SameSite=Strict"
        assert server.ask("GET", "/", None, {"Cookie": cookie.partition(";")[0]})[0] == 200
        for wrong in (path + "x", path[:-1], path.rpartition("/")[0] + "/"):
            status, _, answer = server.ask("GET", wrong, None, headers)
            assert status == 403 and answer.headers["Set-Cookie"] is None
        # The cookie is not the token, which stays in the browser's history.
        assert path.rpartition("/")[2] != server.cookie.partition("=")[2]


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Host": "evil.example:{port}"}])
def test_a_start_address_with_a_foreign_host_header_is_refused(headers: dict[str, str]) -> None:
    with Server() as server:
        address = urlsplit(server.start_address).path
        named = {name: value.format(port=server.port) for name, value in headers.items()}
        status, _, answer = server.ask("GET", address, None, NO_COOKIE | named)
        assert status == 403 and answer.headers["Set-Cookie"] is None
        assert server.ask("GET", address, None, NO_COOKIE)[0] == 200


def test_a_browser_without_the_cookie_gets_instructions(board: Client) -> None:
    status, data, answer = board.ask("GET", "/", None, HTML | NO_COOKIE)
    text = data.decode()
    assert status == 403 and answer.headers["Content-Type"].startswith("text/html")
    assert 'data-text="denied.how"' in text
    # The page needs only its texts and its look; the rest is refused.
    for name in ("denied.js", "text.js", "languages/de.js", "theme.css", "look.js"):
        assert board.ask("GET", f"/{name}", None, NO_COOKIE)[0] == 200, name
    for name in ("app.js", "index.html", "events"):
        assert board.ask("GET", f"/{name}", None, NO_COOKIE)[0] == 403, name
    assert board.cookie.split("=")[1] not in text and "default-src 'none'" in str(answer.headers)


BROWSER_SCRIPT = """
import shutil, sys
from urllib.parse import unquote, urlsplit
file = unquote(urlsplit(sys.argv[1]).path)
shutil.copy2(file, "opened.html")
open("argv", "w").write(repr(sys.argv) + "\\n" + file)
"""


@needs_proc
def test_no_command_line_shows_a_secret(tmp_path: Path) -> None:
    (tmp_path / "browser.py").write_text(BROWSER_SCRIPT)
    environment = os.environ | {
        "BROWSER": f"{shlex.join([sys.executable, str(tmp_path / 'browser.py')])} %s",
        "MERELS_GAMES": str(tmp_path / "games"), "MERELS_PUZZLES": str(tmp_path),
    }
    command = [word for word in COMMAND if word != "-no-open"]
    with limited(subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    )) as process:
        assert process.stdout is not None
        printed = process.stdout.readline().split()[-1]
        arguments = tmp_path / "argv"
        wait(lambda: arguments.exists() and arguments.read_text().count("\n"), 60, "a browser")
        argv, name = arguments.read_text().split("\n")
        file, copy = Path(name), (tmp_path / "opened.html").read_text()
        address = copy.partition('url=')[2].partition('"')[0]
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert address == printed
        client = Client(address)
        secrets = [urlsplit(address).path.rpartition("/")[2], client.cookie.partition("=")[2]]
        assert all(len(secret) > 20 for secret in secrets)
        assert not any(secret in argv for secret in secrets), argv
        assert client.ask("GET", "/")[0] == 200
        for line in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                shown = line.read_text(errors="replace")
            except OSError:
                continue
            assert not any(secret in shown for secret in secrets), shown
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert not file.exists()


def test_an_unopened_start_file_is_removed_when_the_board_ends(tmp_path: Path) -> None:
    environment = os.environ | {
        "BROWSER": "true", "TMPDIR": str(tmp_path), "MERELS_GAMES": str(tmp_path / "games"),
    }
    command = [word for word in COMMAND if word != "-no-open"]
    with limited(subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        assert list(tmp_path.glob("*.html"))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("cookie", [True, False])
def test_requests_of_other_sites_get_no_data(board: Client, site: str, cookie: bool) -> None:
    other = {"Sec-Fetch-Site": site} | ({} if cookie else NO_COOKIE)
    # A followed link shows the instructions, the same with and without the cookie.
    status, page, answer = board.ask("GET", "/", None, HTML | other)
    assert status == 403 and page == board.ask("GET", "/", None, HTML | NO_COOKIE)[1]
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Set-Cookie"] is None
    for method, path, headers in (
        ("GET", "/", {}), ("GET", "/app.js", {}), ("GET", "/events", {}), ("POST", "/", {}),
        ("POST", "/api/open", {"Content-Type": "application/json"}),
    ):
        body = b"{}" if method == "POST" else None
        status, data, answer = board.ask(method, path, body, other | headers)
        assert status == 403 and data.startswith(b'{"error": "requests from other sites')
    for host in ("evil.example", f"evil.example:{board.port}"):
        status, data, _ = board.ask("GET", "/", None, HTML | other | {"Host": host})
        assert status == 403 and data.startswith(b'{"error": "the Host header')


def test_an_address_for_all_interfaces_can_be_opened_on_a_phone() -> None:
    with Server("-host", "0.0.0.0") as server:
        printed = urlsplit(server.start_address).hostname
        assert printed != "0.0.0.0"
        assert server.ask("GET", "/", None, {"Host": f"{printed}:{server.port}"})[0] == 200


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_a_fixed_port_admits_a_browser_again_after_a_restart(tmp_path: Path) -> None:
    flags = ("-port", str(free_port()))
    with Server(*flags, games=tmp_path) as server:
        _, _, answer = server.ask("GET", urlsplit(server.start_address).path, None, NO_COOKIE)
        assert "Max-Age=34560000" in answer.headers["Set-Cookie"]
        cookie, address = server.cookie, server.address
    [file] = tmp_path.glob("cookie-*")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with Server(*flags, games=tmp_path) as server:
        assert server.address == address
        assert server.ask("GET", "/", None, {"Cookie": cookie})[0] == 200
        assert server.ask("GET", "/", None, NO_COOKIE)[0] == 403
    # Other users could have read the file, so its secret is void.
    file.chmod(0o644)
    with Server(*flags, games=tmp_path) as server:
        assert server.ask("GET", "/", None, {"Cookie": cookie})[0] == 403
    file.write_text("short")
    with Server(*flags, games=tmp_path) as server:
        assert len(server.cookie.partition("=")[2]) == 32
    with Server(games=tmp_path) as server:
        _, _, answer = server.ask("GET", urlsplit(server.start_address).path, None, NO_COOKIE)
        assert "Max-Age" not in answer.headers["Set-Cookie"]
