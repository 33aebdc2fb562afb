"""The page's dialogs: Enter, Cancel and the main buttons."""

from __future__ import annotations

import pytest

from tests.kit.webdriver import Browser
from tests.protocol.board.steps import (
    ANALYST,
    BEGINNER,
    PERSON,
    ask,
    begin,
    clock,
    enter,
    expect_refusal,
    is_open,
    shot,
    tap_menu,
)


def test_enter_applies_a_dialog(page: Browser) -> None:
    tap_menu(page, "new")
    page.click("#rules")
    enter(page, "#field-NoRemovalPlies", "77")
    page.key("Enter")
    page.wait(f"!{is_open('rules')}")
    page.run("document.getElementById('begin').focus()")
    page.key("Enter")
    # The dialog closes before the game begins.
    page.wait("import('./page.js')"
              ".then(({ page }) => page.state.rules.fields.NoRemovalPlies == 77)")
    tap_menu(page, "new")
    page.wait("document.getElementById('field-NoRemovalPlies').value === '77'")


def test_cancel_discards_the_input(page: Browser) -> None:
    begin(page, black=BEGINNER)
    tap_menu(page, "new")
    # The field is in a closed dialog.
    enter(page, "#field-NoRemovalPlies", "99999999")
    page.click("#new-dialog button[value=cancel]")
    page.wait(f"!{is_open('new')}")
    tap_menu(page, "new")
    enter(page, "#field-NoRemovalPlies", "99999999")
    page.click("#begin")
    page.wait("/After how many moves/.test(document.getElementById('toast').textContent)")
    assert "NoRemovalPlies" not in page.text("#toast")
    expect_refusal(page)


def test_a_time_control_that_the_page_does_not_offer_is_kept(page: Browser) -> None:
    begin(page)
    ask(page, "new", players=[PERSON, PERSON, ANALYST], time=clock(300, 3))
    page.wait_for_count(".clock", 2)
    tap_menu(page, "new")
    chosen = "document.getElementById('time').selectedOptions[0].textContent"
    assert page.run(f"return {chosen}") == "5 min + 3 s"
    page.run("document.querySelector('#new-dialog details').open = true")
    enter(page, "#name-0", "Anna")
    page.click("#begin")
    page.wait("document.querySelector('#player-bottom .name').textContent === 'White: Anna'")
    time = page.run("return import('./page.js').then(({ page }) => page.state.time)")
    assert time == clock(300, 3)


def test_the_only_user_sits_at_the_bottom(page: Browser) -> None:
    top = "document.getElementById('player-top').dataset.side"
    for white, black, side in (("0", "", "0"), ("", "0", "1")):
        tap_menu(page, "new")
        for seat, engine in enumerate((white, black)):
            enter(page, f"#player-{seat}", engine)
        page.click("#begin")
        page.wait(f"{is_open('ask')} || {top} === '{side}'")
        if page.run(f"return {is_open('ask')}"):
            page.click("#ask-yes")
        page.wait(f"{top} === '{side}'")


@pytest.mark.parametrize("width, height", [(1280, 860), (320, 568)])
def test_a_message_is_in_front_of_the_open_dialog(page: Browser, width: int, height: int) -> None:
    page.set_view(width, height, phone=width < 400)
    tap_menu(page, "share")
    page.wait("document.getElementById('share-text').value")
    page.click("#share-text-copy")
    page.wait("!document.getElementById('toast').hidden")
    shot(page, f"toast-{width}")
    in_front = (
        "const box = document.getElementById('toast').getBoundingClientRect();"
        "return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2).id"
    )
    assert page.run(in_front) == "toast"
    page.key("Escape")
    page.wait(f"!{is_open('share')}")
    # The next message is not hidden in the closed dialog.
    page.key("u")
    page.wait("/No move/.test(document.getElementById('toast').textContent)")
    assert page.run(in_front) == "toast"
    expect_refusal(page)


def test_rules_are_explained_without_names_of_the_protocol(page: Browser) -> None:
    tap_menu(page, "new")
    page.run("document.querySelector('#new-dialog details').open = true")
    for variant, words in (
        ("loc", "Nobody flies"), ("multi", "remove two men"), ("morris", "Also called Roman"),
        ("mill", "The usual rules"),
    ):
        enter(page, "#variant", variant)
        assert words in page.text("#rules-words")
        form = page.text("#new-dialog")
        assert not any(name in form for name in ("Plies", "LockedMills", "DoubleMill"))
    shot(page, "rules")
    page.key("Escape")
    begin(page, variant="loc")
    tap_menu(page, "help")
    page.wait("document.querySelectorAll('#rules-list li').length > 5")
    rules = page.text("#rules-list")
    assert "Larry Loc" in rules and "Nobody may fly." in rules
    assert "A man in a mill is never removed." in rules
    assert "After 80 moves of both sides" in rules and "both sides have three men" not in rules
    shot(page, "help")
