// The dialog that opens a position or a game. It stays open after an error, so that the text can be
// corrected.

import { $ } from "../dom.js";
import { api } from "../net.js";
import { show } from "./form.js";
import { sharedText } from "./share.js";

export class Opening {
  constructor() {
    $("import-file").addEventListener("change", async () => {
      const [file] = $("import-file").files;
      if (file) $("import-text").value = await file.slice(0, 1 << 20).text();
    });
    $("import-go").addEventListener("click", async (event) => {
      event.preventDefault();
      try {
        await api("load", { text: sharedText($("import-text").value), ...this.current });
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
}
