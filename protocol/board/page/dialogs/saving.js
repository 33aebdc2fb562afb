// The dialog that shows a game or position as text.

import { $ } from "../dom.js";
import { api } from "../net.js";
import { copy, download, fill, show } from "./form.js";

export class Saving {
  constructor(tell) {
    $("export-form").addEventListener("change", () => {
      $("export-text").value = this.forms[$("export-form").value];
    });
    $("export-copy").addEventListener("click", () => copy($("export-text"), tell));
    $("export-file").addEventListener("click", () => {
      const name = $("export-form").value === "record" ? "game.pgn" : "game.txt";
      download(name, new Blob([$("export-text").value], { type: "text/plain" }));
    });
  }

  async open() {
    this.forms = await api("export");
    const forms = [
      ["Game record (PGN)", "record"], ["Position", "position"],
      ["Position, 17 fields", "seventeen"], ["PlayOK record", "playok"],
    ];
    fill($("export-form"), forms.filter(([, name]) => name in this.forms), "record");
    $("export-text").value = this.forms.record;
    return show($("export-dialog"));
  }
}
