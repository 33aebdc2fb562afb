"""The live page: what it serves, and that serving it costs the run nothing."""

from __future__ import annotations

import socket
import struct
import threading
import urllib.error
import urllib.request

import pytest

from merels.tournament.journal.rows import Standings, make_row
from merels.tournament.report.crosstable import Crosstable, crosstable
from merels.tournament.run.plan import Plan
from merels.tournament.statistics.counts import Counts
from merels.tournament.views.web import WebView
from tests.tournament.processes import Marked, wait_for
from tests.tournament.report.test_report import check
from tests.tournament.specs import match, result, settings


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=10) as answer:
        return str(answer.read().decode())


def serving() -> tuple[Marked, str]:
    """A long run and the address of its page."""
    run = Marked(*match("-rounds", "2000", "-serve", "0"))
    return run, next(line for line in run.process.stderr if "standings at" in line).split()[-1]


def test_the_page_is_rated_once_per_change_in_the_runners_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rated: list[threading.Thread] = []

    def rate(matches: Counts) -> Crosstable:
        rated.append(threading.current_thread())
        return crosstable(matches)

    monkeypatch.setattr("merels.tournament.views.web.crosstable", rate)
    chosen = settings(2, rounds=5)
    standings = Standings(("A", "B"))
    view = WebView(chosen, Plan(chosen), 0)
    try:
        standings.add(make_row(result(1)))
        view.finished(make_row(result(1)), standings)
        while not rated:  # The first drawing, of no games, may still count as recent.
            view.tick(standings, {})
        shown = get(view.address + "summary")
        assert "Standings" in shown and "1 of 10" in shown
        # The runner goes on counting while browsers poll.
        standings.add(make_row(result(2)))
        for _ in range(3):
            view.tick(standings, {})
            assert get(view.address + "summary") == shown
            assert shown in get(view.address)
        assert rated == [threading.current_thread()]
    finally:
        view.close()


def test_served_while_it_runs() -> None:
    run, address = serving()
    wait_for(run, "Finished game 5 ")
    while "Standings" not in (text := get(address)):
        pass
    check(text)
    assert "of 4000" in text and '"n":' in text
    assert "Crosstable" in get(address + "summary")
    with pytest.raises(urllib.error.HTTPError):
        get(address + "etc/passwd")
    run.process.terminate()
    assert run.wait()[0] == 130


def test_a_browser_that_leaves_is_not_reported() -> None:
    run, address = serving()
    port = int(address.rstrip("/").rpartition(":")[2])
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", port)) as browser:
            reset_at_once = struct.pack("ii", 1, 0)
            browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset_at_once)
            browser.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    wait_for(run, "Finished game 5 ")
    run.process.terminate()
    _, _, err = run.wait()
    assert "Traceback" not in err and "Error" not in err


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, _, err = Marked(*match("-rounds", "1", "-serve", port)).wait()
    assert status == 2 and "cannot serve at this port" in err
