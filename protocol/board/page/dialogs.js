// The dialogs: new game, open, save and engine options.

import { $, COLOURS, element } from "./dom.js";
import { api } from "./net.js";

const TIMES = [
  ...[0.1, 0.5, 1, 3, 10].map((seconds) => [`${seconds} s per move`, { kind: "move", seconds }]),
  ...[[60, 1], [180, 2], [600, 5]].map(([base, increment]) =>
    [`${base / 60} min + ${increment} s`, { kind: "clock", base, increment }]),
];

function fill(select, choices, chosen) {
  const options = choices.map(([text, value]) => new Option(text, value, false, value === chosen));
  select.replaceChildren(...options);
}

/** An input with its label, for the two columns of a form. */
function labelled(text, id, input) {
  input.id = id;
  return [element("label", { for: id }, text), input];
}

/** A field's value as the protocol writes it. */
function valueOf(input) {
  return input.type === "checkbox" ? String(input.checked) : input.value;
}

/** Shows a dialog and resolves with the value of the button that closed it. */
function show(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}

export class Dialogs {
  constructor(about, tell) {
    Object.assign(this, { about, tell });
    $("variant").addEventListener("change", () => this.showFields($("variant").value));
    for (const side of [0, 1]) {
      $(`player-${side}`).addEventListener("change", () => this.showLevels());
    }
    // Enter presses the one submit button; the other buttons just close the dialog.
    for (const button of document.querySelectorAll("dialog button[type=button][value]")) {
      button.addEventListener("click", () => button.closest("dialog").close(button.value));
    }
    this.prepareImport();
    this.prepareExport();
    this.prepareOptions();
  }

  // A new game.

  /** `onBegin` is called with the players once the new game has begun. */
  async newGame(state, onBegin) {
    const engines = this.about.engines.map((engine, index) => [engine.name, String(index)]);
    state.players.forEach((player, seat) => {
      const choices = seat < 2 ? [["You", ""], ...engines] : engines;
      fill($(`player-${seat}`), choices, player.engine === null ? "" : String(player.engine));
      if (seat < 2) {
        const levels = this.about.levels.map(({ name, elo }) => [`${name} (${elo})`, name]);
        const level = player.engine === null && player.level === "full" ? "Club" : player.level;
        fill($(`level-${seat}`), [...levels, ["Full strength", "full"]], level);
      }
    });
    const now = JSON.stringify(state.time);
    const time = TIMES.findIndex(([, value]) => JSON.stringify(value) === now);
    fill($("time"), TIMES.map(([text], index) => [text, String(index)]), String(Math.max(0, time)));
    const variants = Object.keys(this.about.variants).map((name) => [name, name]);
    fill($("variant"), variants, state.rules.variant);
    this.showFields(state.rules.variant, state.rules.fields);
    this.showLevels();
    const end = await show($("new-dialog"));
    const players = [0, 1, 2].map((seat) => {
      const engine = $(`player-${seat}`).value;
      if (engine === "") return { engine: null };
      return { engine: Number(engine), level: seat < 2 ? $(`level-${seat}`).value : "full" };
    });
    const wanted = { players, time: TIMES[Number($("time").value)][1] };
    if (end === "begin") {
      await api("new", { ...wanted, ...this.rules() });
      onBegin(players);
    }
    if (end === "apply") await api("players", wanted);
  }

  showLevels() {
    for (const side of [0, 1]) {
      const engine = $(`player-${side}`).value;
      $(`level-${side}`).hidden = engine === "" || !this.about.engines[Number(engine)].levels;
    }
  }

  showFields(variant, values = this.about.variants[variant]) {
    const rows = this.about.fields.flatMap((field) => {
      const input = element(field.choices.length ? "select" : "input");
      if (field.choices.length) {
        fill(input, field.choices.map((choice) => [choice, choice]), values[field.name]);
      } else {
        Object.assign(input, { type: "number", min: 0, max: field.max, value: values[field.name] });
      }
      return labelled(field.name, `field-${field.name}`, input);
    });
    $("fields").replaceChildren(...rows);
  }

  /** The chosen rules: a rule set, and the fields that differ from it. */
  rules() {
    const variant = $("variant").value;
    const fields = {};
    for (const field of this.about.fields) {
      const value = $(`field-${field.name}`).value;
      if (value !== String(this.about.variants[variant][field.name])) fields[field.name] = value;
    }
    return { variant, fields };
  }

  // Opening. The dialog stays open after an error, so that the text can be corrected.

  prepareImport() {
    $("import-file").addEventListener("change", async () => {
      const [file] = $("import-file").files;
      if (file) $("import-text").value = await file.slice(0, 1 << 20).text();
    });
    $("import-go").addEventListener("click", async (event) => {
      event.preventDefault();
      try {
        await api("load", { text: $("import-text").value, ...this.current });
        $("import-dialog").close("go");
      } catch (error) {
        $("import-fault").textContent = error.message;
      }
    });
  }

  async open(state) {
    // A text that names no rules is read under those of the current game.
    const { variant, fields } = state.rules;
    this.current = { variant, fields };
    $("import-fault").textContent = "";
    $("import-file").value = "";
    return show($("import-dialog"));
  }

  // Saving.

  prepareExport() {
    $("export-form").addEventListener("change", () => {
      $("export-text").value = this.forms[$("export-form").value];
    });
    $("export-copy").addEventListener("click", async () => {
      $("export-text").select();
      try {
        await navigator.clipboard.writeText($("export-text").value);
        this.tell("Copied.");
      } catch {
        this.tell("The browser does not let this page copy. The text is selected: press Ctrl-C.");
      }
    });
    $("export-file").addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([$("export-text").value], { type: "text/plain" }));
      link.download = $("export-form").value === "record" ? "game.pgn" : "game.txt";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  async save() {
    this.forms = await api("export");
    const forms = [
      ["Game record (PGN)", "record"], ["Position", "position"],
      ["Position, 17 fields", "seventeen"], ["PlayOK record", "playok"],
    ];
    fill($("export-form"), forms.filter(([, name]) => name in this.forms), "record");
    $("export-text").value = this.forms.record;
    return show($("export-dialog"));
  }

  // Engine options, as the engine declares them.

  prepareOptions() {
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

  async options(state) {
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
    } else if (option.kind === "spin") {
      Object.assign(input, { type: "number", value: option.value });
      if (option.min !== null) input.min = option.min;
      if (option.max !== null) input.max = option.max;
    } else if (option.kind === "button") {
      Object.assign(input, { type: "button", textContent: "Press" });
      input.addEventListener("click", async () => {
        try {
          const seat = Number($("options-seat").value);
          await api("configure", { seat, settings: { [option.name]: null } });
          this.tell(`${option.name}: sent before the engine's next search.`);
        } catch (error) {
          $("options-fault").textContent = error.message;
        }
      });
    } else {
      Object.assign(input, { type: "text", value: option.value });
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
