// The dialog that begins a game or changes its players.

import { $, element } from "../dom.js";
import { api } from "../net.js";
import { confirmLeaving } from "../now.js";
import { answer, question, source, title } from "../rules.js";
import { t } from "../text.js";
import { fill, labelled, show } from "./form.js";

const TIMES = [
  ...[0.1, 0.5, 1, 3, 10]
    .map((seconds) => [t("time.move", { seconds }), { kind: "move", seconds }]),
  ...[[60, 1], [180, 2], [600, 5]].map(([base, increment]) =>
    [t("time.clock", { minutes: base / 60, increment }), { kind: "clock", base, increment }]),
];

export class NewGame {
  constructor(about) {
    this.about = about;
    $("variant").addEventListener("change", () => this.showFields($("variant").value));
    for (const side of [0, 1]) {
      $(`player-${side}`).addEventListener("change", () => this.showLevels());
    }
  }

  /** Shows the dialog and applies it; `onBegin` is called with the players of a new game. */
  async open(state, onBegin) {
    const engines = this.about.engines.map((engine, index) => [engine.name, String(index)]);
    state.players.forEach((player, seat) => {
      const choices = seat < 2 ? [[t("new.person"), ""], ...engines] : engines;
      fill($(`player-${seat}`), choices, player.engine === null ? "" : String(player.engine));
      if (seat < 2) {
        const levels = this.about.levels.map(({ name, elo }) => [`${name} (${elo})`, name]);
        const level = player.engine === null && player.level === "full" ? "Club" : player.level;
        $(`name-${seat}`).value = player.typed;
        fill($(`level-${seat}`), [...levels, [t("new.full"), "full"]], level);
      }
    });
    const now = JSON.stringify(state.time);
    const time = TIMES.findIndex(([, value]) => JSON.stringify(value) === now);
    fill($("time"), TIMES.map(([text], index) => [text, String(index)]), String(Math.max(0, time)));
    const variants = Object.keys(this.about.variants)
      .map((name) => [title(name), name]);
    fill($("variant"), variants, state.rules.variant);
    this.showFields(state.rules.variant, state.rules.fields);
    this.showLevels();
    const end = await show($("new-dialog"));
    const players = [0, 1, 2].map((seat) => {
      const engine = $(`player-${seat}`).value;
      if (engine === "") return { engine: null, name: $(`name-${seat}`).value };
      return { engine: Number(engine), level: seat < 2 ? $(`level-${seat}`).value : "full" };
    });
    const settings = { players, time: TIMES[Number($("time").value)][1] };
    if (end === "begin" && await confirmLeaving()) {
      await this.begin(settings);
      onBegin(players);
    }
    if (end === "apply") await api("players", settings);
  }

  /** Begins a game; an error names a rule by its question in the dialog. */
  async begin(settings) {
    try {
      await api("new", { ...settings, ...this.rules() });
    } catch (error) {
      const named = (text, { name }) => text.replaceAll(name, `“${question(name)}”`);
      throw new Error(this.about.fields.reduce(named, error.message));
    }
  }

  showLevels() {
    for (const side of [0, 1]) {
      const engine = $(`player-${side}`).value;
      $(`name-${side}`).hidden = engine !== "";
      $(`level-${side}`).hidden = engine === "" || !this.about.engines[Number(engine)].levels;
    }
  }

  showFields(variant, values = this.about.variants[variant]) {
    const rows = this.about.fields.flatMap((field) => {
      const input = element(field.choices.length ? "select" : "input");
      if (field.choices.length) {
        const choices = field.choices.map((choice) => [answer(field.name, choice), choice]);
        fill(input, choices, values[field.name]);
      } else {
        Object.assign(input, { type: "number", min: 0, max: field.max, value: values[field.name] });
      }
      return labelled(question(field.name), `field-${field.name}`, input);
    });
    $("fields").replaceChildren(...rows);
    $("rules-words").textContent = source(variant);
  }

  /** Returns the chosen rule set, and the fields that differ from it. */
  rules() {
    const variant = $("variant").value;
    const fields = {};
    for (const field of this.about.fields) {
      const value = $(`field-${field.name}`).value;
      if (value !== String(this.about.variants[variant][field.name])) fields[field.name] = value;
    }
    return { variant, fields };
  }
}
