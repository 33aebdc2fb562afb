"""The editor of positions, and sharing positions and games as link, text or picture."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from xml.etree import ElementTree


from tests.kit.waiting import wait
from tests.kit.webdriver import Browser
from tests.protocol.board.steps import (
    BEGINNER,
    FLYERS,
    begin,
    enter,
    is_open,
    moves,
    play,
    shot,
    tap_menu,
)

NOTE = "document.getElementById('editor-note').textContent"


def put(page: Browser, man: str, *points: str) -> None:
    """Choose a kind of man in the editor, and click points."""
    page.click(f"input[name=editor-man][value={man}]")
    for point in points:
        page.click(f"#editor-board [data-point={point}] .hit")


def test_a_position_is_set_up_by_clicking_and_analysed(page: Browser) -> None:
    begin(page)
    tap_menu(page, "edit")
    page.wait(is_open("editor"))
    page.click("#editor-clear")
    page.wait(f"/game is over/.test({NOTE})")
    assert page.run("return document.getElementById('editor-play').disabled")
    put(page, "white", "d7", "a7", "d6", "d5")
    put(page, "black", "d2", "d1", "a1", "g1")
    page.click("#editor-side-1")
    page.wait(f"{NOTE} === 'Black to move.'")
    # A man is removed by a second click.
    put(page, "black", "g1")
    put(page, "white", "d5")
    page.wait_for_count("#editor-board .man", 6)
    shot(page, "editor")
    text = page.run("return document.getElementById('editor-text').value")
    assert text == "********/O***@***/O***@@*O b 0 0 0 1"
    page.click("#editor-analyse")
    page.wait_for_count("#board .man", 6)
    page.wait("document.getElementById('analyse').ariaPressed === 'true'")
    page.wait("/Black: move a man/.test(document.getElementById('status').textContent)")


def test_the_editor_reports_faults_immediately(page: Browser) -> None:
    begin(page)
    tap_menu(page, "edit")
    page.click("#editor-start")
    # Placing a man takes it from the hand.
    put(page, "white", "d7")
    page.wait("document.getElementById('editor-hand-0').value === '8'")
    page.wait(f"/Black, with one more man in hand/.test({NOTE})")
    enter(page, "#editor-hand-0", "9")
    page.wait(f"/at most 9 men for White, found 1 on the board and 9 in hand/.test({NOTE})")
    assert page.run("return document.getElementById('editor-play').disabled")
    enter(page, "#editor-text", "rubbish")
    page.wait(f"/Expected the 6 or 17 fields of a position/.test({NOTE})")
    enter(page, "#editor-text", FLYERS)
    page.wait(f"{NOTE} === 'White to move.'")
    page.wait_for_count("#editor-board .man", 6)
    page.click("#editor-play")
    page.wait_for_count("#board .man", 6)
    assert page.run("return document.getElementById('play').ariaPressed") == "true"


def test_a_level_answers_in_a_position_that_was_set_up(page: Browser) -> None:
    begin(page, black=BEGINNER)
    tap_menu(page, "edit")
    enter(page, "#editor-text", "********/O***@***/O***@@*O b 0 0 0 9")
    page.wait(f"{NOTE} === 'Black to move.'")
    page.click("#editor-play")
    page.wait_for_count("#moves button", 1)


def test_the_editor_is_used_with_the_keyboard(page: Browser) -> None:
    begin(page)
    tap_menu(page, "edit")
    page.click("#editor-clear")
    page.run("document.querySelector('#editor-board [data-point=b4]').focus()")
    page.key("Enter")
    page.wait_for_count("#editor-board .man", 1)
    label = page.run("return document.activeElement.ariaLabel")
    assert label == "b4, white man"


def test_pictures_are_saved(page: Browser, tmp_path: Path) -> None:
    begin(page)
    for point in ("d6", "f4"):
        play(page, point)
    page.download_to(tmp_path)
    tap_menu(page, "share")
    page.wait("document.getElementById('share-text').value")
    page.click("#share-svg")
    page.click("#share-png")
    wait(lambda: {path.name for path in tmp_path.iterdir()} == {"position.svg", "position.png"},
         60, "both files")
    root = ElementTree.parse(tmp_path / "position.svg").getroot()
    circles = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    # Empty points, three circles for each man, the ring of the last move, and men in hand.
    assert len(circles) == 22 + 6 + 1 + 8 + 8
    white = [man for man in circles if re.match(r'url\("#white-\d+"\)', man.get("fill", ""))]
    assert len(white) == 1 + 8
    [name] = {man.get("fill", "")[6:-2] for man in white}
    gradient = next(node for node in root.iter() if node.get("id") == name)
    assert [stop.get("stop-color") for stop in gradient][:2] == [
        "rgb(255, 255, 255)", "rgb(255, 253, 246)"
    ]
    assert "White to move." in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    data = (tmp_path / "position.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (1428, 1560)
