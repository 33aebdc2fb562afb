// The panels around the board: players with clocks and hands, the evaluation bar, variations,
// the move list, the review's graph and the raw log.

import { $, clockText, COLOURS, element, svg } from "./dom.js";

const LOG_LINES = 1000;

/** Both players' rows; `onHand` is called when a man in a hand is pressed. */
export class Players {
  constructor(onHand) {
    this.onHand = onHand;
    this.clocks = [];
    setInterval(() => this.tick(), 100);
  }

  draw(state, flipped, placing) {
    this.state = state;
    this.received = performance.now();
    // White is at the bottom unless the board is flipped.
    const rows = [$("player-bottom"), $("player-top")];
    if (flipped) rows.reverse();
    rows.forEach((row, side) => this.drawRow(row, side, placing));
    this.tick();
  }

  drawRow(row, side, placing) {
    const { position, players, clock, over } = this.state;
    const colour = COLOURS[side].toLowerCase();
    const moving = position.side === side && !over;
    row.classList.toggle("moving", moving);
    row.dataset.side = side;
    const name = `${COLOURS[side]}: ${players[side].name}`;
    row.replaceChildren(element("span", { class: "name" }, name));
    const men = position[colour].length;
    const hand = position.hands[side];
    if (hand) {
      const tray = element("span", { class: `hand ${colour}` });
      for (let count = 0; count < hand; count += 1) tray.append(element("i"));
      tray.append(element("span", {}, `${hand} in hand`));
      if (moving && placing) {
        tray.classList.add("live");
        tray.addEventListener("pointerdown", this.onHand);
      }
      row.append(tray);
    } else {
      row.append(element("span", { class: "hand" }, element("span", {}, `${men} men`)));
    }
    const chip = (word) => row.append(element("span", { class: `chip ${word}` }, word));
    if (position.flying[side]) chip("flying");
    if (position.blocked && position.side === side) chip("blocked");
    this.clocks[side] = null;
    if (clock) {
      this.clocks[side] = element("span", { class: "clock", role: "timer" });
      row.append(this.clocks[side]);
    }
  }

  tick() {
    const clock = this.state && this.state.clock;
    if (!clock) return;
    this.clocks.forEach((shown, side) => {
      if (!shown) return;
      const running = clock.running === side;
      const spent = running ? (performance.now() - this.received) / 1000 : 0;
      const text = clockText(clock.left[side] - spent);
      if (shown.textContent !== text) shown.textContent = text;
      shown.classList.toggle("running", running);
      shown.classList.toggle("short", clock.left[side] - spent < 20);
    });
  }
}

function drawBar(share, text) {
  const percent = Math.round(share * 100);
  $("bar-white").style.height = `${percent}%`;
  $("bar").setAttribute("aria-valuenow", percent);
  $("bar").title = `${text} (White ${percent} %)`;
}

/**
 * The evaluation bar and the variations. `judged` is the review's judgement of the last move;
 * `stale` says that there is an evaluation, but of another position.
 */
export function drawInfo(info, state, flipped, judged, stale) {
  $("bar").classList.toggle("flipped", flipped);
  const result = { "1-0": 1, "0-1": 0, "1/2-1/2": 0.5 }[state.result];
  if (state.over && state.cursor === state.moves.length) drawBar(result, state.result);
  else if (info && info.share !== null) drawBar(info.share, info.text);
  else if (judged) drawBar(judged.value, judged.text);
  else if (!stale) drawBar(0.5, "not yet evaluated");
  if (!info) {
    $("lines").replaceChildren();
    $("facts").textContent = state.analysing ? "" : "Turn on analysis to see the best moves.";
    return;
  }
  if (info.share === null) return;
  const facts = [`${info.part}: depth ${info.depth ?? "?"}`];
  if (info.nodes) facts.push(`${short(info.nodes)} nodes`);
  if (info.nps) facts.push(`${short(info.nps)}/s`);
  $("facts").textContent = facts.join(" · ");
  $("lines").replaceChildren(...info.lines.map((line) => {
    const text = line.moves.join(" ");
    return element("li", { title: text }, element("b", {}, line.text), element("span", {}, text));
  }));
}

function short(number) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (number >= size) return `${(number / size).toFixed(number >= 10 * size ? 0 : 1)} ${unit}`;
  }
  return String(number);
}

/** The move list, rebuilt only when it changes because it is long. */
export class MoveList {
  constructor(onGo) {
    this.onGo = onGo;
    this.key = "";
  }

  draw(state, judgements) {
    const key = JSON.stringify([state.moves, state.comments, state.first, judgements.length]);
    if (key !== this.key) this.build(state, judgements);
    this.key = key;
    let current = null;
    for (const button of $("moves").querySelectorAll("button")) {
      const here = Number(button.dataset.ply) === state.cursor;
      button.setAttribute("aria-current", String(here));
      if (here) current = button;
    }
    const list = $("moves");
    // Not scrollIntoView: it would scroll the whole page on a phone.
    if (current) {
      const top = current.offsetTop - list.offsetTop;
      const hidden = top < list.scrollTop || top > list.scrollTop + list.clientHeight - 30;
      if (hidden) list.scrollTop = top - 60;
    }
  }

  build(state, judgements) {
    const cells = [];
    let { number, side } = state.first;
    state.moves.forEach((text, index) => {
      if (side === 0 || index === 0) cells.push(element("li", { class: "number" }, `${number}.`));
      if (side === 1 && index === 0) cells.push(element("li", {}, "…"));
      const button = element("button", { "data-ply": index + 1 }, text);
      const judged = judgements[index];
      if (judged && judged.name) {
        button.classList.add(judged.name);
        button.title = judged.sentence;
      } else if (state.comments[index]) button.title = state.comments[index];
      button.addEventListener("click", () => this.onGo(index + 1));
      cells.push(element("li", {}, button));
      number += side;
      side = 1 - side;
    });
    $("moves").replaceChildren(...cells);
  }
}

/** The review: a graph of White's expected score after each move, and a verdict. */
export function drawReview(review, state, onGo) {
  $("graph").hidden = $("verdict").hidden = !review;
  $("review").textContent = review && review.done < review.moves ? "Stop" : "Review";
  if (!review) return;
  const width = Math.max(1, review.moves);
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} 100`, preserveAspectRatio: "none", role: "img",
    "aria-label": "White's expected score after each move",
  });
  const places = review.judgements.map((judged, at) => `${at + 1},${100 - judged.value * 100}`);
  if (places.length) {
    drawing.append(svg("polygon", { class: "area",
      points: `0,100 0,${places[0].split(",")[1]} ${places.join(" ")} ${places.length},100` }));
  }
  drawing.append(svg("line", { class: "half", x1: 0, x2: width, y1: 50, y2: 50 }));
  const here = state.cursor;
  drawing.append(svg("line", { class: "here", x1: here, x2: here, y1: 0, y2: 100 }));
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    onGo(Math.round(((event.clientX - box.left) / box.width) * width));
  });
  $("graph").replaceChildren(drawing);
  $("verdict").textContent = verdictOn(review, review.judgements[here - 1]);
}

/** The verdict on the move shown, or on the whole game. */
function verdictOn(review, judged) {
  const count = (name) => review.judgements.filter((one) => one.name === name).length;
  if (review.done < review.moves) return `Judging move ${review.done + 1} of ${review.moves} …`;
  if (judged && judged.sentence) return `${judged.move}: ${judged.sentence} (${judged.text})`;
  if (judged) return `${judged.move}: ${judged.text}`;
  return `Blunders ${count("blunder")}, mistakes ${count("mistake")}, `
    + `inaccuracies ${count("inaccuracy")}`;
}

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
