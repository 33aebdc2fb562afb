// The page's entry: connects the server's events, the buttons and the keys to their handlers.

import {
  act, ACTIONS, cancel, flipForUser, go, isStarting, pick, playLine, playMove, playPremove, prepare,
  startBeside,
} from "./actions.js";
import { premoveSide } from "./board/premove.js";
import { TypedMove } from "./board/typed.js";
import { on, prepareDialogs } from "./dialogs/form.js";
import { title } from "./dialogs/games.js";
import { $ } from "./dom.js";
import { KEYS } from "./keys.js";
import { listen, open } from "./net.js";
import { isGameInProgress, isUnsaved, page, send, tree } from "./page.js";
import { indexed } from "./panels/review.js";
import { ResultCard } from "./panels/status.js";
import { build, choiceOf, drawTrouble, drawWarnings, redraw, redrawMoves } from "./scene.js";
import { prepareSettings } from "./settings.js";
import { sound } from "./sound.js";
import { fillPage, t } from "./text.js";

const KEY_ACTIONS = Object.assign({}, ...KEYS.map(([, , actions]) => actions));
let resultCard;
const typedMove = new TypedMove(playMove);

/** Offers to resume the last game, if there is one. */
function offerToResume(game) {
  $("resume").hidden = !game;
  if (!game) return;
  $("resume-text").textContent = t("resume.ask", { game: title(game) });
  $("resume-go").addEventListener("click", async () => {
    if (await send("reopen", { key: game.key })) flipForUser(page.state.players);
  });
}

/** Plays the sound of the move shown, if the page has just stepped forward to it. */
function playMoveSound(before, state) {
  if (!before || state.ply !== before.ply + 1) return;
  if (state.over && !before.over) sound("end");
  else sound(state.move.includes("x") ? "mill" : "move");
}

function onKey(event) {
  if (event.target.closest("input, textarea, select, dialog, pre") || event.altKey) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
    event.preventDefault();
    act(event.shiftKey ? "redo" : "undo");
  }
  if (event.ctrlKey || event.metaKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const action = KEY_ACTIONS[key];
  if (typedMove.key(key)) {
    event.preventDefault();
    return;
  }
  if (event.key === "Escape") cancel();
  if (!action) return;
  event.preventDefault();
  act(action);
}

/** Shows the form that starts a game beside an unused board, until something changes. */
function followStart(before, state) {
  const settingsOf = ({ game, players, time, plies, analysing, over }) =>
    JSON.stringify([game, players, time, plies, analysing, over]);
  const isUnused = !state.game && !state.plies && !state.analysing && !state.over;
  if (isUnused && (!before || before.analysing)) startBeside();
  else if (before && isStarting() && settingsOf(before) !== settingsOf(state)) {
    $("new-dialog").close("");
  }
}

/** Pixels of scrolling that make a step. */
const WHEEL_STEP = 40;
let scrolled = 0;

/** Steps through the moves with the wheel over the board. */
function onWheel(event) {
  if (event.ctrlKey || !event.deltaY) return;
  event.preventDefault();
  // Pixels of the event's unit: a pixel, a line or a page.
  const size = [1, 40, 400][event.deltaMode];
  if (Math.sign(scrolled) !== Math.sign(event.deltaY)) scrolled = 0;
  scrolled += event.deltaY * size;
  if (Math.abs(scrolled) < WHEEL_STEP) return;
  act(scrolled > 0 ? "forward" : "back");
  scrolled = 0;
}

function onState(state) {
  const before = page.state;
  const isSameBoard = before && JSON.stringify(before.legal) === JSON.stringify(state.legal) &&
    before.position.text === state.position.text && before.node === state.node &&
    premoveSide(before) === premoveSide(state);
  page.state = state;
  if (state.node === page.requested) page.requested = null;
  // An event that leaves the board as it is must not clear the picked points.
  if (!isSameBoard) {
    page.choice = choiceOf(state);
    page.preview = null;
  }
  playPremove();
  redraw("state");
  resultCard.follow(before, state);
  playMoveSound(before, state);
  if (!before) flipForUser(state.players);
  followStart(before, state);
}

async function main() {
  fillPage();
  let about;
  try {
    const opened = await open();
    about = opened.about;
    page.warning = opened.warning;
    offerToResume(opened.unfinished);
  } catch (error) {
    page.lost = true;
    $("trouble").hidden = false;
    $("restart").hidden = true;
    $("trouble-text").textContent = error.message;
    return;
  }
  build(about, {
    pick, cancel, right: cancel, go, playLine,
    comment: (node, text) => send("comment", { node, text }),
  });
  prepare(about);
  resultCard = new ResultCard();
  prepareSettings();
  on("change", {
    "line-count": () => send("evaluation", { lines: Number($("line-count").value) }),
  });
  prepareDialogs();
  for (const name of Object.keys(ACTIONS)) {
    if ($(name)) $(name).addEventListener("click", () => act(name));
  }
  document.addEventListener("keydown", onKey);
  $("board").addEventListener("wheel", onWheel, { passive: false });
  window.addEventListener("beforeunload", (event) => {
    if (isUnsaved() && !page.reloading) event.preventDefault();
  });
  listen({
    state: onState,
    info: (info) => { page.info = info; redraw("info"); },
    moves: (update) => redrawMoves(tree.apply(update)),
    review: (review) => {
      page.review = indexed(review);
      // After a reload, the first review comes before the first state.
      if (page.state) resultCard.showReview(page.review);
      redraw("review");
    },
    failure: (text) => { page.failure = text; drawWarnings(); },
  }, (isLost) => {
    page.lost = isLost;
    if (page.state) drawTrouble();
  }, isGameInProgress);
}

main();
