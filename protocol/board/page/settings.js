// The settings: theme, colour scheme, language, numbers of the board, sound; and the menus.

import { fill } from "./dialogs/form.js";
import { $ } from "./dom.js";
import { now } from "./now.js";
import { isOn, setSound } from "./sound.js";
import { chooseLanguage, chosenLanguage, LANGUAGES, t } from "./text.js";

const { dataset } = document.documentElement;

/** Stores a value; an empty value removes the stored one. */
function store(key, value) {
  if (value) localStorage.setItem(key, value);
  else localStorage.removeItem(key);
}

/** Shows whether sounds and the numbers of the board are on. */
function showSwitches() {
  $("sound").setAttribute("aria-pressed", String(isOn()));
  $("numbers").setAttribute("aria-pressed", String(dataset.numbers !== "off"));
}

/** Turns sounds on or off. */
export function switchSound() {
  setSound(!isOn());
  showSwitches();
}

/** Shows or hides the letters and numbers beside the board. */
export function switchNumbers() {
  const off = dataset.numbers !== "off";
  if (off) dataset.numbers = "off";
  else delete dataset.numbers;
  store("numbers", off ? "off" : "");
  showSwitches();
}

/** Places a menu below its button, within the page, when it opens. */
function place(menu, button) {
  menu.addEventListener("toggle", ({ newState }) => {
    if (newState !== "open") return;
    const { left, bottom } = button.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = menu;
    const most = document.documentElement.clientWidth - offsetWidth - 8;
    menu.style.left = `${Math.max(8, Math.min(left, most))}px`;
    menu.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - offsetHeight - 8))}px`;
  });
}

/** Fills the settings; makes each button of a menu close the menu, except for the switches. */
export function prepareSettings() {
  const themes = ["wood", "slate", "paper"].map((name) => [t(`theme.${name}`), name]);
  fill($("theme"), themes, dataset.theme);
  const schemes = ["light", "dark"].map((name) => [t(`scheme.${name}`), name]);
  fill($("scheme"), [[t("scheme.system"), ""], ...schemes], dataset.scheme || "");
  const languages = Object.entries(LANGUAGES).map(([code, { language }]) => [language, code]);
  fill($("language"), [[t("language.browser"), ""], ...languages], chosenLanguage());
  $("theme").addEventListener("change", () => {
    dataset.theme = $("theme").value;
    store("theme", dataset.theme);
  });
  $("scheme").addEventListener("change", () => {
    const { value } = $("scheme");
    if (value) dataset.scheme = value;
    else delete dataset.scheme;
    store("scheme", value);
  });
  $("language").addEventListener("change", () => {
    chooseLanguage($("language").value);
    // The game is on the server, so a reload loses nothing.
    now.reloading = true;
    window.location.reload();
  });
  showSwitches();
  place($("game-menu"), $("game-button"));
  for (const menu of document.querySelectorAll("[popover]")) {
    menu.addEventListener("click", ({ target }) => {
      const chosen = target.closest("button") && !target.closest("#sound, #numbers");
      if (chosen && menu.matches(":popover-open")) menu.hidePopover();
    });
  }
}
