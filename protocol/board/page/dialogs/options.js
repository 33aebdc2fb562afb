// The dialog of an engine's options. The server leaves out options that take text.

import { $, element } from "../dom.js";
import { api } from "../net.js";
import { showMessage } from "../now.js";
import { fromServer, SIDES, t } from "../text.js";
import { attempt, fill, labelled, show } from "./form.js";

/** Returns a field's value in the form of the protocol. */
const textOf = (input) => (input.type === "checkbox" ? String(input.checked) : input.value);

export class Options {
  constructor() {
    $("options-seat").addEventListener("change", () => this.loadOptions());
    $("options-go").addEventListener("click", (event) => {
      event.preventDefault();
      const settings = {};
      for (const input of $("options-list").querySelectorAll("[data-option]")) {
        const value = textOf(input);
        if (value !== input.dataset.before) settings[input.dataset.option] = value;
      }
      this.configure(settings, () => $("options-dialog").close("go"));
    });
  }

  async open(state) {
    const seatNames = [...SIDES, t("part.analysis")];
    const seats = state.players
      .map(({ name, engine }, seat) => [
        t("player", { side: seatNames[seat], name: fromServer(name) }), String(seat), engine,
      ])
      .filter(([, , engine]) => engine !== null);
    fill($("options-seat"), seats, seats[0][1]);
    this.loadOptions();
    return show($("options-dialog"));
  }

  /** Sets options of the chosen engine; calls `then` if the server accepts them. */
  configure(settings, then) {
    return attempt("options-fault", async () => {
      await api("configure", { seat: Number($("options-seat").value), settings });
      then();
    });
  }

  async loadOptions() {
    $("options-fault").textContent = "";
    $("options-list").textContent = t("options.loading");
    const asked = this.asked = {};
    try {
      const { options } = await api("options", { seat: Number($("options-seat").value) });
      // Ignore a late answer if the user has chosen another engine.
      if (asked !== this.asked) return;
      $("options-list").replaceChildren(...options.flatMap((option) => this.optionRow(option)));
    } catch (error) {
      if (asked !== this.asked) return;
      $("options-list").textContent = "";
      $("options-fault").textContent = error.message;
    }
  }

  optionRow(option) {
    const tags = { combo: "select", button: "button" };
    const input = element(tags[option.kind] || "input");
    if (option.kind === "combo") {
      // The default may differ from its choice in upper and lower case.
      const same = (choice) => choice.toLowerCase() === option.value.toLowerCase();
      fill(input, option.choices.map((choice) => [choice, choice]), option.choices.find(same));
    } else if (option.kind === "check") {
      Object.assign(input, { type: "checkbox", checked: option.value.toLowerCase() === "true" });
    } else if (option.kind === "button") {
      Object.assign(input, { type: "button", textContent: t("options.press") });
      input.addEventListener("click", () => this.configure(
        { [option.name]: null }, () => showMessage(t("options.pressed", { name: option.name })),
      ));
    } else {
      Object.assign(input, { type: "number", value: option.value });
      if (option.min !== null) input.min = option.min;
      if (option.max !== null) input.max = option.max;
    }
    // An id contains no space, but the name of an option may.
    const row = labelled(option.name, `option-${option.name.replaceAll(" ", "_")}`, input);
    if (option.kind !== "button") {
      input.dataset.option = option.name;
      input.dataset.before = textOf(input);
    }
    if (option.managed) {
      input.disabled = true;
      for (const part of row) part.title = t("options.managed");
    }
    return row;
  }
}
