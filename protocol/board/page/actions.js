// The user's actions, by the name of the button.

import { Editor } from "./dialogs/editor.js";
import { ask } from "./dialogs/form.js";
import { Games } from "./dialogs/games.js";
import { NewGame } from "./dialogs/new_game.js";
import { Opening } from "./dialogs/opening.js";
import { Options } from "./dialogs/options.js";
import { Puzzles } from "./dialogs/puzzles.js";
import { Share, takeShared } from "./dialogs/share.js";
import { $, COLOURS, counted, element } from "./dom.js";
import { api } from "./net.js";
import { mayLeave, now, send, tell, tree } from "./now.js";
import { usersOf } from "./panels/players.js";
import { isRunning } from "./panels/review.js";
import { RULE_SETS, sentences } from "./rules.js";
import { flip, parts, redraw } from "./scene.js";
import { isOn, turn } from "./sound.js";

let dialogs;

/** Makes the dialogs. */
export function prepare(about) {
  dialogs = {
    newGame: new NewGame(about), opening: new Opening(), options: new Options(),
    share: new Share(), editor: new Editor(about.points), games: new Games(),
    puzzles: new Puzzles(about),
  };
}

/** Picks a point of the board, and plays the move once it is whole. */
export async function pick(point) {
  const text = now.choice.pick(point);
  redraw("state");
  if (text === null) return;
  const done = await send("play", { moves: [text], at: now.state.node });
  if (!done) cancel();
}

/** Forgets the points picked. */
export function cancel() {
  now.choice.clear();
  redraw("state");
}

/** Plays a line: in an analysis all of it, in a game its first move. */
export async function playLine(line) {
  now.ahead = null;
  const at = now.state.node;
  if (!now.state.legal.includes(line[0])) tell("It is not your move.");
  else await send("play", { moves: now.state.analysing ? line : line.slice(0, 1), at });
}

/** The node from which the next step goes, even before the server has answered. */
const here = () => tree.node(now.going ?? now.state.node);

let isAsking = false;

/** Goes to the node of a number; of steps taken during one request only the last is asked for. */
export async function go(node) {
  now.going = node;
  // Of two requests at once the second may be the first to arrive.
  if (isAsking) return;
  isAsking = true;
  let asked = null;
  while (now.going !== null && now.going !== asked) {
    asked = now.going;
    if (!await send("go", { node: asked })) now.going = null;
  }
  isAsking = false;
  if (now.going === now.state.node) now.going = null;
}

/** Goes to a node; null: there is none. */
const goTo = (node) => node && go(node.number);

async function deleteMoves() {
  const count = tree.size(here());
  const done = await send("delete", { node: here().number });
  if (done) tell(`${counted(count, "move")} deleted. Undo brings back.`);
}

async function resign() {
  const users = usersOf(now.state);
  const [side] = users.length === 1 ? users : [now.state.turn];
  const text = `${COLOURS[side]} loses, ${COLOURS[1 - side]} wins.`;
  if (await ask("Resign?", text, "Resign", "Play on")) await send("resign");
}

/** Takes back a move; after the end of the game only if the user agrees to go on. */
async function undo() {
  const { over, analysing, kept, reason, result } = now.state;
  if (!over || analysing || !now.state.undo) return send("undo");
  const what = kept ? "It stays in My games, and you play on in another game."
    : "Its result is lost.";
  const text = `This game is over: ${reason || result}. ${what}`;
  return await ask("Take a move back?", text, "Take it back", "Leave it")
    && send("undo", { ended: true });
}

async function offerDraw() {
  const answer = await send("draw", { how: "offer" });
  if (!answer || answer.accepted !== false) return;
  tell(`${now.state.players.find(({ engine }) => engine !== null).name} declines the draw.`);
}

export const ACTIONS = {
  first: () => go(0),
  back: () => goTo(here().parent),
  forward: () => goTo(here().children[0]),
  last: () => go(now.state.playing ? now.state.live : tree.end(here()).number),
  up: () => goTo(tree.alternative(here(), -1)),
  down: () => goTo(tree.alternative(here(), 1)),
  undo,
  redo: () => send("redo"),
  promote: () => send("promote", { node: here().number }),
  delete: deleteMoves,
  "play-on": () => send("play_on"),
  flip,
  pause: () => send("pause", { on: !now.state.paused }),
  draw: offerDraw,
  accept: () => send("draw", { how: "accept" }),
  decline: () => send("draw", { how: "decline" }),
  resign,
  play: () => send("analyse", { on: false }),
  analyse: () => send("analyse", { on: true }),
  evaluation: () => send("evaluation", { on: !now.state.reveals }),
  review: () => send("review", { on: !isRunning(now.review) }),
  restart: () => send("restart"),
  new: () => dialogs.newGame.open(now.state, face),
  games: () => dialogs.games.open(),
  puzzles: () => solve(false),
  learn: () => solve(true),
  import: () => dialogs.opening.open(now.state),
  options: () => dialogs.options.open(now.state),
  share: () => dialogs.share.open({
    white: now.state.position.white, black: now.state.position.black, last: now.state.move,
    points: parts.board.points, flipped: parts.board.flipped,
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
  "result-save": () => ACTIONS.share(),
  help: () => showHelp(now.state.rules),
};

/** Shows the help with the rules of the game on the board. */
function showHelp({ variant, fields }) {
  const [, origin] = RULE_SETS[variant] || ["", ""];
  $("rules-list").replaceChildren(
    ...[origin, ...sentences(fields)].map((text) => element("li", {}, text)),
  );
  $("help-dialog").showModal();
}

/** Flips the board so that a user who plays only Black sits at the bottom. */
export function face(players) {
  const users = usersOf({ players });
  if (users.length === 1 && (users[0] === 1) !== parts.board.flipped) flip();
}

/** Sets up a position, to be played from or analysed. */
async function edit() {
  const end = await dialogs.editor.open(now.state);
  if ((end !== "play" && end !== "analyse") || !await mayLeave()) return;
  const analyse = end === "analyse";
  await api("new", { position: dialogs.editor.text, ...dialogs.editor.rules, analyse });
}

/** Gives puzzles, or the mistakes of the game; the one at hand can be analysed. */
async function solve(lessons) {
  const end = await dialogs.puzzles.open(now.state, lessons);
  if (end !== "analyse" || !dialogs.puzzles.shown || !await mayLeave()) return;
  const { position, rules } = dialogs.puzzles.shown;
  await api("new", { position: position.text, ...rules, analyse: true });
}

/** Opens what the page's address carries, for analysis. */
export async function openShared() {
  const text = takeShared();
  if (text === null || !await mayLeave()) return;
  if (await send("load", { text })) await send("analyse", { on: true });
}

/** Begins the same game again with the colours changed. */
async function rematch() {
  const [white, black, analyst] = now.state.players
    .map(({ engine, level, typed }) => ({ engine, level, name: typed }));
  const players = [black, white, analyst];
  if (await send("new", { players, ...now.state.rules, time: now.state.time })) face(players);
}

/** Does what a button or a key names. */
export async function act(name) {
  if (!now.state) return;
  try {
    await ACTIONS[name]();
  } catch (error) {
    tell(error.message);
  }
}
