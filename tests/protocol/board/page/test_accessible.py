"""Accessibility of every screen: names, ids, landmarks, contrast, and size of targets."""

from __future__ import annotations

import pytest

from tests.protocol.board.screens import tour
from tests.protocol.board.webdriver import Browser

AUDIT = """
const faults = [];
const fault = (one, text) => faults.push(
  `${one.id || one.className || one.localName}: ${text}`);
const shown = (one) => one.checkVisibility({visibilityProperty: true});
const top = document.querySelector("dialog:modal, :popover-open");
const all = [...(top || document.body).querySelectorAll("*")].filter(shown);

// Ids are unique, and references to them lead somewhere.
const ids = [...document.querySelectorAll("[id]")].map(({id}) => id);
for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) faults.push(`two #${id}`);
for (const id of ids) if (/\\s/.test(id)) faults.push(`#${id} has a space`);
for (const name of ["aria-labelledby", "aria-describedby", "for", "popovertarget"]) {
  for (const one of document.querySelectorAll(`[${name}]`)) {
    for (const id of one.getAttribute(name).split(" ")) {
      if (!document.getElementById(id)) fault(one, `${name} names no ${id}`);
    }
  }
}

// One page title, language, heading of the first level and main part.
if (!document.title || !document.documentElement.lang) faults.push("no title or no language");
for (const name of ["h1", "main", "header"]) {
  if (document.body.querySelectorAll(name).length !== 1) faults.push(`not one ${name}`);
}
// Everything visible is in a part that a screen reader can jump to.
if (!top) {
  for (const one of all) {
    const inside = one.closest("header, main, dialog, [role=alert], [role=status], .notice");
    if (!inside) fault(one, "outside of the page's parts");
  }
}
let level = 1;
for (const one of all.filter(({localName}) => /^h[1-6]$/.test(localName))) {
  if (Number(one.localName[1]) > level + 1) fault(one, "skips a level of headings");
  level = Number(one.localName[1]);
}

// Roles and lists.
for (const one of all) {
  if (one.localName === "li" && !/^[ou]l$/.test(one.parentNode.localName)) fault(one, "no list");
  if (one.tabIndex > 0) fault(one, "changes the order of the keys");
  if (one.closest("[aria-hidden=true]") && one.tabIndex >= 0) fault(one, "hidden, but focusable");
}
// The size of targets, in pixels.
for (const one of all.filter((each) => each.matches("button, select, input, textarea, summary"))) {
  const {width, height} = (one.closest("label") || one).getBoundingClientRect();
  if (width && Math.min(width, height) < 24) fault(one, `target of ${width} x ${height}`);
}

// The contrast of texts.
const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const channels = (colour) => {
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
};
const over = ([r, g, b], [x, y, z], share) =>
  [[r, x], [g, y], [b, z]].map(([front, back]) => share * front + (1 - share) * back);
const light = (parts) => {
  const [r, g, b] = parts.map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const chainOf = (one) => (one ? [one, ...chainOf(one.parentElement)] : []);
for (const one of all) {
  const hasText = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const isField = one.matches("textarea, select, input:not([type=radio], [type=checkbox],"
    + " [type=range])");
  if (!hasText && !isField) continue;
  if (one.closest("svg, :disabled, option") || getComputedStyle(one).fontSize === "0px") continue;
  const chain = chainOf(one);
  let ground = [255, 255, 255];
  let share = 1;
  for (const part of [...chain].reverse()) {
    const style = getComputedStyle(part);
    share *= Number(style.opacity);
    const colour = channels(style.backgroundColor);
    ground = over(colour, ground, colour[3] * share);
  }
  const text = over(channels(getComputedStyle(one).color), ground, share);
  const [low, high] = [light(text), light(ground)].sort((a, b) => a - b);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < 4.5) fault(one, `contrast ${ratio.toFixed(2)}`);
}
return [...new Set(faults)];
"""
NAMED = (
    "button", "switch", "meter", "combobox", "heading", "dialog", "alertdialog", "textbox",
    "searchbox", "slider", "radio", "checkbox", "img", "radiogroup",
)
"""Roles whose elements need a name."""


@pytest.mark.parametrize(("width", "height"), [(1366, 650), (390, 844)])
def test_every_screen_is_accessible(page: Browser, width: int, height: int) -> None:
    page.set_view(width, height, phone=width < 1000)
    page.open(page.run("sessionStorage.clear(); return location.href"))
    faults = []
    for name in tour(page):
        for dark in (False, True):
            page.set_view(width, height, phone=width < 1000, dark=dark, still=True)
            faults += [f"{name}, {'dark' if dark else 'light'}: {fault}"
                       for fault in page.run(AUDIT)]
        page.set_view(width, height, phone=width < 1000)
        faults += [f"{name}: a {role} without a name" for role, spoken in page.spoken()
                   if role in NAMED and not spoken]
    assert faults == [], "\n".join(faults)
