// The dialog that opens a position or a game. It stays open after an error, so that the text can be
// corrected.

import { $ } from "../dom.js";
import { api } from "../net.js";
import { row } from "./games.js";
import { show } from "./form.js";
import { sharedText } from "./share.js";

const MOST = 1 << 20;

export class Opening {
  /** `mayLeave` asks before the game on the board is left. */
  constructor(tell, mayLeave) {
    Object.assign(this, { tell, mayLeave });
    $("import-file").addEventListener("change", async () => {
      const [file] = $("import-file").files;
      if (!file) return;
      this.forget();
      if (file.size < MOST) $("import-text").value = await file.text();
      else $("import-fault").textContent = "The file is larger than 1 MB; open a part of it.";
    });
    $("import-text").addEventListener("input", () => this.forget());
    $("import-go").addEventListener("click", (event) => {
      event.preventDefault();
      this.load();
    });
    $("import-keep").addEventListener("click", () => this.keep());
  }

  /** What the text asks for, as requests have it. */
  wanted() {
    return { text: sharedText($("import-text").value), ...this.current };
  }

  /** Opens the text's game, or that of an index; of several games it lists all. */
  async load(game) {
    try {
      this.leaves = this.leaves || await this.mayLeave();
      if (!this.leaves) return;
      const answer = await api("load", { ...this.wanted(), game });
      if (answer.games) this.list(answer.games);
      else $("import-dialog").close("go");
    } catch (error) {
      $("import-fault").textContent = error.message;
    }
  }

  list(games) {
    $("import-count").textContent = `${games.length} games: which one?`;
    $("import-games").replaceChildren(
      ...games.map((game, index) => row(game, () => this.load(index))),
    );
    $("import-several").hidden = $("import-keep").hidden = false;
    $("import-go").hidden = true;
    $("import-games").querySelector("button").focus();
  }

  /** Hides what was said about another text. */
  forget() {
    $("import-fault").textContent = "";
    $("import-several").hidden = $("import-keep").hidden = true;
    $("import-go").hidden = false;
  }

  async keep() {
    try {
      const { kept } = await api("keep", this.wanted());
      $("import-dialog").close("go");
      this.tell(`${kept} games are in My games now.`);
    } catch (error) {
      $("import-fault").textContent = error.message;
    }
  }

  async open(state) {
    this.leaves = false;
    // A text that names no rules is read under those of the current game.
    const { variant, fields } = state.rules;
    this.current = { variant, fields };
    this.forget();
    $("import-file").value = "";
    return show($("import-dialog"));
  }
}
