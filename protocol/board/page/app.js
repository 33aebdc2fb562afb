// The page: draws the server's news and sends what the user does.

import { Board } from "./board/board.js";
import { Choice } from "./board/choice.js";
import { after } from "./board/position.js";
import { ask } from "./dialogs/ask.js";
import { closeByButtons } from "./dialogs/form.js";
import { Editor } from "./dialogs/editor.js";
import { Games, title } from "./dialogs/games.js";
import { showHelp } from "./dialogs/help.js";
import { NewGame } from "./dialogs/new_game.js";
import { Opening } from "./dialogs/opening.js";
import { Options } from "./dialogs/options.js";
import { Saving } from "./dialogs/saving.js";
import { Share, takeShared } from "./dialogs/share.js";
import { $, COLOURS } from "./dom.js";
import { api, listen, open } from "./net.js";
import { Log } from "./panels/log.js";
import { MoveList } from "./panels/moves.js";
import { Players } from "./panels/players.js";
import { ResultCard } from "./panels/result.js";
import { drawReview, isRunning, judgementOf, takeReview } from "./panels/review.js";
import { statusOf } from "./panels/status.js";
import { Study } from "./panels/study.js";
import { firstMoves, Thoughts } from "./panels/thoughts.js";
import { isOn, sound, turn } from "./sound.js";
import { Tree } from "./tree.js";

let state = null;
let info = null;
let review = null;
let choice = new Choice([]);
let board;
let players;
const tree = new Tree();
/** The nodes added to the tree since it was drawn; null: it is another. */
let grown = [];
let moves;
let study;
let thoughts;
let result;
/** The moves of a line that are looked at, from the position shown; null: none. */
let ahead = null;
let dialogs;
let lost = false;
const dirty = new Set();
const log = new Log();

// News may come thirty times a second: each frame draws only the latest of each kind.
function redraw(...kinds) {
  if (!dirty.size) requestAnimationFrame(paint);
  for (const kind of kinds) dirty.add(kind);
}

function paint() {
  const kinds = new Set(dirty);
  dirty.clear();
  if (kinds.has("moves")) moves.grow(grown);
  if (kinds.has("moves")) grown = [];
  if (!state) return;
  const fresh = info && info.position === state.position.text ? info : null;
  if (kinds.has("state")) drawState();
  if (kinds.has("state") || kinds.has("info") || kinds.has("review")) {
    thoughts.draw(fresh, state, board.flipped, judgementOf(review, state), info !== null);
    board.drawArrows(arrows(fresh));
  }
  if (kinds.has("state") || kinds.has("review")) {
    drawReview(review, state, go);
    moves.judge(review);
    moves.show(state);
  }
}

/** The first moves of the variations, while the analysis engine thinks. */
function arrows(fresh) {
  if (!fresh || fresh.part !== "Analysis" || !state.reveals) return [];
  return ahead || choice.to !== null ? [] : firstMoves(fresh);
}

function drawBoard() {
  const { position } = state;
  if (ahead) {
    board.draw({ ...after(position, ahead), choice: new Choice([]), values: {} });
    return;
  }
  const known = state.proven ? state.proven.moves : [];
  board.draw({
    white: position.white, black: position.black, side: position.side, last: state.move, choice,
    values: Object.fromEntries(known.map((one) => [one.move, one.value])),
  });
}

/** Shows what a line leads to; with null, the position itself again. */
function lookAhead(line) {
  ahead = line;
  redraw("state", "info");
}

/** Plays a line: in an analysis all of it, in a game its first move. */
async function playLine(line) {
  ahead = null;
  const at = state.node;
  if (!state.legal.includes(line[0])) tell("It is not your move.");
  else await send("play", { moves: state.analysing ? line : line.slice(0, 1), at });
}

function drawState() {
  const { position } = state;
  players.draw(state, board.flipped, choice.step === "place");
  drawBoard();
  drawStatus();
  const node = tree.node(state.node);
  $("first").disabled = $("back").disabled = !node.parent;
  $("last").disabled = $("forward").disabled = !node.children.length;
  $("undo").disabled = !state.undo;
  $("redo").disabled = !state.redo;
  const engines = state.players.slice(0, 2).filter((player) => player.engine !== null);
  $("resign").disabled = state.over || engines.length === 2;
  $("pause").hidden = (!engines.length && !state.clock) || state.over || state.analysing;
  $("resign").hidden = $("draw").hidden = state.analysing;
  $("draw").disabled = !state.playing || engines.length === 2 || !state.plies;
  $("offer").hidden = state.offer === null || !state.playing;
  if (state.offer !== null) {
    $("offer-text").textContent = `${COLOURS[state.offer]} offers a draw.`;
  }
  $("unkept").hidden = !state.unkept;
  $("unkept").textContent = state.unkept;
  $("pause").textContent = state.paused ? "Resume" : "Pause";
  $("pause").setAttribute("aria-pressed", String(state.paused));
  $("analyse").setAttribute("aria-pressed", String(state.analysing));
  $("play").setAttribute("aria-pressed", String(!state.analysing));
  $("options").disabled = false;
  $("review").disabled = !tree.root.children.length;
  study.draw(state);
  drawTrouble();
}

function drawTrouble() {
  const engine = state && state.error;
  $("trouble").hidden = !lost && !engine;
  $("restart").hidden = lost;
  $("trouble-text").textContent = lost
    ? "The connection to merels board is lost. Reload this page; if the program has ended, "
      + "start it again and open its new address. The game is in My games there."
    : engine;
}

function drawStatus() {
  const text = statusOf(state, choice);
  // Setting the same text again would make screen readers repeat it.
  if (text !== null && $("status").textContent !== text) $("status").textContent = text;
}

function tell(message) {
  const toast = $("toast");
  // Behind an open dialog the toast could be neither clicked nor read aloud.
  (document.querySelector("dialog[open]") || document.body).append(toast);
  toast.textContent = message;
  toast.hidden = false;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { toast.hidden = true; }, 5000);
}

/** Sends a request and shows the server's error, if any. */
async function send(action, body) {
  try {
    return await api(action, body);
  } catch (error) {
    tell(error.message);
    return null;
  }
}

async function pick(point) {
  const text = choice.pick(point);
  redraw("state");
  if (text === null) return;
  const done = await send("play", { moves: [text], at: state.node });
  if (!done) cancel();
}

function cancel() {
  choice.clear();
  redraw("state");
}

/** The node asked for, until it is shown; null: none. */
let going = null;

/** The node from which the next step goes, even before the server has answered. */
const here = () => tree.node(going ?? state.node);

async function go(node) {
  going = node;
  if (!await send("go", { node })) going = null;
}

/** Goes to a node; null: there is none. */
const goTo = (node) => node && go(node.number);

async function deleteMoves() {
  const count = tree.size(here());
  const done = await send("delete", { node: here().number });
  if (done) tell(`${count === 1 ? "1 move" : `${count} moves`} deleted. Undo brings back.`);
}

/** Whether a game goes on that would be left. */
const isLive = () => state !== null && state.playing && state.plies > 0;

/** Asks before a game that goes on is left; whether it may be. */
async function mayLeave() {
  return !isLive() || ask(
    "Leave this game?", "It is not over. It stays in My games and can be played on.",
    "Leave it", "Stay",
  );
}

async function resign() {
  const users = [0, 1].filter((side) => state.players[side].engine === null);
  const [side] = users.length === 1 ? users : [state.turn];
  const text = `${COLOURS[side]} loses, ${COLOURS[1 - side]} wins.`;
  if (await ask("Resign?", text, "Resign", "Play on")) await send("resign");
}

async function offerDraw() {
  const answer = await send("draw", { how: "offer" });
  if (!answer || answer.accepted !== false) return;
  tell(`${state.players.find(({ engine }) => engine !== null).name} declines the draw.`);
}

/** Offers to go on with the game that was played last, if it is not finished. */
function offerToResume(game) {
  $("resume").hidden = !game;
  if (!game) return;
  $("resume-text").textContent = `Your last game goes on where it stood: ${title(game)}.`;
  $("resume-not").addEventListener("click", () => { $("resume").hidden = true; });
  $("resume-go").addEventListener("click", async () => {
    $("resume").hidden = true;
    if (await mayLeave() && await send("reopen", { key: game.key })) face(state.players);
  });
}

function flip() {
  board.flip();
  redraw("state", "info");
}

const ACTIONS = {
  first: () => go(0),
  back: () => goTo(here().parent),
  forward: () => goTo(here().children[0]),
  last: () => go(state.playing ? state.live : tree.end(here()).number),
  up: () => goTo(tree.alternative(here(), -1)),
  down: () => goTo(tree.alternative(here(), 1)),
  undo: () => send("undo"),
  redo: () => send("redo"),
  promote: () => send("promote", { node: here().number }),
  delete: deleteMoves,
  "play-on": () => send("play_on"),
  flip,
  pause: () => send("pause", { on: !state.paused }),
  draw: offerDraw,
  accept: () => send("draw", { how: "accept" }),
  decline: () => send("draw", { how: "decline" }),
  resign,
  play: () => send("analyse", { on: false }),
  analyse: () => send("analyse", { on: true }),
  thoughts: () => send("thoughts", { on: !state.reveals }),
  review: () => send("review", { on: !isRunning(review) }),
  restart: () => send("restart"),
  new: () => dialogs.newGame.open(state, face, mayLeave),
  games: () => dialogs.games.open(),
  import: () => dialogs.opening.open(state),
  export: () => dialogs.saving.open(),
  options: () => dialogs.options.open(state),
  share: () => dialogs.share.open({
    white: state.position.white, black: state.position.black, last: state.move,
    points: board.points, at: (point) => board.at(point), flipped: board.flipped,
  }),
  edit,
  sound: () => {
    turn(!isOn());
    $("sound").setAttribute("aria-pressed", String(isOn()));
  },
  rematch,
  "result-review": async () => {
    await send("analyse", { on: true });
    await send("review", { on: true });
  },
  "result-save": () => ACTIONS.export(),
  help: () => showHelp(state.rules),
};

/** Flips the board so that a user who plays only Black sits at the bottom. */
function face(players) {
  const users = players.slice(0, 2).map((player) => player.engine === null);
  if ((users[1] && !users[0]) !== board.flipped && users[0] !== users[1]) flip();
}

/** Sets up a position, to be played from or analysed. */
async function edit() {
  const end = await dialogs.editor.open(state);
  if ((end !== "play" && end !== "analyse") || !await mayLeave()) return;
  await api("new", { position: dialogs.editor.text, ...dialogs.editor.rules });
  await api("analyse", { on: end === "analyse" });
}

/** Opens what the page's address carries, for analysis. */
async function openShared() {
  const text = takeShared();
  if (text === null || !await mayLeave()) return;
  if (await send("load", { text })) await send("analyse", { on: true });
}

/** Begins the same game again with the colours changed. */
async function rematch() {
  const { variant, fields } = state.rules;
  const [white, black, analyst] = state.players
    .map(({ engine, level, typed }) => ({ engine, level, name: typed }));
  const players = [black, white, analyst];
  if (await send("new", { players, variant, fields, time: state.time })) face(players);
}

/** What the news of a move sounds like. */
function listenTo(before, news) {
  if (!before || news.ply !== before.ply + 1) return;
  if (news.over && !before.over) sound("end");
  else sound(news.move.includes("x") ? "mill" : "move");
}

async function act(name) {
  if (!state) return;
  try {
    await ACTIONS[name]();
  } catch (error) {
    tell(error.message);
  }
}

function onKey(event) {
  const typing = event.target.closest("input, textarea, select, dialog, pre");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = {
    ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last",
    ArrowUp: "up", ArrowDown: "down", a: state && state.analysing ? "play" : "analyse",
    e: "thoughts", u: "undo", r: "redo", f: "flip", n: "new",
  };
  if (event.key === "Escape") cancel();
  const name = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!name) return;
  event.preventDefault();
  act(name);
}

function onState(news) {
  const before = state;
  const same = before && JSON.stringify(before.legal) === JSON.stringify(news.legal) &&
    before.position.text === news.position.text && before.node === news.node;
  state = news;
  if (state.node === going) going = null;
  // The picked points stay picked while the board is unchanged.
  if (!same) {
    choice = new Choice(state.legal);
    ahead = null;
  }
  redraw("state");
  result.follow(before, state);
  listenTo(before, state);
  if (!before) face(state.players);
  if (state.plies || state.analysing) $("resume").hidden = true;
}

function onMoves(news) {
  const added = tree.take(news);
  grown = grown && added && grown.concat(added);
  redraw("moves", "state", "review");
}

async function main() {
  let about;
  try {
    const opened = await open();
    about = opened.about;
    offerToResume(opened.unfinished);
  } catch (error) {
    lost = true;
    $("trouble").hidden = false;
    $("restart").hidden = true;
    $("trouble-text").textContent = error.message;
    return;
  }
  board = new Board(
    $("board"), about.points, { onPick: pick, onCancel: cancel, mills: about.mills },
  );
  result = new ResultCard();
  $("sound").setAttribute("aria-pressed", String(isOn()));
  players = new Players((event) => board.pressHand(event));
  moves = new MoveList(tree, go);
  study = new Study(tree, (node, text) => send("comment", { node, text }));
  thoughts = new Thoughts({
    hover: lookAhead, leave: () => lookAhead(null), play: playLine,
  });
  $("line-count").addEventListener("change", () => {
    send("thoughts", { lines: Number($("line-count").value) });
  });
  dialogs = {
    newGame: new NewGame(about), opening: new Opening(tell, mayLeave), saving: new Saving(tell),
    options: new Options(tell), share: new Share(tell), editor: new Editor(about.points),
    games: new Games(tell, mayLeave),
  };
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
    info: (news) => { info = news; redraw("info"); },
    moves: onMoves,
    review: (news) => { review = takeReview(review, news); redraw("review"); },
    log: (lines) => log.add(lines),
  }, (isLost) => {
    lost = isLost;
    // A reopened stream sends the whole log again.
    if (!lost) log.clear();
    if (state) drawTrouble();
  });
}

main();
