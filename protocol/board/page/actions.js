// The user's actions, named after their buttons.

import { applyPremove, premoveSide } from "./board/premove.js";
import { Editor } from "./dialogs/editor.js";
import { ask, fillTerms, show } from "./dialogs/form.js";
import { Games } from "./dialogs/games.js";
import { NewGame } from "./dialogs/new_game.js";
import { ImportDialog } from "./dialogs/import.js";
import { Puzzles } from "./dialogs/puzzles.js";
import { Share } from "./dialogs/share.js";
import { Tutorial } from "./dialogs/tutorial.js";
import { $, element } from "./dom.js";
import { parseMove } from "./drawing.js";
import { KEYS } from "./keys.js";
import { api } from "./net.js";
import { confirmLeaving, page, send, showMessage, tree } from "./page.js";
import { usersOf } from "./panels/players.js";
import { isRunning } from "./panels/review.js";
import { sentences, source } from "./rules.js";
import { choiceOf, flip, scene, redraw } from "./scene.js";
import { isOn, toggle } from "./settings.js";
import { sound } from "./sound.js";
import { countedText, fromServer, playerName, SIDES, t } from "./text.js";

let dialogs;

/** Creates the dialogs; `about` holds the server's constants. */
export function prepare(about) {
  dialogs = {
    newGame: new NewGame(about, followForm), importing: new ImportDialog(),
    share: new Share(), editor: new Editor(about.points), games: new Games(about),
    puzzles: new Puzzles(about), tutorial: new Tutorial(about),
  };
}

/** Milliseconds after which a move that the server has not answered is marked as waiting. */
const ANSWER_DELAY = 1000;

/** Picks a point of the board, and plays the move once it is complete. */
export function pick(point) {
  const text = page.choice.pick(point);
  redraw("state");
  return text === null ? null : playMove(text);
}

/**
 * Stores a premove; shows any other move and sends it, and unpicks it after an error. A move that
 * the user confirms is not played if another position is shown by then.
 */
export async function playMove(text) {
  const { choice } = page;
  if (choice.isPremove) {
    choice.clear();
    page.premove = { text, plies: page.state.plies };
    redraw("state");
    return;
  }
  choice.pickMove(text);
  redraw("state");
  const asked = page.state.node;
  if (isOn("confirm") && (!await userConfirms(text) || asked !== page.state.node)) {
    choice.clear();
    redraw("state");
    return;
  }
  const timer = setTimeout(() => { page.waiting = true; redraw("state"); }, ANSWER_DELAY);
  try {
    // A move beside the form that starts a game begins that game.
    if (isStarting()) await dialogs.newGame.beginByMove(page.state);
    await api("play", { moves: [text], at: page.state.node });
  } catch (error) {
    showMessage(error.message);
    page.choice.clear();
  }
  clearTimeout(timer);
  page.waiting = false;
  redraw("state");
}

/** Confirms or discards the move that waits for the user; does nothing without such a move. */
let confirm = () => {};

/** Asks below the board whether to play a move; resolves with the answer. */
async function userConfirms(move) {
  $("sure-text").textContent = t("sure", { move });
  $("sure").hidden = false;
  $("sure-yes").focus();
  const yes = await new Promise((resolve) => { confirm = resolve; });
  confirm = () => {};
  $("sure").hidden = true;
  scene.board.focus(parseMove(move).to);
  return yes;
}

/** Clears the picked points and the premove; returns whether there were any. */
export function cancel() {
  const { choice, premove } = page;
  confirm(false);
  // A move that has been sent cannot be cancelled.
  if (choice.step === "done") return true;
  const { isPicked } = choice;
  choice.clear();
  page.premove = null;
  redraw("state");
  return isPicked || premove !== null;
}

/** Plays the premove if the user's turn has come; drops it if it is illegal. */
export function playPremove() {
  const { premove, state } = page;
  if (!premove || premoveSide(state) !== null) return;
  page.premove = null;
  // It was meant for the turn after the opponent's next move, and for no other.
  if (state.node !== state.live || state.plies !== premove.plies + 1 || !state.legal.length) return;
  const text = applyPremove(premove.text, page.choice);
  if (text) playMove(text);
  else if (text === null) showMessage(t("premove.illegal", { move: premove.text }));
}

/** Shows a good move on the board and in the status line. */
async function suggest() {
  const asked = page.state.node;
  const { move } = await api("suggest");
  if (asked !== page.state.node) return;
  scene.overlay.hint = move;
  redraw("state");
}

/** Plays all moves of a line in an analysis, but only the first of the line in a game. */
export async function playLine(line) {
  page.preview = null;
  const at = page.state.node;
  if (!page.state.legal.includes(line[0])) showMessage(t("status.turn"));
  else await send("play", { moves: page.state.analysing ? line : line.slice(0, 1), at });
}

/** Returns the node shown, or the one already requested: the next step starts there. */
const here = () => tree.node(page.requested ?? page.state.node);

let isSending = false;

/** Shows node number `node`; of several chosen during a request, only the last is sent next. */
export async function go(node) {
  page.requested = node;
  // Parallel requests could arrive in the wrong order.
  if (isSending) return;
  isSending = true;
  let asked = null;
  while (page.requested !== null && page.requested !== asked) {
    asked = page.requested;
    if (!await send("go", { node: asked })) page.requested = null;
  }
  isSending = false;
  if (page.requested === page.state.node) page.requested = null;
}

/** Shows a node; does nothing with null. */
const goTo = (node) => node && go(node.number);

async function deleteMoves() {
  const count = tree.size(here());
  const done = await send("delete", { node: here().number });
  if (done) showMessage(countedText("moves.deleted", count));
}

async function resign() {
  const users = usersOf(page.state);
  const [side] = users.length === 1 ? users : [page.state.turn];
  const text = t("ask.resign.text", { loser: SIDES[side], winner: SIDES[1 - side] });
  const yes = await ask(t("ask.resign"), text, t("controls.resign"), t("ask.resign.no"));
  if (yes) await send("resign");
}

/** Takes back a move; in a finished game only after the user confirms. */
async function undo() {
  const { over, analysing, saved, reason, result } = page.state;
  if (!over || analysing || !page.state.undo) return send("undo");
  const consequence = t(saved ? "ask.undo.kept" : "ask.undo.lost");
  const text = t("ask.undo.text", { reason: fromServer(reason) || result, consequence });
  return await ask(t("ask.undo"), text, t("ask.undo.yes"), t("cancel"))
    && send("undo", { ended: true });
}

async function offerDraw() {
  const answer = await send("draw", { how: "offer" });
  if (!answer || answer.accepted !== false) return;
  const player = page.state.players.find(({ engine }) => engine !== null);
  showMessage(t("draw.declined", { name: playerName(player.name) }));
}

/** Analyses a position, unless the user wants to stay in an unsaved game. */
async function analysePosition({ text }, rules) {
  if (await confirmLeaving()) await api("new", { position: text, ...rules, analyse: true });
}

/** The actions by name; a button whose id is a name performs that action. */
export const ACTIONS = {
  first: () => go(0),
  back: () => goTo(here().parent),
  forward: () => goTo(here().children[0]),
  // The last move of a running game may be another one when the request arrives.
  last: () => (page.state.playing ? send("go", { live: true }) : go(tree.end(here()).number)),
  up: () => goTo(tree.alternative(here(), -1)),
  down: () => goTo(tree.alternative(here(), 1)),
  undo,
  redo: () => send("redo"),
  promote: () => send("promote", { node: here().number }),
  delete: deleteMoves,
  "play-on": () => send("play_on"),
  flip,
  suggest,
  pause: () => send("pause", { on: !page.state.paused }),
  draw: offerDraw,
  accept: () => send("draw", { how: "accept" }),
  decline: () => send("draw", { how: "decline" }),
  resign,
  play,
  analyse: () => send("analyse", { on: true }),
  switch: () => ACTIONS[page.state.analysing ? "play" : "analyse"](),
  evaluation: () => send("evaluation", { on: !page.state.shows_evaluation }),
  review: () => {
    page.seeksReview = !isRunning(page.review);
    return send("review", { on: page.seeksReview });
  },
  // The first rules whose tables have the position shown.
  "tables-use": () => {
    const { position, tables } = page.state;
    return analysePosition(position, { variant: tables.rules[0] });
  },
  restart: () => send("restart"),
  new: () => dialogs.newGame.open(page.state, flipForUser),
  games: () => dialogs.games.open(),
  puzzles: () => openPuzzles(false),
  learn: () => openPuzzles(true),
  "result-learn": () => openPuzzles(true),
  import: () => dialogs.importing.open(page.state),
  share: () => dialogs.share.open({
    ...page.state.position, last: page.state.move,
    points: scene.board.points, flipped: scene.board.flipped,
  }),
  edit,
  sound: () => {
    toggle("sound");
    sound("mill");
  },
  numbers: () => toggle("numbers"),
  confirm: () => toggle("confirm"),
  "sure-yes": () => confirm(true),
  "sure-no": () => confirm(false),
  tutorial: openTutorial,
  rules: () => dialogs.newGame.openRules(),
  "rules-line": () => showHelp(page.state.rules),
  rematch,
  "result-review": async () => {
    await send("analyse", { on: true });
    page.seeksReview = true;
    if (page.review) redraw("review");
    else await send("review", { on: true });
  },
  help: () => showHelp(page.state.rules),
};

/** Leaves the analysis; without a game, opens the form that starts one. */
async function play() {
  const { analysing, playing } = page.state;
  if (analysing) await send("analyse", { on: false });
  else if (!playing) await dialogs.newGame.open(page.state, flipForUser);
}

/** Returns whether the form that starts a game is shown beside the board. */
export const isStarting = () => document.body.classList.contains("starting");

/** Shows the form that starts a game beside the board, until the game changes. */
export async function startBeside() {
  document.body.classList.add("starting");
  const hide = () => {
    document.body.classList.remove("starting");
    page.start = null;
    redraw("state");
  };
  $("new-dialog").addEventListener("close", hide, { once: true });
  page.start = dialogs.newGame;
  try {
    const isDone = dialogs.newGame.open(page.state, flipForUser, true);
    followForm();
    if (await isDone) scene.board.focus("d7");
  } catch (error) {
    showMessage(error.message);
  }
}

/** Shows the players that the form beside the board has. */
export function followForm() {
  if (!page.start) return;
  page.choice = choiceOf(page.state);
  flipForUser(page.start.players());
  redraw("state");
}

/** Teaches the rules, then starts a game if asked to. */
async function openTutorial() {
  const button = await dialogs.tutorial.open();
  if (button === "play" && !isStarting()) await dialogs.newGame.open(page.state, flipForUser);
}

/** Shows the help with the rules of the game on the board. */
function showHelp({ variant, fields }) {
  $("rules-list").replaceChildren(
    ...[...sentences(fields), source(variant)].filter(Boolean)
      .map((text) => element("li", {}, text)),
  );
  fillTerms($("keys"), KEYS.map(([key, words]) => [key, t(words)]));
  return show("help");
}

/** Flips the board so that the only user sits at the bottom. */
export function flipForUser(players) {
  const users = usersOf({ players });
  if (users.length === 1 && (users[0] === 1) !== scene.board.flipped) flip();
}

/** Opens the editor; then starts a game or an analysis from the position that was set up. */
async function edit() {
  const button = await dialogs.editor.open(page.state);
  if ((button !== "play" && button !== "analyse") || !await confirmLeaving()) return;
  const analyse = button === "analyse";
  const settings = isStarting() && !analyse ? dialogs.newGame.settings() : {};
  await api("new", {
    ...settings, position: dialogs.editor.text, ...dialogs.editor.rules, analyse,
  });
  if (settings.players) flipForUser(settings.players);
}

/** Opens the puzzles, or the game's mistakes if `lessons` is set; analyses one if asked to. */
async function openPuzzles(lessons) {
  const button = await dialogs.puzzles.open(page.state, lessons);
  const { shown } = dialogs.puzzles;
  if (button === "analyse" && shown) await analysePosition(shown.position, shown.rules);
}

/** Begins a new game with the same settings and exchanged colours. */
async function rematch() {
  const [white, black, analyst] = page.state.players
    .map(({ engine, level, typed }) => ({ engine, level, name: typed }));
  const players = [black, white, analyst];
  const request = { players, ...page.state.rules, time: page.state.time };
  if (await send("new", request)) flipForUser(players);
}

/** Performs the action called `name`; if it fails, shows the error's message. */
export async function act(name) {
  if (!page.state) return;
  try {
    await ACTIONS[name]();
  } catch (error) {
    showMessage(error.message);
  }
}
