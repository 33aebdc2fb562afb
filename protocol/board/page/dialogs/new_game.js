// The start of a game: the level, the colour, the time and the rules; more under "Other players".

import { $, element } from "../dom.js";
import { api } from "../net.js";
import { confirmLeaving } from "../page.js";
import { answer, question, summary, title } from "../rules.js";
import { fromServer, SIDES, t } from "../text.js";
import { chosen, fill, fillRadios, labelled, on, show } from "./form.js";

const TIMES = [
  ...[0.1, 0.5, 1, 3, 10].map((seconds) => ({ kind: "move", seconds })),
  ...[[60, 1], [180, 2], [600, 5]].map(([base, increment]) => ({ kind: "clock", base, increment })),
];
/** Key of the last choices in the browser's storage. */
const KEY = "start";
const RANDOM = "random";


/** Returns the text of a time control. */
const timeText = ({ kind, seconds, base, increment }) => (kind === "move"
  ? t("time.move", { seconds })
  : t("time.clock", { minutes: base / 60, increment }));

/** Returns the choices of the last game started with this form. */
function remembered() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) || {};
  } catch {
    return {};
  }
}

/**
 * The form. Its quick part has the level and the colour of a game of one user against merels; the
 * part "Other players" has an engine or a person for each side, and the analysis engine.
 */
export class NewGame {
  /** `onChange` is called after a change of the players. */
  constructor(about, onChange) {
    this.about = about;
    this.onChange = onChange;
    /** The index of merels among the engines, as a text. */
    this.ownEngine = String(about.engines.findIndex(({ levels }) => levels));
    /** The levels of merels, the weakest first; the last one is full strength. */
    this.levels = [
      ...about.levels.map(({ name, elo }) => [name, `${fromServer(name)} · ${elo}`]),
      ["full", t("new.full")],
    ];
    /** The user's wins, draws and losses against each level, by its name. */
    this.scores = {};
    $("level").max = about.levels.length;
    $("seats").replaceChildren(...[0, 1].flatMap((seat) => this.seatFields(seat)),
      ...labelled(fromServer("Analysis"), "player-2", element("select")));
    fillRadios("colour", [[SIDES[0], "0"], [t("start.random"), RANDOM], [SIDES[1], "1"]]);
    on("input", { level: () => this.choose() });
    on("click", { begin: ({ detail }) => { this.byKey = detail === 0; } });
    on("change", {
      colour: () => this.choose(), variant: () => this.showFields($("variant").value),
      "player-0": () => this.showLevels(), "player-1": () => this.showLevels(),
      "level-0": () => this.showQuick(), "level-1": () => this.showQuick(),
    });
  }

  /** Returns the fields of a player: an engine or a person, the level, and the name. */
  seatFields(seat) {
    const side = SIDES[seat];
    const [label, player] = labelled(side, `player-${seat}`, element("select"));
    const level = element("select", {
      id: `level-${seat}`, "aria-label": t("new.level", { side }),
    });
    const words = t("new.name", { side });
    const name = element("input", {
      id: `name-${seat}`, "aria-label": words, placeholder: words, maxlength: 60,
    });
    return [label, element("div", { class: "pair" }, player, level, name)];
  }

  /**
   * Shows the dialog and applies it; `onBegin` is called with the players of a new game. With
   * `beside` it is shown beside the board, with the choices of the last game. Resolves with whether
   * a game was begun by the keyboard.
   */
  async open(state, onBegin, beside = false) {
    if ($("new-dialog").open) {
      $("level").focus();
      return false;
    }
    this.prepare(state, beside ? remembered() : {});
    api("scores").then((scores) => {
      this.scores = scores;
      this.showQuick();
    }).catch(() => {});
    const button = await show("new", beside);
    if (button === "begin" && await confirmLeaving()) {
      const settings = this.settings();
      await this.begin(settings);
      this.remember();
      onBegin(settings.players);
    }
    return button === "begin" && this.byKey;
  }

  /** Returns the chosen players as the server describes them. */
  players() {
    const { players } = this.settings(this.quickSide());
    return players.map(({ engine, level, name }, seat) => {
      if (name) return { engine, name };
      if (engine === null) {
        return { engine, name: [players[1 - seat].engine === null ? "Player" : "You", {}] };
      }
      const { name: program, levels } = this.about.engines[engine];
      const hasLevel = levels && level !== "full";
      return { engine, name: hasLevel ? ["merels ({level})", { level }] : program };
    });
  }

  /** Fills the fields with the settings of a game, or with the choices of an earlier one. */
  prepare(state, { level, side, time, variant }) {
    const engines = this.about.engines.map((engine, index) => [engine.name, String(index)]);
    state.players.forEach((player, seat) => {
      const choices = seat < 2 ? [[t("new.person"), ""], ...engines] : engines;
      fill($(`player-${seat}`), choices, player.engine === null ? "" : String(player.engine));
      if (seat < 2) {
        const levels = this.levels.map(([name, text]) => [text, name]);
        // An engine that replaces a person begins with Club, not with full strength.
        const current = player.engine === null && player.level === "full" ? "Club" : player.level;
        $(`name-${seat}`).value = player.typed;
        fill($(`level-${seat}`), levels, current);
      }
    });
    const current = time || state.time;
    const isCurrent = (offered) => JSON.stringify(offered) === JSON.stringify(current);
    this.times = TIMES.some(isCurrent) ? TIMES : [...TIMES, current];
    const times = this.times.map((offered, index) => [timeText(offered), String(index)]);
    fill($("time"), times, String(this.times.findIndex(isCurrent)));
    // Roman has the rules of Morris under another name.
    const names = Object.keys(this.about.variants)
      .filter((name) => name !== "roman" || [variant, state.rules.variant].includes(name));
    const variants = names.sort((a, b) => (b === "mill") - (a === "mill"))
      .map((name) => [title(name), name]);
    const isKnown = variant in this.about.variants;
    fill($("variant"), variants, isKnown ? variant : state.rules.variant);
    if (isKnown) this.showFields(variant);
    else this.showFields(state.rules.variant, state.rules.fields);
    this.showLevels();
    $("new-more").open = this.quickSide() === null;
    if (level in this.levels) {
      $("level").value = level;
      $(`colour-${side}`).checked = true;
      this.choose();
    }
  }

  /** Returns the side of the only user if the opponent is merels, otherwise null. */
  quickSide() {
    const users = [0, 1].filter((side) => $(`player-${side}`).value === "");
    const isQuick = users.length === 1
      && $(`player-${1 - users[0]}`).value === this.ownEngine;
    return isQuick ? users[0] : null;
  }

  /** Applies the chosen level and colour to the players. */
  choose() {
    const user = chosen("colour") === "1" ? 1 : 0;
    $(`player-${user}`).value = "";
    $(`player-${1 - user}`).value = this.ownEngine;
    $(`level-${1 - user}`).value = this.levels[$("level").value][0];
    this.showLevels();
  }

  /** Shows the players' level and colour in the quick part. */
  showQuick() {
    const side = this.quickSide();
    $("quick").classList.toggle("off", side === null);
    if (side !== null) {
      const { value } = $(`level-${1 - side}`);
      $("level").value = this.levels.findIndex(([name]) => name === value);
      if (chosen("colour") !== RANDOM) $(`colour-${side}`).checked = true;
    }
    const [name, text] = this.levels[$("level").value];
    $("level-name").textContent = text;
    $("level").setAttribute("aria-valuetext", text);
    $("level-style").textContent = t(`level.${name}`);
    const [wins, draws, losses] = this.scores[name] || [];
    $("level-score").textContent = wins === undefined ? ""
      : t("start.score", { wins, draws, losses });
    this.onChange();
  }

  /** Returns `quickSide`, or a random side if that is chosen. */
  side() {
    const side = this.quickSide();
    return side !== null && chosen("colour") === RANDOM ? Number(Math.random() < 0.5) : side;
  }

  /** Returns the chosen players and time; against a level, the user has the colour `user`. */
  settings(user = this.side()) {
    const isSwapped = this.quickSide() !== null && this.quickSide() !== user;
    const seats = isSwapped ? [1, 0, 2] : [0, 1, 2];
    const players = seats.map((seat) => {
      const engine = $(`player-${seat}`).value;
      if (engine === "") return { engine: null, name: $(`name-${seat}`).value };
      return { engine: Number(engine), level: seat < 2 ? $(`level-${seat}`).value : "full" };
    });
    return { players, time: this.times[Number($("time").value)] };
  }

  /** Stores the choices for the next game. */
  remember() {
    const { level, side } = this.quickSide() === null ? remembered()
      : { level: Number($("level").value), side: chosen("colour") };
    const { time } = this.settings(null);
    localStorage.setItem(KEY, JSON.stringify({ level, side, time, variant: $("variant").value }));
  }

  /** Begins the game of the form beside the board, unless the board has its settings already. */
  async beginByMove(state) {
    // A move on the board is White's.
    const settings = this.settings(0);
    const { variant, fields } = this.rules();
    const isSame = variant === state.rules.variant && !Object.keys(fields).length
      && JSON.stringify(settings.time) === JSON.stringify(state.time)
      && settings.players.every(({ engine, level }, seat) => engine === state.players[seat].engine
        && (engine === null || level === state.players[seat].level));
    if (!isSame) await this.begin(settings);
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
    this.showQuick();
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
    $("rules-words").textContent = summary(variant);
  }

  /** Asks the questions of the rules one by one. */
  async openRules() {
    await show("rules");
    const isChanged = Object.keys(this.rules().fields).length > 0;
    const words = summary($("variant").value);
    $("rules-words").textContent = isChanged ? `${words} ${t("new.changed")}` : words;
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
