// The page: takes the server's events, and gives buttons and keys their meaning.

import {
  act, ACTIONS, cancel, face, go, openShared, pick, playLine, prepare,
} from "./actions.js";
import { Choice } from "./board/choice.js";
import { closeByButtons } from "./dialogs/form.js";
import { title } from "./dialogs/games.js";
import { $ } from "./dom.js";
import { listen, open } from "./net.js";
import { isLive, mayLeave, now, send, tree } from "./now.js";
import { takeReview } from "./panels/review.js";
import { ResultCard } from "./panels/status.js";
import { build, drawTrouble, drawWarnings, redraw, redrawMoves } from "./scene.js";
import { isOn, sound } from "./sound.js";

const LOG_LINES = 1000;

/** The raw log, put into the page only while its panel is open. */
class Log {
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

let result;
const log = new Log();

/** Offers to go on with the game that was played last, if it is not finished. */
function offerToResume(game) {
  $("resume").hidden = !game;
  if (!game) return;
  $("resume-text").textContent = `Your last game goes on where it stood: ${title(game)}.`;
  $("resume-not").addEventListener("click", () => { $("resume").hidden = true; });
  $("resume-go").addEventListener("click", async () => {
    $("resume").hidden = true;
    if (await mayLeave() && await send("reopen", { key: game.key })) face(now.state.players);
  });
}

/** Plays the sound of a move. */
function listenTo(before, state) {
  if (!before || state.ply !== before.ply + 1) return;
  if (state.over && !before.over) sound("end");
  else sound(state.move.includes("x") ? "mill" : "move");
}

function onKey(event) {
  const typing = event.target.closest("input, textarea, select, dialog, pre");
  if (typing || event.altKey) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
    event.preventDefault();
    act(event.shiftKey ? "redo" : "undo");
  }
  if (event.ctrlKey || event.metaKey) return;
  const keys = {
    ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last",
    ArrowUp: "up", ArrowDown: "down", a: now.state && now.state.analysing ? "play" : "analyse",
    e: "evaluation", u: "undo", r: "redo", f: "flip", n: "new",
  };
  if (event.key === "Escape") cancel();
  const name = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!name) return;
  event.preventDefault();
  act(name);
}

function onState(state) {
  const before = now.state;
  const same = before && JSON.stringify(before.legal) === JSON.stringify(state.legal) &&
    before.position.text === state.position.text && before.node === state.node;
  now.state = state;
  if (now.state.node === now.going) now.going = null;
  // The picked points stay picked while the board is unchanged.
  if (!same) {
    now.choice = new Choice(now.state.legal);
    now.ahead = null;
  }
  redraw("state");
  result.follow(before, now.state);
  listenTo(before, now.state);
  if (!before) face(now.state.players);
  if (now.state.plies || now.state.analysing) $("resume").hidden = true;
}

async function main() {
  let about;
  try {
    const opened = await open();
    about = opened.about;
    now.warning = opened.warning;
    offerToResume(opened.unfinished);
  } catch (error) {
    now.lost = true;
    $("trouble").hidden = false;
    $("restart").hidden = true;
    $("trouble-text").textContent = error.message;
    return;
  }
  build(about, {
    pick, cancel, go, playLine, comment: (node, text) => send("comment", { node, text }),
  });
  prepare(about);
  result = new ResultCard();
  $("sound").setAttribute("aria-pressed", String(isOn()));
  $("line-count").addEventListener("change", () => {
    send("evaluation", { lines: Number($("line-count").value) });
  });
  closeByButtons();
  for (const name of Object.keys(ACTIONS)) {
    if ($(name)) $(name).addEventListener("click", () => act(name));
  }
  // On a narrow page the menu is a popover in front of all else.
  $("menu").addEventListener("click", () => {
    if ($("menu").matches(":popover-open")) $("menu").hidePopover();
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("beforeunload", (event) => {
    if (isLive()) event.preventDefault();
  });
  window.addEventListener("hashchange", openShared);
  openShared();
  listen({
    state: onState,
    info: (info) => { now.info = info; redraw("info"); },
    moves: (update) => redrawMoves(tree.take(update)),
    review: (update) => { now.review = takeReview(now.review, update); redraw("review"); },
    log: (lines) => log.add(lines),
    failure: (text) => { now.failure = text; drawWarnings(); },
  }, (isLost) => {
    now.lost = isLost;
    // A reopened stream sends the whole log again.
    if (!now.lost) log.clear();
    if (now.state) drawTrouble();
  });
}

main();
