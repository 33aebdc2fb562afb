"""Pages in the background."""

from __future__ import annotations


import pytest

from merels.protocol.board.actions.dispatch import act
from tests.kit.waiting import wait
from tests.kit.webdriver import Browser
from tests.protocol.board.server import serving_here
from tests.protocol.board.steps import set_hidden


def test_a_page_in_the_background_stops_its_analysis(
    chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANALYSIS_SECONDS", "UNWATCHED_SECONDS"):
        monkeypatch.setattr(f"merels.protocol.board.session.{name}", 0.5)
    with serving_here() as client:
        client.open_page(chromium)
        session = client.server.sessions.get(chromium.run("return sessionStorage.getItem('board')"))
        assert session is not None
        act(session, "analyse", {"on": True})
        chromium.wait_for_count("#lines li", 3)
        set_hidden(chromium, True)
        wait(lambda: session.next_job() is None, 60, "the end of the analysis")
        set_hidden(chromium, False)
        wait(lambda: session.next_job() is not None, 60, "the analysis")
        chromium.open("about:blank")
