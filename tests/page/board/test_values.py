"""Proven values on the board and in the list of moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.engine.game.rules import make_rules
from tests.kit.tables import copy_tables
from tests.kit.webdriver import Browser
from tests.protocol.board.server import Server
from tests.protocol.board.steps import begin, console_errors, load, tap_menu


def test_the_explorer_lists_placing_moves_if_their_tables_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chromium: Browser
) -> None:
    copy_tables(tmp_path, make_rules("morris", ["NoRemovalPlies=0"]), 7, placing=True)
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    with Server() as server:
        server.open_page(chromium)
        begin(
            chromium, variant="morris", fields={"NoRemovalPlies": "0"},
            position="O*O*****/*@*@****/*O***@** b 0 1 0 9",
        )
        chromium.click("#analyse")
        chromium.wait_for_count("#explorer button", 20)
        label = "return document.querySelector(`[data-point=${arguments[0]}]`).ariaLabel"
        assert chromium.run(label, "f4") == "f4, empty, place here: proven win"
        assert chromium.run(label, "a7") == "a7, empty, place here: proven draw"
        groups = "return [...document.querySelectorAll('#explorer .group')]"
        assert chromium.run(f"{groups}.map((group) => group.textContent)")[0] == "Wins"
        # A click plays the best move, which removes a man of White and wins.
        chromium.click("#explorer button")
        chromium.wait("/Black wins/.test(document.getElementById('worth').textContent)")
        assert console_errors(chromium) == []
        chromium.open("about:blank")


def test_a_distance_of_one_move_is_in_the_singular(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chromium: Browser
) -> None:
    copy_tables(tmp_path, make_rules("mill"), 6, depths=True)
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    with Server() as server:
        server.open_page(chromium)
        tap_menu(chromium, "analyse")
        load(chromium, "********/O***@***/O***@@*O w 0 0 0 9")
        first = "document.querySelector('#explorer button')"
        chromium.wait(f"{first}?.textContent.endsWith('in 1 move')")
        assert console_errors(chromium) == []
        chromium.open("about:blank")


WIDE = """
return [...document.querySelectorAll("#explorer button, #explorer button *, html")]
  .filter((element) => element.getBoundingClientRect().right > innerWidth
    || element.scrollWidth > element.clientWidth + 1)
  .map((element) => `${element.localName} ${element.textContent.slice(0, 80)}`);
"""
"""Moves of the explorer that do not fit, and the document if it scrolls sideways."""


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_move_with_one_reply_and_a_distance_fits_on_every_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chromium: Browser, language: str
) -> None:
    copy_tables(tmp_path, make_rules("mill"), 8, depths=True)
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    with Server() as server:
        server.open_page(chromium)
        chromium.run(
            "const select = document.getElementById('language'); select.value = arguments[0];"
            "select.dispatchEvent(new Event('change', {bubbles: true}))", language,
        )
        tap_menu(chromium, "analyse")
        # Black's only reply to f6-d6 puts off the next removal to White's third move.
        load(chromium, "@@O**@O@/*O***O**/******** w 0 0 0 20")
        chromium.wait(
            "[...document.querySelectorAll('#explorer .remarks')].some((all) => all.children[1])"
        )
        for width, height in ((320, 568), (390, 844), (844, 390), (960, 540), (1280, 860)):
            chromium.set_view(width, height, phone=width < 900)
            assert chromium.run(WIDE) == [], (width, height)
        chromium.set_view(1280, 860)
        assert console_errors(chromium) == []
        chromium.open("about:blank")
