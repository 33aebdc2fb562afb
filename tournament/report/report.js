// Replays games on a board. Texts of games go into the page as text, never as markup.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const games = JSON.parse(document.getElementById("games").textContent);
  const section = document.getElementById("replay");
  if (!games.length) return;
  section.hidden = false;

  // Rings from inner to outer, eight points each, clockwise from the top centre.
  const NAMES = ("d5 e5 e4 e3 d3 c3 c4 c5 d6 f6 f4 f2 d2 b2 b4 b6 " +
    "d7 g7 g4 g1 d1 a1 a4 a7").split(" ");
  const place = (name) => ({
    x: 8 + 14 * (name.charCodeAt(0) - 97),
    y: 8 + 14 * (7 - Number(name[1])),
  });

  function add(parent, made, attributes, text) {
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    parent.append(made);
    return made;
  }
  const element = (parent, name, attributes = {}, text = "") =>
    add(parent, document.createElement(name), attributes, text);
  const shape = (parent, name, attributes, text = "") =>
    add(parent, document.createElementNS(SVG, name), attributes, text);

  // A position is a map from point to "white" or "black", and who is to move.
  function start(text) {
    const [board, side] = text.split(" ");
    const men = new Map();
    [...board.replaceAll("/", "")].forEach((man, index) => {
      if (man === "O") men.set(NAMES[index], "white");
      if (man === "@") men.set(NAMES[index], "black");
    });
    return { men, side: side === "b" ? "black" : "white", touched: [] };
  }

  function play(position, move) {
    const [path, ...taken] = move.split("x");
    const men = new Map(position.men);
    const points = path.split("-");
    if (points.length === 2) men.delete(points[0]);
    men.set(points[points.length - 1], position.side);
    for (const point of taken) men.delete(point);
    const side = position.side === "white" ? "black" : "white";
    return { men, side, touched: [...points, ...taken] };
  }

  function replayOf(game) {
    const opening = game.opening.split(" ").filter(Boolean);
    const moves = [...opening, ...game.moves.split(" ").filter(Boolean)];
    const positions = [start(game.position)];
    for (const move of moves) positions.push(play(positions[positions.length - 1], move));
    const scores = game.scores.split(" "), depths = game.depths.split(" ");
    const times = game.times.split(" ");
    const notes = moves.map((_, index) => {
      const at = index - opening.length;
      if (at < 0) return { text: "opening", white: null };
      const score = scores[at];
      // Scores are the mover's own; the graph is White's.
      const sign = positions[index].side === "white" ? 1 : -1;
      const seconds = (Number(times[at]) / 1e9).toFixed(3) + " s";
      if (!score || score === "-") return { text: seconds, white: null };
      if (score.startsWith("#")) {
        const plies = Number(score.slice(1));
        const text = (plies > 0 ? "wins" : "loses") + " in " + Math.abs(plies) + " plies";
        const height = plies > 0 ? 9 : -9;
        return { text: `${text}, depth ${depths[at]}, ${seconds}`, white: sign * height };
      }
      const men = Number(score) / 100;
      const text = (men > 0 ? "+" : "") + men.toFixed(2);
      return { text: `${text}, depth ${depths[at]}, ${seconds}`, white: sign * men };
    });
    return { moves, positions, notes, opening: opening.length };
  }

  const filter = element(section, "select", { "aria-label": "engine" });
  const panes = element(section, "div", { class: "panes" });
  const list = element(panes, "div", { class: "list" });
  const view = element(panes, "div", { class: "view" });
  const title = element(view, "p");
  const board = shape(view, "svg", { class: "board", viewBox: "0 0 100 104", role: "img" });
  const controls = element(view, "div", { class: "controls" });
  const note = element(view, "p", { class: "note" });
  const graph = shape(
    view, "svg", { class: "graph", viewBox: "0 0 100 20", preserveAspectRatio: "none" }
  );
  const moveList = element(view, "div", { class: "moves" });
  const label = (x, y, text) => shape(board, "text", { x, y }, text);
  for (const side of [14, 28, 42]) {
    const [corner, length] = [50 - side, 2 * side];
    shape(board, "rect", { class: "line", x: corner, y: corner, width: length, height: length });
  }
  for (const [x1, y1, x2, y2] of [
    [50, 8, 50, 36], [50, 64, 50, 92], [8, 50, 36, 50], [64, 50, 92, 50],
  ]) {
    shape(board, "line", { class: "line", x1, y1, x2, y2 });
  }
  [..."abcdefg"].forEach((file, index) => label(8 + 14 * index, 101, file));
  [..."7654321"].forEach((rank, index) => label(2.5, 9.2 + 14 * index, rank));
  const menLayer = shape(board, "g", {});

  let current = null, game = null, ply = 0;

  function draw() {
    const position = current.positions[ply], last = ply - 1;
    menLayer.replaceChildren();
    for (const [point, colour] of position.men) {
      const { x, y } = place(point);
      shape(menLayer, "circle", { class: colour, cx: x, cy: y, r: 4.6 });
    }
    for (const point of position.touched) {
      const { x, y } = place(point);
      shape(menLayer, "circle", { class: "last", cx: x, cy: y, r: 5.8 });
    }
    board.setAttribute("aria-label", ply ? `after ${current.moves[last]}` : "first position");
    const over = ply === current.moves.length ? ` — ${game.result} ${game.reason}` : "";
    const told = ply ? `${current.moves[last]}: ${current.notes[last].text}` : "start";
    note.textContent = told + over;
    [...moveList.children].forEach((span, index) => span.classList.toggle("now", index === last));
    const now = moveList.children[last];
    if (now) moveList.scrollTop = now.offsetTop - moveList.offsetTop - moveList.clientHeight / 2;
    drawGraph();
  }

  function drawGraph() {
    graph.replaceChildren();
    const last = Math.max(1, current.moves.length - 1);
    const height = (men) => 10 - Math.max(-9.5, Math.min(9.5, men));
    shape(graph, "line", { x1: 0, x2: 100, y1: 10, y2: 10 });
    for (const parity of [0, 1]) {
      const points = current.notes.map((each, index) => [each.white, index])
        .filter(([men, index]) => men !== null && index % 2 === parity)
        .map(([men, index]) => `${(100 * index / last).toFixed(2)},${height(men).toFixed(2)}`);
      shape(graph, "polyline", { points: points.join(" "), opacity: parity ? 0.5 : 1 });
    }
    const x = (100 * Math.max(0, ply - 1) / last).toFixed(2);
    shape(graph, "line", { x1: x, x2: x, y1: 0, y2: 20 });
  }

  function go(to) {
    ply = Math.max(0, Math.min(current.moves.length, to));
    draw();
  }

  function open(chosen) {
    game = chosen;
    current = replayOf(game);
    const players = `${game.white} (White) against ${game.black}`;
    title.textContent = `Game ${game.n}: ${players}, ${game.result}`;
    moveList.replaceChildren();
    current.moves.forEach((move, index) => {
      const looks = index < current.opening ? { class: "opening" } : {};
      const span = element(moveList, "span", looks, move);
      span.addEventListener("click", () => go(index + 1));
    });
    for (const button of list.children) {
      button.setAttribute("aria-current", String(button.game === game));
    }
    go(0);
  }

  function fill() {
    list.replaceChildren();
    for (const each of games) {
      if (filter.value && each.white !== filter.value && each.black !== filter.value) continue;
      const button = element(list, "button", { type: "button", title: each.reason });
      element(button, "span", {}, `${each.n}.`);
      element(button, "span", {}, `${each.white} – ${each.black}`);
      element(button, "span", { class: "result" }, each.result);
      button.game = each;
      button.addEventListener("click", () => open(each));
    }
    if (list.firstChild) open(list.firstChild.game);
  }

  element(filter, "option", { value: "" }, "all engines");
  for (const name of [...new Set(games.flatMap((each) => [each.white, each.black]))].sort()) {
    element(filter, "option", { value: name }, name);
  }
  filter.addEventListener("change", fill);
  for (const [text, title, step] of [
    ["|<", "first", () => 0], ["<", "back", () => ply - 1],
    [">", "on", () => ply + 1], [">|", "last", () => Infinity],
  ]) {
    const button = element(controls, "button", { type: "button", title }, text);
    button.addEventListener("click", () => go(step()));
  }
  document.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || event.target.tagName === "SELECT") return;
    event.preventDefault();
    go(ply + steps[event.key]);
  });
  fill();
})();
