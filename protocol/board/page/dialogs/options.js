// The options of an engine, as it declares them; those that take text are not among them.

import { $, COLOURS, element } from "../dom.js";
import { api } from "../net.js";
import { tell } from "../now.js";
import { fill, labelled, show, valueOf } from "./form.js";

export class Options {
  constructor() {
    $("options-seat").addEventListener("change", () => this.loadOptions());
    $("options-go").addEventListener("click", async (event) => {
      event.preventDefault();
      const settings = {};
      for (const input of $("options-list").querySelectorAll("[data-option]")) {
        const value = valueOf(input);
        if (value !== input.dataset.before) settings[input.dataset.option] = value;
      }
      try {
        await api("configure", { seat: Number($("options-seat").value), settings });
        $("options-dialog").close("go");
      } catch (error) {
        $("options-fault").textContent = error.message;
      }
    });
  }

  async open(state) {
    const parts = [...COLOURS, "Analysis"];
    const seats = state.players
      .map((player, seat) => [`${parts[seat]}: ${player.name}`, String(seat), player.engine])
      .filter(([, , engine]) => engine !== null);
    fill($("options-seat"), seats, seats[0][1]);
    this.loadOptions();
    return show($("options-dialog"));
  }

  async loadOptions() {
    $("options-fault").textContent = "";
    $("options-list").textContent = "Asking the engine …";
    const asked = this.asked = {};
    try {
      const { options } = await api("options", { seat: Number($("options-seat").value) });
      // A slow engine may answer after another was asked.
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
      // Some engines write the default in another case than the choice.
      const same = (choice) => choice.toLowerCase() === option.value.toLowerCase();
      fill(input, option.choices.map((choice) => [choice, choice]), option.choices.find(same));
    } else if (option.kind === "check") {
      Object.assign(input, { type: "checkbox", checked: option.value.toLowerCase() === "true" });
    } else if (option.kind === "button") {
      Object.assign(input, { type: "button", textContent: "Press" });
      input.addEventListener("click", async () => {
        try {
          const seat = Number($("options-seat").value);
          await api("configure", { seat, settings: { [option.name]: null } });
          tell(`${option.name}: sent before the engine's next search.`);
        } catch (error) {
          $("options-fault").textContent = error.message;
        }
      });
    } else {
      Object.assign(input, { type: "number", value: option.value });
      if (option.min !== null) input.min = option.min;
      if (option.max !== null) input.max = option.max;
    }
    const row = labelled(option.name, `option-${option.name}`, input);
    if (option.kind !== "button") {
      input.dataset.option = option.name;
      input.dataset.before = valueOf(input);
    }
    if (option.managed) {
      input.disabled = true;
      for (const one of row) one.title = "Set by the board";
    }
    return row;
  }
}
