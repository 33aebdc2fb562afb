// The page of a running tournament. All texts of games go into it as text, never as markup; only
// the standings are markup, which the server made and escaped.

import { Cards } from "./cards.js";
import { $, element } from "./dom.js";
import { Game, resultText } from "./game.js";
import { listen } from "./net.js";
import { Ratio } from "./ratio.js";
import { Viewer } from "./replay.js";

const RESULTS = 200;
const NOTICES = 20;
const NEWS = ["score", "standings", "rounds", "games", "results", "notices", "ratios"];

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

function begin(told) {
  about = told;
  games = new Map();
  replays = new Map();
  viewer ??= new Viewer(about.points);
  cards = new Cards($("cards"), about.points, (game) => viewer.open(game));
  ratio = about.test ? new Ratio($("ratio"), about.test) : null;
  $("event").textContent = about.event;
  $("test").hidden = !ratio;
  $("untold").hidden = about.isTold;
  $("results").replaceChildren();
  $("notices").replaceChildren();
  if (ratio) {
    const { elo0, elo1, model, alpha, beta } = about.test;
    $("hypotheses").textContent = `H0: ${elo0} Elo, H1: ${elo1} Elo (${model}), ` +
      `α ${alpha}, β ${beta}`;
  }
}

const take = {
  score: (told) => { score = told; },
  standings: (html) => {
    const box = $("standings");
    const wide = () => [...box.querySelectorAll(".wide")];
    const places = wide().map((one) => one.scrollLeft);
    box.innerHTML = html;
    wide().forEach((one, index) => { one.scrollLeft = places[index] ?? 0; });
  },
  games: (told) => {
    for (const one of told) {
      const known = games.get(one.n);
      if (known) {
        known.add(one.at, one.moves, one.thinking);
        cards.change(known);
      } else if (one.position) {
        games.set(one.n, new Game(one, about.points));
        cards.add(games.get(one.n));
      }
    }
  },
  results: (told) => {
    for (const one of told) finish(one);
    const list = $("results");
    list.prepend(...told.map(resultLine).reverse());
    while (list.children.length > RESULTS) list.lastChild.remove();
  },
  rounds: (text) => {
    $("rounds-text").textContent = text;
    $("rounds").hidden = !text;
  },
  notices: (told) => {
    const list = $("notices");
    list.append(...told.map((text) => element("li", {}, text)));
    while (list.children.length > NOTICES) list.firstChild.remove();
  },
  ratios: (told) => { if (ratio) ratio.add(told); },
};

function finish(told) {
  const game = games.get(told.n);
  if (!game) return;
  if (told.moves) game.add(told.at, told.moves, null);
  game.end(told);
  games.delete(told.n);
  cards.change(game);
}

function resultLine(told) {
  const button = element("button", { type: "button", title: "Step through this game" },
    element("span", { class: "number" }, String(told.n)),
    element("span", { class: "pair" }, `${told.white} – ${told.black}`),
    element("b", {}, resultText(told.result)), element("span", { class: "reason" }, told.reason));
  button.onclick = () => replay(told.n);
  return element("li", {}, button);
}

async function replay(number) {
  try {
    let told = replays.get(number);
    if (!told) {
      const answer = await fetch(`game/${number}`);
      if (!answer.ok) throw new Error((await answer.json()).error);
      told = await answer.json();
    }
    viewer.open(new Game(told, about.points));
  } catch (error) {
    const why = state === "gone" ? "the runner is gone" : error.message;
    $("results-note").textContent = `Game ${number} cannot be shown: ${why}.`;
  }
}

function onNews(news) {
  if (news.about) begin(news.about);
  for (const name of NEWS) if (news[name]) take[name](news[name]);
  if (news.replays) replays = new Map(news.replays.map((told) => [told.n, told]));
  if (news.over) {
    over = news.over;
    for (const game of [...games.values()]) {
      finish({ n: game.n, result: "*", reason: "broken off" });
    }
    if (cards) cards.end([...replays.values()].map((told) => new Game(told, about.points)));
  }
  schedule();
  return Boolean(over);
}

function onState(told) {
  if (told === state && told !== "silent") return;
  state = told;
  if (state === "gone") for (const game of games.values()) game.asked = null;
  schedule();
}

function schedule() {
  drawTitle();
  if (!scheduled) requestAnimationFrame(draw);
  scheduled = true;
}

/** The tab's title shows the progress, even while the page is hidden. */
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
  $("playing").textContent = about.isTold ? "" : `${playing} handed out`;
  $("stage").hidden = !about.isTold && ended;
  $("games-title").textContent = ended ? "Last games" : "Games in progress";
}

/** So many games a second, in the unit that makes it a number above one. */
function pace(rate) {
  const units = [["second", 1], ["minute", 60], ["hour", 3600]];
  const [name, seconds] = units.find(([, size]) => rate * size >= 1) ?? units[2];
  return `${(rate * seconds).toFixed(1)} a ${name}`;
}

function drawBanner() {
  const done = score ? ` after ${score.text}` : "";
  const texts = {
    gone: about
      ? `The runner is gone${done}, without a word: it was killed, or it crashed. `
        + "This page shows how things stood, and goes on if the run is resumed at this address."
      : "The runner does not answer. Is it still running?",
    silent: "No word from the runner for a while: it is suspended, or the machine is too busy.",
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
listen(onNews, onState);
