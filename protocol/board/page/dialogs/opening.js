// The dialog that opens a position or a game. It stays open after an error, so that the text can be
// corrected.

import { $ } from "../dom.js";
import { api } from "../net.js";
import { mayLeave, tell } from "../now.js";
import { row } from "./games.js";
import { show } from "./form.js";
import { sharedText } from "./share.js";

/** Bytes of a file that are read, and characters of it that the dialog shows. */
const MOST = 1 << 24;
const SHOWN = 1 << 16;

/** The text of a file's first part: UTF-16 with its mark, UTF-8 if valid, else Latin-1. */
async function textOf(file) {
  const data = new Uint8Array(await file.slice(0, MOST).arrayBuffer());
  const [first, second] = data;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(data);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(data);
  try {
    // A letter may be cut at the end of the part.
    return new TextDecoder("utf-8", { fatal: true }).decode(data, { stream: true });
  } catch {
    return new TextDecoder("windows-1252").decode(data);
  }
}

export class Opening {
  constructor() {
    $("import-file").addEventListener("change", async () => {
      const [file] = $("import-file").files;
      if (!file) return;
      this.take(await textOf(file), file.size > MOST);
    });
    $("import-text").addEventListener("input", () => this.forget());
    $("import-go").addEventListener("click", (event) => {
      event.preventDefault();
      this.load();
    });
    $("import-keep").addEventListener("click", () => this.keep());
  }

  /** Takes a file's text, of a file that is `cut` the whole games of its first part. */
  take(text, cut) {
    this.forget();
    const end = Math.max(text.lastIndexOf("\n\n["), text.lastIndexOf("\n\r\n["));
    if (cut && end > 0) text = text.slice(0, end + 1);
    const long = text.length > SHOWN;
    $("import-text").value = text.slice(0, SHOWN);
    // Hidden fields cannot be changed.
    $("import-text").readOnly = long;
    this.text = long ? text : null;
    $("import-note").textContent = cut
      ? `The file is larger than ${MOST >> 20} MB: the games of its first part are opened.`
      : long ? "Only the beginning of the file is shown here; all of it is opened." : "";
  }

  /** The fields of the request for this text. */
  wanted() {
    return { text: this.text ?? sharedText($("import-text").value), ...this.current };
  }

  /** Opens the text's game, or that of an index; of several games it lists all. */
  load(game) {
    return this.attempt(async () => {
      this.leaves = this.leaves || await mayLeave();
      if (!this.leaves) return;
      const answer = await api("load", { ...this.wanted(), game });
      if (answer.games) this.list(answer.games, answer.found);
      else $("import-dialog").close("go");
      if (answer.notice) tell(`${answer.notice}.`);
    });
  }

  /** Does something and shows its error. */
  async attempt(action) {
    try {
      await action();
    } catch (error) {
      $("import-fault").textContent = error.message;
    }
  }

  list(games, found) {
    const listed = found > games.length ? ` The first ${games.length} are listed.` : "";
    $("import-count").textContent = `${found} games: which one?${listed}`;
    $("import-games").replaceChildren(
      ...games.map((game, index) => row(game, () => this.load(index))),
    );
    $("import-several").hidden = $("import-keep").hidden = false;
    $("import-go").hidden = true;
    $("import-games").querySelector("button").focus();
  }

  /** Hides the messages about another text. */
  forget() {
    $("import-fault").textContent = $("import-note").textContent = "";
    $("import-text").readOnly = false;
    this.text = null;
    $("import-several").hidden = $("import-keep").hidden = true;
    $("import-go").hidden = false;
  }

  keep() {
    return this.attempt(async () => {
      const { kept, skipped, faults } = await api("keep", this.wanted());
      const now = `${kept} ${kept === 1 ? "game is" : "games are"} in My games now.`;
      if (!skipped) {
        $("import-dialog").close("go");
        tell(now);
        return;
      }
      const cannot = `${skipped} of ${kept + skipped} cannot be read: ${faults.join("; ")}`;
      $("import-fault").textContent = `${now} ${cannot}`;
    });
  }

  async open(state) {
    this.leaves = false;
    // A text that names no rules is read under those of the current game.
    this.current = state.rules;
    if (this.text) $("import-text").value = "";
    this.forget();
    $("import-file").value = "";
    return show($("import-dialog"));
  }
}
