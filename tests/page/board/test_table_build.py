"""The build of tables on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from merels.engine.game.rules import DEFAULT_RULES, PRESETS
from merels.protocol.board import table_build
from merels.protocol.board.table_build import TableBuild, has_tables
from tests.kit.tables import copy_tables
from tests.kit.waiting import wait
from tests.kit.webdriver import Browser
from tests.protocol.board.server import Server, serving_here
from tests.protocol.board.steps import begin, console_errors, load, play, tap_menu

EIGHT_MEN = "O*O*****/O***@*@*/**O*@@** w 0 0 0 9"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of tables in place of the user's."""
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    return tmp_path


def test_the_result_shows_the_accuracy_without_a_click_on_review(
    folder: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_build, "MEN", 6)
    copy_tables(folder, DEFAULT_RULES, 6)
    with serving_here() as client:
        client.open_page(chromium, 1366, 650)
        begin(chromium)
        play(chromium, "d6")
        play(chromium, "f4")
        chromium.click("#resign")
        chromium.click("#ask-yes")
        chromium.wait("document.getElementById('result-accuracy').textContent"
                      ".includes('Accuracy: White ')")
        chromium.wait_for_count("#sums dd", 2)
        # The button shows this review in an analysis.
        chromium.click("#result-review")
        chromium.wait("document.getElementById('analyse').ariaPressed === 'true' && "
                      "document.getElementById('result-review').hidden")
        assert "Accuracy: White " in chromium.text("#result-accuracy")
        chromium.open("about:blank")


def test_the_page_shows_the_progress_of_a_build(folder: Path, chromium: Browser) -> None:
    with serving_here() as client:
        client.open_page(chromium)
        tap_menu(chromium, "analyse")
        name = chromium.run("return sessionStorage.board")
        session = client.server.sessions.get(name)
        assert session is not None
        build = session.table_build = TableBuild()
        for percent in (10, 42):
            build.share = percent / 100
            session.announce("state")
            chromium.wait("document.getElementById('tables-text').textContent === "
                          f"'Building tables of proven values: {percent} %'")
        build.share = None
        session.announce("state")
        chromium.wait("document.getElementById('tables').hidden")
        chromium.open("about:blank")


def test_the_page_offers_rules_with_tables_after_a_build(folder: Path, chromium: Browser) -> None:
    copy_tables(folder, PRESETS["morris"], 8)
    with Server(tables=True) as server:
        # An analysis would share the processors with the build.
        wait(lambda: has_tables(DEFAULT_RULES, folder), 300, "the end of the build")
        server.open_page(chromium)
        begin(chromium)
        tap_menu(chromium, "analyse")
        text = "document.getElementById('tables-text').textContent"
        is_shown = "!document.getElementById('tables').hidden"
        # Loc has only the small tables.
        load(chromium, f'[Variant "loc"]\n[FEN "{EIGHT_MEN}"]\n[SetUp "1"]\n\n*')
        chromium.wait(f"{is_shown} && /other rules/.test({text})")
        assert re.fullmatch(r"Your tables are for other rules: Mill, Morris\.",
                            chromium.text("#tables-text"))
        chromium.click("#tables-use")
        chromium.wait("document.getElementById('explorer-box').checkVisibility() && "
                      "document.querySelectorAll('#explorer li').length > 3")
        assert chromium.run("return document.getElementById('tables').hidden")
        assert console_errors(chromium) == []
        chromium.open("about:blank")
