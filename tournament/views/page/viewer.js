// One game, large, in a dialog.

import { $ } from "./dom.js";
import { Replay } from "./replay.js";

export class Viewer extends Replay {
  constructor(points) {
    super($("viewer"), points);
    this.dialog = $("viewer");
    $("viewer-close").onclick = () => this.dialog.close();
    this.dialog.onclick = (event) => { if (event.target === this.dialog) this.dialog.close(); };
    this.dialog.onclose = () => { this.game = null; };
    this.dialog.onkeydown = (event) => this.key(event);
  }

  /** Shows a game at its last position. */
  open(game) {
    super.open(game);
    if (!this.dialog.open) this.dialog.showModal();
  }
}
