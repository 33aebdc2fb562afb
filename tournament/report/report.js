// The games of a report: a list to choose from, and the one chosen on a board.

import { $, element } from "./dom.js";
import { Game, resultText } from "./game.js";
import { Replay } from "./replay.js";

const games = JSON.parse($("games").textContent);

function show(section) {
  const names = [...new Set(games.flatMap(({ white, black }) => [white, black]))].sort();
  const filter = element("select", { "aria-label": "engine" },
    element("option", { value: "" }, "all engines"),
    ...names.map((name) => element("option", { value: name }, name)));
  const list = element("div", { class: "list" });
  const view = element("div", { class: "view" });
  section.append(filter, element("div", { class: "panes" }, list, view));
  section.hidden = false;
  const points = section.dataset.points.split(" ");
  const replay = new Replay(view, points);

  const open = (game) => {
    for (const button of list.children) {
      button.setAttribute("aria-current", String(button.game === game));
    }
    replay.open(new Game(game, points), 0);
  };
  const fill = () => {
    const fits = ({ white, black }) => [white, black, ""].includes(filter.value);
    list.replaceChildren(...games.filter(fits).map((game) => {
      const button = element("button", { type: "button", title: game.reason },
        element("span", {}, `${game.n}.`),
        element("span", {}, `${game.white} – ${game.black}`),
        element("span", { class: "result" }, resultText(game.result)));
      button.game = game;
      button.addEventListener("click", () => open(game));
      return button;
    }));
    open(list.firstChild.game);
  };
  filter.addEventListener("change", fill);
  document.addEventListener("keydown", (event) => {
    if (event.target !== filter) replay.key(event);
  });
  fill();
}

if (games.length) show($("replay"));
