// Draws the page's state: the board, the players, the panels and the buttons.

import { Board, playMoves } from "./board/board.js";
import { Choice } from "./board/choice.js";
import { gradeMarks } from "./board/marks.js";
import { Overlay } from "./board/overlay.js";
import { premoveChoice, premoveSide } from "./board/premove.js";
import { $ } from "./dom.js";
import { page, tree } from "./page.js";
import { summary, title } from "./rules.js";
import { MoveList, Study } from "./panels/moves.js";
import { Players } from "./panels/players.js";
import { judgementOf, ReviewPanel } from "./panels/review.js";
import { statusOf } from "./panels/status.js";
import { Evaluation, firstMoves } from "./panels/evaluation.js";
import { fromServer, SIDES, t } from "./text.js";

/**
 * The components: board, overlay, players, moves, review, study, evaluation; and `about`, the facts
 * that the server sends once, such as the board's points and mills.
 */
export const scene = {};
/** The nodes added to the tree since it was drawn; null if the whole tree was replaced. */
let addedNodes = [];
const pending = new Set();

/** Creates the components; `on` holds their callbacks. */
export function build(about, on) {
  scene.board = new Board(
    $("board"), about.points, { onPick: on.pick, onCancel: on.cancel, mills: about.mills },
  );
  scene.overlay = new Overlay(scene.board, on.right);
  scene.about = about;
  scene.players = new Players((event) => scene.board.pressHand(event));
  scene.moves = new MoveList(tree, on.go);
  scene.review = new ReviewPanel(on.go);
  scene.study = new Study(tree, on.comment);
  scene.evaluation = new Evaluation({
    hover: previewLine, leave: () => previewLine(null), play: on.playLine,
  });
}

/** Draws the given kinds of events in the next frame, each kind once. */
export function redraw(...kinds) {
  if (!pending.size) requestAnimationFrame(paint);
  for (const kind of kinds) pending.add(kind);
}

/** Draws nodes that were added to the tree; with null, the whole tree. */
export function redrawMoves(added) {
  // Once the whole tree is due, added nodes make no difference.
  addedNodes = addedNodes && added && addedNodes.concat(added);
  redraw("moves", "state", "review");
}

function paint() {
  const kinds = new Set(pending);
  pending.clear();
  if (kinds.has("moves")) {
    scene.moves.addNodes(addedNodes);
    addedNodes = [];
  }
  const { state, info, review } = page;
  if (!state) return;
  const current = info && info.position === state.position.text ? info : null;
  if (kinds.has("state")) drawState();
  if (kinds.has("state") || kinds.has("info") || kinds.has("review")) {
    const judged = judgementOf(review, state);
    scene.evaluation.draw(current, state, scene.board.flipped, judged, info !== null);
    scene.board.drawArrows(arrows(current));
    const showsGrade = !state.playing && !isTrying();
    scene.board.above.append(...gradeMarks(scene.board, showsGrade ? judged : null));
  }
  if (kinds.has("state") || kinds.has("review")) {
    scene.review.draw(review, state);
    scene.moves.judge(review);
    scene.moves.show(state);
  }
}

/** Returns whether the board shows a previewed line, or a move whose target is picked. */
const isTrying = () => page.preview !== null || page.choice.to !== null;

/** Returns the first moves of the analysis engine's variations, for arrows. */
function arrows(current) {
  if (!current || current.role !== "Analysis" || !page.state.shows_evaluation) return [];
  return isTrying() ? [] : firstMoves(current);
}

/** Returns a new choice of the user's move, or of a premove. */
export function choiceOf(state) {
  // In a new game with an engine as White, the user has no move yet: the button Play begins it.
  if (page.start && page.start.players()[0].engine !== null) return new Choice([]);
  return premoveSide(state) === null ? new Choice(state.legal) : premoveChoice(state, scene.about);
}

function drawBoard() {
  const { state } = page;
  const { position } = state;
  if (page.preview) {
    scene.board.draw({ ...playMoves(position, page.preview), choice: new Choice([]), values: {} });
    return;
  }
  const provenMoves = state.proven ? state.proven.moves : [];
  scene.board.draw({
    ...position, last: state.move, choice: page.choice,
    values: Object.fromEntries(provenMoves.map(({ move, value }) => [move, value])),
  });
}

/** Shows the position after a line; with null, the current position. */
function previewLine(line) {
  page.preview = line;
  redraw("state", "info");
}

function drawState() {
  const state = page.start ? { ...page.state, players: page.start.players() } : page.state;
  scene.players.draw(state, scene.board.flipped, page.choice.step === "place");
  drawBoard();
  drawOverlay();
  drawStatus();
  const node = tree.node(state.node);
  $("first").disabled = $("back").disabled = !node.parent;
  $("last").disabled = $("forward").disabled = !node.children.length;
  $("undo").disabled = !state.undo;
  $("redo").disabled = !state.redo;
  const engines = state.players.slice(0, 2).filter((player) => player.engine !== null);
  $("redo").hidden = !state.analysing;
  $("resign").hidden = !state.playing || engines.length === 2;
  // A draw is not offered in the first moves.
  $("draw").hidden = $("resign").hidden || state.plies < 2;
  $("suggest").disabled = !state.legal.length;
  $("pause").hidden = (!engines.length && !state.clock) || state.over || state.analysing;
  $("offer").hidden = state.offer === null || !state.playing;
  if (state.offer !== null) {
    $("offer-text").textContent = t("offer", { side: SIDES[state.offer] });
  }
  drawWarnings();
  $("pause").textContent = t(state.paused ? "controls.resume" : "controls.pause");
  $("pause").setAttribute("aria-pressed", String(state.paused));
  $("analyse").setAttribute("aria-pressed", String(state.analysing));
  $("play").setAttribute("aria-pressed", String(!state.analysing));
  document.body.classList.toggle("playing", !state.analysing);
  $("rules-line").textContent = title(state.rules.variant);
  $("rules-line").title = summary(state.rules.variant);
  $("review").disabled = !tree.root.children.length;
  scene.study.draw(state);
  drawTrouble();
}

/** Shows the server's warning, a failure to save the game, and an unexpected error. */
export function drawWarnings() {
  const texts = [page.warning, page.state && page.state.save_error, page.failure]
    .filter(Boolean).map(fromServer);
  $("warnings").hidden = !texts.length;
  $("warnings").textContent = texts.join(" ");
}

/** Shows the failure of an engine or of the connection. */
export function drawTrouble() {
  const { error, saved, plies } = page.state;
  $("trouble").hidden = !page.lost && !error;
  $("restart").hidden = page.lost;
  const lost = `${t("trouble.lost")}${saved && plies > 0 ? ` ${t("trouble.saved")}` : ""}`;
  $("trouble-text").textContent = page.lost ? lost : fromServer(error);
}

/** Draws the premove; removes shapes and hint when another position is shown. */
function drawOverlay() {
  const { overlay } = scene;
  const { position, node } = page.state;
  const shown = `${node} ${position.text}`;
  if (overlay.shown !== shown) overlay.clear();
  overlay.shown = shown;
  overlay.premove = page.premove && page.premove.text;
  overlay.draw();
}

/** Returns the text of the status line, or null to leave it as it is. */
function statusText() {
  const { choice, premove, state, waiting } = page;
  if (waiting) return t("status.waiting");
  if (page.start && !choice.moves.length) return t("status.start");
  if (premove) return t("status.premove", { move: premove.text });
  const { hint } = scene.overlay;
  if (hint && !choice.isPicked) return t("hint.move", { move: hint });
  return statusOf(state, choice.isPremove ? new Choice([]) : choice);
}

function drawStatus() {
  const text = statusText();
  // Setting the same text again would make screen readers repeat it.
  const last = page.state.move ? t("status.last", page.state) : "";
  for (const [place, words] of [["status-text", text], ["status-last", last]]) {
    if (words !== null && $(place).textContent !== words) $(place).textContent = words;
  }
  // The name of the tab calls the user back from another tab.
  const { legal, playing, players } = page.state;
  const hasEngine = players.slice(0, 2).some(({ engine }) => engine !== null);
  const isTurn = playing && hasEngine && legal.length > 0;
  document.title = isTurn ? t("title.turn") : "merels";
}

/** Flips the board. */
export function flip() {
  scene.board.flip();
  redraw("state", "info");
}
