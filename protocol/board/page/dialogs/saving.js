// The dialog that shows a game or position as text.

import { $ } from "../dom.js";
import { api } from "../net.js";
import { fill, show } from "./form.js";

export class Saving {
  constructor(tell) {
    this.tell = tell;
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
