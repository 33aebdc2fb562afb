// The page of a running tournament. Texts of games are inserted as text, never as HTML. Only the
// standings are HTML, which the server has escaped.

import { Cards } from "./cards.js";
import { $, counted, element } from "./dom.js";
import { Game, resultText } from "./game.js";
import { listen } from "./net.js";
import { Ratio } from "./ratio.js";
import { Viewer } from "./replay.js";

const RESULTS = 200;
const NOTICES = 20;
const PARTS = ["score", "standings", "rounds", "games", "results", "notices", "ratios"];

let about = null;
let score = null;
let over = null;
let state = "gone";
let cards;
let viewer = null;
let ratio = null;
let games = new Map();
let replays = new Map();
let scheduled = false;

function begin(constants) {
  about = constants;
  games = new Map();
  replays = new Map();
  viewer ??= new Viewer(about.points);
  cards = new Cards($("cards"), about.points, (game) => viewer.open(game));
  ratio = about.test ? new Ratio($("ratio"), about.test) : null;
  $("event").textContent = about.event;
  $("test").hidden = !ratio;
  $("no-moves").hidden = about.hasMoves;
  $("results").replaceChildren();
  $("notices").replaceChildren();
  if (ratio) {
    const { elo0, elo1, model, alpha, beta } = about.test;
    $("hypotheses").textContent = `H0: ${elo0} Elo, H1: ${elo1} Elo (${model}), ` +
      `α ${alpha}, β ${beta}`;
  }
}

const update = {
  score: (newScore) => { score = newScore; },
  standings: (html) => {
    const box = $("standings");
    const wide = () => [...box.querySelectorAll(".wide")];
    const offsets = wide().map((table) => table.scrollLeft);
    box.innerHTML = html;
    wide().forEach((table, index) => { table.scrollLeft = offsets[index] ?? 0; });
  },
  games: (changes) => {
    for (const change of changes) {
      const game = games.get(change.n);
      if (game) {
        game.add(change.at, change.moves, change.thinking);
        cards.change(game);
      } else if (change.position) {
        games.set(change.n, new Game(change, about.points));
        cards.add(games.get(change.n));
      }
    }
  },
  results: (results) => {
    for (const result of results) finish(result);
    const list = $("results");
    list.prepend(...results.map(resultLine).reverse());
    while (list.children.length > RESULTS) list.lastChild.remove();
  },
  rounds: (text) => {
    $("rounds-text").textContent = text;
    $("rounds").hidden = !text;
  },
  notices: (texts) => {
    const list = $("notices");
    list.append(...texts.map((text) => element("li", {}, text)));
    while (list.children.length > NOTICES) list.firstChild.remove();
  },
  ratios: (points) => { if (ratio) ratio.add(points); },
};

function finish(result) {
  const game = games.get(result.n);
  if (!game) return;
  if (result.moves) game.add(result.at, result.moves, null);
  game.end(result);
  games.delete(result.n);
  cards.change(game);
}

function resultLine({ n, white, black, result, reason }) {
  const button = element("button", { type: "button", title: "Step through this game" },
    element("span", { class: "number" }, String(n)),
    element("span", { class: "pair" }, `${white} – ${black}`),
    element("b", {}, resultText(result)), element("span", { class: "reason" }, reason));
  button.onclick = () => replay(n);
  return element("li", {}, button);
}

async function replay(number) {
  try {
    let data = replays.get(number);
    if (!data) {
      const answer = await fetch(`game/${number}`);
      if (!answer.ok) throw new Error((await answer.json()).error);
      data = await answer.json();
    }
    viewer.open(new Game(data, about.points));
  } catch (error) {
    const cause = state === "gone" ? "the runner has ended" : error.message;
    $("results-note").textContent = `Game ${number} cannot be shown: ${cause}.`;
  }
}

function onEvent(event) {
  if (event.about) begin(event.about);
  for (const name of PARTS) if (event[name]) update[name](event[name]);
  if (event.replays) replays = new Map(event.replays.map((data) => [data.n, data]));
  if (event.over) {
    over = event.over;
    for (const game of [...games.values()]) {
      finish({ n: game.n, result: "*", reason: "broken off" });
    }
    if (cards) cards.end([...replays.values()].map((data) => new Game(data, about.points)));
  }
  schedule();
  return Boolean(over);
}

function onState(newState) {
  if (newState === state && newState !== "silent") return;
  state = newState;
  if (state === "gone") for (const game of games.values()) game.asked = null;
  schedule();
}

function schedule() {
  drawTitle();
  if (!scheduled) requestAnimationFrame(draw);
  scheduled = true;
}

/** Shows the progress in the tab's title, even while the page is hidden. */
function drawTitle() {
  if (!score) return;
  const mark = over ? "■ " : state === "here" ? "" : "✕ ";
  document.title = `${mark}${score.text} · ${about.event}`;
}

function draw() {
  scheduled = false;
  drawBanner();
  if (!about) return;
  cards.draw(games.size);
  viewer.draw();
  if (ratio) ratio.draw();
  if (!score) return;
  const { text, share, rate, left, playing } = score;
  $("bar").value = share;
  const ended = over || state === "gone";
  const parts = ended || !rate ? [text] : [text, pace(rate), left];
  $("score").textContent = parts.filter(Boolean).join(" · ");
  $("playing").textContent = about.hasMoves ? "" : `${counted(playing, "game")} submitted`;
  $("stage").hidden = !about.hasMoves && ended;
  $("games-title").textContent = ended ? "Last games" : "Games in progress";
}

/** Returns `rate` (games/s) as text per second, or per minute or hour if it would be below 1. */
function pace(rate) {
  const units = [["second", 1], ["minute", 60], ["hour", 3600]];
  const [name, seconds] = units.find(([, size]) => rate * size >= 1) ?? units[2];
  return `${(rate * seconds).toFixed(1)} games per ${name}`;
}

function drawBanner() {
  const done = score ? ` after ${score.text}` : "";
  const texts = {
    gone: about
      ? `The runner has ended unexpectedly${done}: it was killed, or it crashed. `
        + "This page shows the last state, and continues if the run is resumed at this address."
      : "The runner does not answer. Is it still running?",
    silent: "The runner has sent nothing for a while: it is suspended, or the machine is too busy.",
    here: "",
  };
  const text = over ? over.text : texts[state];
  if ($("banner").textContent !== text) $("banner").textContent = text;
  $("banner").hidden = !text;
  $("banner").className = `banner ${over ? over.end : state}`;
  $("state").textContent = over ? "over" : { here: "live", silent: "silent", gone: "gone" }[state];
  $("state").className = `state ${over ? "over" : state}`;
}

setInterval(() => {
  if (document.hidden || !about) return;
  cards.draw(games.size);
  cards.tick();
  viewer.tick();
}, 100);
listen(onEvent, onState);
