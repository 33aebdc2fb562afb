// The dialog that opens a position or a game from a text or a file. It stays open after an error,
// so that the user can correct the text.

import { $ } from "../dom.js";
import { api } from "../net.js";
import { confirmLeaving, showMessage } from "../page.js";
import { row } from "./games.js";
import { countedText, fromServer, t } from "../text.js";
import { attempt, on, show } from "./form.js";

/** Bytes of a file that are read, at most. */
const MAX_BYTES = 1 << 24;
/** Characters of a file that the dialog shows, at most. */
const MAX_SHOWN = 1 << 16;

/** Decodes the start of a file: UTF-16 with a byte order mark, UTF-8 or Windows-1252. */
async function textOf(file) {
  const data = new Uint8Array(await file.slice(0, MAX_BYTES).arrayBuffer());
  const [first, second] = data;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(data);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(data);
  try {
    // With `stream`, a character cut off at the end is no error.
    return new TextDecoder("utf-8", { fatal: true }).decode(data, { stream: true });
  } catch {
    return new TextDecoder("windows-1252").decode(data);
  }
}

export class ImportDialog {
  constructor() {
    on("change", { "import-file": () => attempt("import-fault", () => this.read()) });
    on("input", { "import-text": () => this.reset() });
    on("click", { "import-go": () => this.load(), "import-keep": () => this.keep() });
  }

  /** Shows the text of the chosen file. */
  async read() {
    const [file] = $("import-file").files;
    if (file) this.setText(await textOf(file), file.size > MAX_BYTES);
  }

  /** Shows a file's text; if the file `isCut`, without its last, incomplete game. */
  setText(text, isCut) {
    this.reset();
    const end = Math.max(text.lastIndexOf("\n\n["), text.lastIndexOf("\n\r\n["));
    if (isCut && end > 0) text = text.slice(0, end + 1);
    const isLong = text.length > MAX_SHOWN;
    $("import-text").value = text.slice(0, MAX_SHOWN);
    // An edit would drop the part that is not shown.
    $("import-text").readOnly = isLong;
    this.text = isLong ? text : null;
    $("import-note").textContent = isCut
      ? t("open.large", { size: MAX_BYTES >> 20 })
      : isLong ? t("open.long") : "";
  }

  /** Returns the fields of a request: the text and the current rules. */
  request() {
    return { text: this.text ?? $("import-text").value, ...this.rules };
  }

  /** Opens the only game of the text, or the one with an index; otherwise lists the games. */
  load(game) {
    return attempt("import-fault", async () => {
      this.mayLeave = this.mayLeave || await confirmLeaving();
      if (!this.mayLeave) return;
      const answer = await api("load", { ...this.request(), game });
      if (answer.games) this.list(answer.games, answer.found);
      else $("import-dialog").close("go");
      if (answer.notice) showMessage(`${fromServer(answer.notice)}.`);
    });
  }

  list(games, found) {
    const listed = found > games.length ? ` ${t("open.listed", { count: games.length })}` : "";
    $("import-count").textContent = `${t("open.several", { count: found })}${listed}`;
    $("import-games").replaceChildren(
      ...games.map((game, index) => row(game, () => this.load(index))),
    );
    $("import-several").hidden = $("import-keep").hidden = false;
    $("import-go").hidden = true;
    $("import-games").querySelector("button").focus();
  }

  /** Hides the messages and the list of the previous text. */
  reset() {
    $("import-fault").textContent = $("import-note").textContent = "";
    $("import-text").readOnly = false;
    this.text = null;
    $("import-several").hidden = $("import-keep").hidden = true;
    $("import-go").hidden = false;
  }

  keep() {
    return attempt("import-fault", async () => {
      const { kept, skipped, faults } = await api("keep", this.request());
      const message = countedText("open.kept", kept);
      if (!skipped) {
        $("import-dialog").close("go");
        showMessage(message);
        return;
      }
      const unread = t("open.faults", {
        skipped, count: kept + skipped, faults: faults.map(fromServer).join("; "),
      });
      $("import-fault").textContent = `${message} ${unread}`;
    });
  }

  async open(state) {
    this.mayLeave = false;
    // The rules for a text that names none.
    this.rules = state.rules;
    if (this.text) $("import-text").value = "";
    this.reset();
    $("import-file").value = "";
    return show("import");
  }
}
