"""Accessibility of a screen: names, ids, landmarks, contrast, and size of targets."""

from __future__ import annotations

from tests.kit.webdriver import Browser
from tests.protocol.board.steps import CONTRAST

AUDIT = CONTRAST + """
const faults = [];
const fault = (element, text) => faults.push(
  `${element.id || element.className || element.localName}: ${text}`);
const shown = (element) => element.checkVisibility({visibilityProperty: true});
const top = document.querySelector("dialog:modal, :popover-open");
const all = [...(top || document.body).querySelectorAll("*")].filter(shown);

// Ids are unique, and each reference names an existing id.
const ids = [...document.querySelectorAll("[id]")].map(({id}) => id);
for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) faults.push(`two #${id}`);
for (const id of ids) if (/\\s/.test(id)) faults.push(`#${id} has a space`);
for (const name of ["aria-labelledby", "aria-describedby", "for", "popovertarget"]) {
  for (const element of document.querySelectorAll(`[${name}]`)) {
    for (const id of element.getAttribute(name).split(" ")) {
      if (!document.getElementById(id)) fault(element, `${name} names no ${id}`);
    }
  }
}

// The page has a title, a language, and one each of h1, main and header.
if (!document.title || !document.documentElement.lang) faults.push("no title or no language");
for (const name of ["h1", "main", "header"]) {
  if (document.body.querySelectorAll(name).length !== 1) faults.push(`not one ${name}`);
}
// Every visible element is in a landmark, a dialog or a live region.
if (!top) {
  for (const element of all) {
    const inside = element.closest("header, main, dialog, [role=alert], [role=status], .notice");
    if (!inside) fault(element, "outside of landmarks");
  }
}
let level = 1;
for (const element of all.filter(({localName}) => /^h[1-6]$/.test(localName))) {
  if (Number(element.localName[1]) > level + 1) fault(element, "skips a level of headings");
  level = Number(element.localName[1]);
}

// Roles and lists.
for (const element of all) {
  const {localName, parentNode, tabIndex} = element;
  if (localName === "li" && !/^[ou]l$/.test(parentNode.localName)) fault(element, "not in a list");
  if (tabIndex > 0) fault(element, "positive tabindex");
  const hidden = element.closest("[aria-hidden=true]");
  if (hidden && tabIndex >= 0) fault(element, "hidden, but focusable");
}
// The size of targets, in pixels.
for (const element of all) {
  if (!element.matches("button, select, input, textarea, summary")) continue;
  const {width, height} = (element.closest("label") || element).getBoundingClientRect();
  if (width && Math.min(width, height) < 24) fault(element, `target of ${width} x ${height}`);
}

// The contrast of texts.
const blend = ([r, g, b], [x, y, z], opacity) =>
  [[r, x], [g, y], [b, z]].map(([front, back]) => opacity * front + (1 - opacity) * back);
const chainOf = (element) => (element ? [element, ...chainOf(element.parentElement)] : []);
for (const element of all) {
  const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const isField = element.matches("textarea, select, input:not([type=radio], [type=checkbox],"
    + " [type=range])");
  if (!hasText && !isField) continue;
  const {color, fontSize} = getComputedStyle(element);
  if (element.closest("svg, :disabled, option") || fontSize === "0px") continue;
  let background = [255, 255, 255];
  let opacity = 1;
  for (const part of chainOf(element).reverse()) {
    const style = getComputedStyle(part);
    opacity *= Number(style.opacity);
    const colour = channels(style.backgroundColor);
    background = blend(colour, background, colour[3] * opacity);
  }
  const text = blend(channels(color), background, opacity);
  const ratio = contrast(text, background);
  if (ratio < 4.5) fault(element, `contrast ${ratio.toFixed(2)}`);
}
return [...new Set(faults)];
"""
NAMED = (
    "button", "switch", "meter", "combobox", "heading", "dialog", "alertdialog", "textbox",
    "searchbox", "slider", "radio", "checkbox", "img", "radiogroup",
)
"""Roles whose elements need a name."""


def accessibility_faults(page: Browser, width: int, height: int) -> list[str]:
    """Return the faults of the screen that is shown, in light and dark colours."""
    faults: list[str] = []
    for dark in (False, True):
        page.set_view(width, height, phone=width < 1000, dark=dark, still=True)
        colours = "dark" if dark else "light"
        faults += [f"{colours}: {fault}" for fault in page.run(AUDIT)]
    page.set_view(width, height, phone=width < 1000)
    return faults + [f"a {role} without a name"
                     for role, label in page.accessibility_tree() if role in NAMED and not label]
