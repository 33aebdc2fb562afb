"""Warnings and errors on the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from merels.protocol.board.reviewing import Reviewer
from tests.kit.webdriver import Browser
from tests.protocol.board.server import Server, serving_here
from tests.protocol.board.steps import ask, begin, play

README = Path(__file__).parents[3] / "README.md"


class Surprise(Exception):
    """An error that no code handles by name."""


def fail(*_: object, **__: object) -> Any:
    """Raise a `Surprise`."""
    raise Surprise("out of the blue\nagain")


def test_the_page_shows_warnings_and_errors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chromium: Browser
) -> None:
    warnings = "document.getElementById('warnings')"
    chromium.set_view(1280, 860)
    with Server(games=README, puzzles=tmp_path) as server:
        server.let_in(chromium)
        chromium.wait(f"!{warnings}.hidden")
        assert "Games are not saved: " in chromium.text("#warnings")
    monkeypatch.setattr(Reviewer, "judge", fail)
    with serving_here() as client:
        client.let_in(chromium)
        chromium.wait_for_count(".target", 24)
        assert chromium.run(f"return {warnings}.hidden")
        begin(chromium)
        play(chromium, "d6")
        ask(chromium, "review")
        chromium.wait(f"{warnings}.textContent.includes('Surprise: out of the blue')")
        begin(chromium)
        chromium.wait(f"{warnings}.hidden")
