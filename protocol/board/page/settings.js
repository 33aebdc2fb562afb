// The settings: theme, colour scheme, language and switches; and the menus.

import { fill, on } from "./dialogs/form.js";
import { $ } from "./dom.js";
import { page } from "./page.js";
import { CHOSEN_LANGUAGE, LANGUAGES, t } from "./text.js";

const { dataset } = document.documentElement;

/** Applies and stores a choice of the page's look; "" is the default. */
function choose(name, value) {
  if (value) dataset[name] = value;
  else delete dataset[name];
  localStorage.setItem(name, value);
}

/** The settings that are on or off, and their defaults. */
const SWITCHES = { sound: "on", numbers: "on", confirm: "off" };

/** Returns whether the setting with a name is on. */
export const isOn = (name) => (localStorage.getItem(name) || SWITCHES[name]) === "on";

function showSwitches() {
  for (const name of Object.keys(SWITCHES)) {
    $(name).setAttribute("aria-pressed", String(isOn(name)));
  }
}

/** Turns a setting on or off. */
export function toggle(name) {
  choose(name, isOn(name) ? "off" : "on");
  showSwitches();
}

/** Places a menu below its button, within the page, when it opens. */
function place(menu, button) {
  menu.addEventListener("toggle", ({ newState }) => {
    if (newState !== "open") return;
    const { left, bottom } = button.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = menu;
    const rightmost = document.documentElement.clientWidth - offsetWidth - 8;
    menu.style.left = `${Math.max(8, Math.min(left, rightmost))}px`;
    menu.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - offsetHeight - 8))}px`;
  });
}

/** Fills the settings; makes each button of a menu close it, except for the switches. */
export function prepareSettings() {
  const themes = ["wood", "slate", "paper"].map((name) => [t(`theme.${name}`), name]);
  fill($("theme"), themes, dataset.theme);
  const schemes = ["light", "dark"].map((name) => [t(`scheme.${name}`), name]);
  fill($("scheme"), [[t("scheme.system"), ""], ...schemes], dataset.scheme || "");
  const languages = Object.entries(LANGUAGES)
    .map(([code, { default: { language } }]) => [language, code]);
  fill($("language"), [[t("language.browser"), ""], ...languages], CHOSEN_LANGUAGE);
  on("change", {
    theme: () => choose("theme", $("theme").value),
    scheme: () => choose("scheme", $("scheme").value),
    language: () => {
      localStorage.setItem("language", $("language").value);
      // The game is on the server, so a reload loses nothing.
      page.reloading = true;
      window.location.reload();
    },
  });
  showSwitches();
  place($("game-menu"), $("game-button"));
  for (const menu of document.querySelectorAll("[popover]")) {
    menu.addEventListener("click", ({ target }) => {
      const chosen = target.closest("button:not([aria-pressed])");
      if (chosen && menu.matches(":popover-open")) menu.hidePopover();
    });
  }
}
