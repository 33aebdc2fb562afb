// What was sent to and received from the engines.

import { $ } from "../dom.js";

const LOG_LINES = 1000;

/** The raw log, put into the page only while its panel is open. */
export class Log {
  constructor() {
    this.lines = [];
    $("log-panel").addEventListener("toggle", () => this.draw());
  }

  add(lines) {
    if (!lines.length) return;
    for (const [who, direction, text] of lines) this.lines.push(`${who} ${direction} ${text}`);
    if (this.lines.length > LOG_LINES) this.lines.splice(0, this.lines.length - LOG_LINES);
    this.draw();
  }

  /** Forgets every line. */
  clear() {
    this.lines = [];
  }

  draw() {
    if (!$("log-panel").open) return;
    const log = $("log");
    const follow = log.scrollTop + log.clientHeight > log.scrollHeight - 30;
    log.textContent = this.lines.join("\n");
    if (follow) log.scrollTop = log.scrollHeight;
  }
}
