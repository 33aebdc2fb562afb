"""Actions of a user on the page, and inspections of the page."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from merels.protocol.board.session import Session
from tests.kit.webdriver import Browser

SHOTS = os.environ.get("MERELS_SCREENSHOTS")
"""Folder for screenshots, or None to save none."""

PERSON: dict[str, Any] = {"engine": None}
BEGINNER = {"engine": 0, "level": "Beginner"}
ANALYST = {"engine": 0}
BUSY = {"engine": 2}
"""The fake engine `BUSY` in the fixture `server`."""
MUTE = {"engine": 3}
"""The engine of the fixture `server` that never moves."""
FLYERS = "********/O***@***/O***@@*O w 0 0 0 9"
"""White wins by closing a mill; the small tables have the value of every move."""


def trace(session: Session, part: int = 1) -> list[str]:
    """Return a list that gets the lines to and from the engines that a seat starts from now on.

    A line begins with ``>`` if it was sent to the engine, and with ``<`` if the engine wrote it.
    """
    lines: list[str] = []
    receive = session.seats[part].trace

    def add(direction: str, data: bytes) -> None:
        lines.extend(f"{direction}{line}" for line in data.decode().splitlines())
        receive(direction, data)

    session.seats[part].trace = add
    return lines


def clock(base: float, increment: float = 0.0) -> dict[str, Any]:
    """Return the time control of a clock, in seconds, as a request has it."""
    return {"kind": "clock", "base": base, "increment": increment}


def shot(page: Browser, name: str) -> None:
    """Save a screenshot if `SHOTS` is set; assert that nothing is cut off or overlaps."""
    page.run(END_OF_MOTION)
    if SHOTS:
        page.screenshot(Path(SHOTS) / f"{name}.png")
    faults = page.run(OVERLAPS)
    assert not faults, faults


END_OF_MOTION = """
const nextFrame = () => new Promise((done) => { requestAnimationFrame(done); });
return nextFrame().then(nextFrame).then(() => Promise.allSettled(
  document.getAnimations()
    .filter(({effect}) => effect.getComputedTiming().iterations !== Infinity)
    .map(({finished}) => finished))).then(() => null);
"""
"""JavaScript that returns once the page is drawn and its animations have ended."""

CONTRAST = """
const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const channels = (colour) => {
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
};
const luminance = (parts) => {
  const [r, g, b] = parts.map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
"""
"""JavaScript functions for the contrast of two colours, as WCAG defines it."""

OVERLAPS = """
const faults = [];
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
if (wide > 0) faults.push(`the page is ${wide} pixels too wide`);
const open = document.querySelector("dialog:modal, :popover-open");
const table = document.querySelector(".table");
const covered = !open && table && getComputedStyle(table).position === "sticky"
  ? table.getBoundingClientRect().bottom : -Infinity;
const boxes = [...(open || document).querySelectorAll(
  "button, select, input, textarea, h1, h2, summary, .player > *, #status, #board, .toast")]
  .filter((element) => element.checkVisibility(
    {contentVisibilityAuto: true, visibilityProperty: true})
    && !element.closest("#moves, #lines, #explorer, .scroll, .segments, dialog .ends")
    && (!element.closest(".buttons")
        || getComputedStyle(element.closest(".buttons")).position !== "sticky"))
  .map((element) => [element, element.getBoundingClientRect()])
  .filter(([, box]) => box.width && box.height)
  // On a phone the rest scrolls below the board, which stays.
  .filter(([element, box]) => element.closest(".table, header") || box.top >= covered)
  .filter(([element, box]) => {
    const column = element.closest("aside");
    if (!column || getComputedStyle(column).overflowY === "visible") return true;
    const { top, bottom } = column.getBoundingClientRect();
    return box.top >= top - 1 && box.bottom <= bottom + 1;
  });
for (const [element, box] of boxes) {
  const name = element.id || element.textContent.trim() || element.className;
  if (box.left < 0 || box.right > document.documentElement.clientWidth + 1) {
    faults.push(`${name} is cut off`);
  }
  if (element.tagName === "BUTTON" && element.scrollWidth > element.clientWidth + 1) {
    faults.push(`${name} is too narrow`);
  }
  for (const [other, its] of boxes) {
    if (other === element || element.contains(other) || other.contains(element)) continue;
    const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
    const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
    if (across > 1 && down > 1) faults.push(`${name} overlaps ${other.id || other.textContent}`);
  }
}
return faults;
"""


def ask(page: Browser, action: str, **body: Any) -> Any:
    """Send a request from the page and return its answer."""
    return page.run(
        """return fetch("api/" + arguments[0], {method: "POST",
             headers: {"Content-Type": "application/json"},
             body: JSON.stringify({session: sessionStorage.board, ...arguments[1]})})
           .then((answer) => answer.json())""",
        action, body,
    )


def stop_engines(page: Browser) -> None:
    """Stop the engines of the page's board, which continue for 20 seconds after a page is left."""
    with suppress(RuntimeError):  # The page may be no board, or its server may have ended.
        if page.run("return sessionStorage.board"):
            ask(page, "pause", on=True)
            # Analysis and play have separate settings of the evaluation.
            ask(page, "evaluation", on=False)
            ask(page, "analyse", on=False)
            ask(page, "evaluation", on=False)
            ask(page, "review", on=False)
            console_errors(page)  # A finished game refuses to leave the analysis.


def begin(page: Browser, white: Any = PERSON, black: Any = PERSON, **more: Any) -> None:
    """Begin a game by a request, and wait until the page shows it."""
    players = [white, black, ANALYST]
    assert ask(page, "new", players=players, time={"kind": "move", "seconds": 0.1}, **more) == {}
    person = "Player" if white == PERSON else "You"
    name = person if black == PERSON else f"merels ({black['level']})".replace(" (full)", "")
    # The previous game may have had the same players.
    empty = "document.querySelectorAll('#moves button').length === 0" if white == PERSON else "true"
    page.wait(
        f"document.querySelector('#player-top .name').textContent === 'Black: {name}' && {empty}"
    )


def moves(page: Browser) -> list[str]:
    """Return the moves that the page lists."""
    texts: list[str] = page.run(
        "return [...document.querySelectorAll('#moves button')].map((button) => button.textContent)"
    )
    return texts


def click(page: Browser, *points: str) -> None:
    """Click points of the board."""
    for point in points:
        page.click(f"[data-point={point}] .hit")


def play(page: Browser, *points: str) -> None:
    """Click a whole move, and wait until it is in the list."""
    count = len(moves(page))
    click(page, *points)
    page.wait(f"document.querySelectorAll('#moves button').length > {count}")


def is_open(name: str) -> str:
    """Return a JavaScript condition: a dialog is open."""
    return f"document.getElementById('{name}-dialog').open"


def set_hidden(page: Browser, hidden: bool) -> None:
    """Make the page see that its tab is hidden, or shown again."""
    page.run(
        "Object.defineProperty(document, 'hidden', {value: arguments[0], configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'));", hidden,
    )


def enter(page: Browser, selector: str, value: str) -> None:
    """Focus a field and replace its value."""
    page.run(
        """const field = document.querySelector(arguments[0]);
           field.focus(); field.value = arguments[1]; field.dispatchEvent(new Event("change"));""",
        selector, value,
    )


def load(page: Browser, text: str) -> None:
    """Open a game or a position with the import dialog; confirm leaving the current game."""
    tap_menu(page, "import")
    enter(page, "#import-text", text)
    page.click("#import-go")
    if page.run(f"return {is_open('ask')}"):
        page.click("#ask-yes")
    # Until the server has answered, the dialog covers the page.
    page.wait(
        f"!{is_open('import')} || document.getElementById('import-fault').textContent || "
        "!document.getElementById('import-several').hidden"
    )


def tap_menu(page: Browser, name: str) -> None:
    """Press a button; if it is hidden in a menu, open the menu first."""
    if name == "new" and page.run("return document.getElementById('new-dialog').open"):
        return  # The form is already open beside the board.
    menu = page.run(
        """const button = document.getElementById(arguments[0]);
           return button.checkVisibility() ? null : button.closest("[popover]")?.id""", name,
    )
    if menu:
        page.click(f"[popovertarget={menu}]")
    page.click(f"#{name}")


def console_errors(page: Browser) -> list[str]:
    """Return the console errors since the last call, except for the missing default icon."""
    return [text for text in page.messages() if "/favicon.ico" not in text]


def expect_refusal(page: Browser) -> None:
    """Assert that the console errors are those of refused requests, and discard them."""
    errors = console_errors(page)
    assert errors and all("/api/" in text for text in errors), errors
