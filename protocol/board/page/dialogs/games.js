// The dialog My games: searches, opens, deletes and exports the stored games.

import { $, element } from "../dom.js";
import { api } from "../net.js";
import { confirmLeaving, send, showMessage } from "../now.js";
import { title as rulesTitle } from "../rules.js";
import { counted, fromServer, t } from "../text.js";
import { ask, download, show } from "./form.js";

/** Returns the title of a game: the players and the result. */
export function title(game) {
  const result = game.unfinished || game.result === "*" ? t("games.unfinished") : game.result;
  const names = [game.white, game.black].map(fromServer);
  const isUnnamed = names.every((name) => name === "?");
  return t("games.title", {
    players: isUnnamed ? t("games.unnamed") : names.join(" – "), result,
  });
}

/** Returns the second line of a game in a list. */
function details(game) {
  const parts = [
    game.date.replaceAll(".", "-"),
    game.plies && counted("move", game.plies),
    rulesTitle(game.variant),
    game.event === "A game on the board" ? "" : game.event,
  ];
  return parts.filter((part) => part && !part.startsWith("?")).join(" · ");
}

/** Returns an item of a list of games; its first button opens the game. */
export function row(game, onOpen, ...more) {
  const open = element("button", { type: "button", class: "open" },
    element("span", { class: "who" }, title(game)), element("small", {}, details(game)));
  open.addEventListener("click", onOpen);
  return element("li", {}, open, ...more);
}

export class Games {
  constructor() {
    $("games-query").addEventListener("input", () => this.list());
    $("games-query").addEventListener("keydown", (event) => {
      // Enter would press the button that closes the dialog.
      if (event.key === "Enter") event.preventDefault();
    });
    $("games-save").addEventListener("click", async () => {
      const { record } = await api("all_games", { query: $("games-query").value });
      download("games.pgn", new Blob([record], { type: "application/x-chess-pgn" }));
    });
  }

  async open() {
    $("games-query").value = "";
    await this.list();
    return show($("games-dialog"));
  }

  async list() {
    const query = $("games-query").value;
    const { games, found, folder } = await api("games", { query });
    // An answer to an older query may arrive later.
    if (query !== $("games-query").value) return;
    $("games-list").replaceChildren(...games.map((game) => this.row(game)));
    const more = found > games.length
      ? ` ${t("games.latest", { count: games.length })}` : "";
    $("games-count").textContent = found || query ? `${counted("game", found)}.${more}`
      : t("games.none", { folder });
    $("games-save").disabled = !found;
  }

  row(game) {
    if (game.here) return row(game, () => $("games-dialog").close());
    const remove = element("button", {
      type: "button", "aria-label": t("games.delete", { game: title(game) }),
    }, t("delete"));
    remove.addEventListener("click", () => this.remove(game));
    return row(game, () => this.reopen(game), remove);
  }

  async reopen(game) {
    const isOpen = await confirmLeaving() && await send("reopen", { key: game.key });
    if (isOpen) $("games-dialog").close();
  }

  async remove(game) {
    const text = t("ask.delete.text", { game: title(game) });
    if (!await ask(t("ask.delete"), text, t("delete"), t("ask.delete.no"))) return;
    await send("forget", { key: game.key, changed: game.changed });
    await this.list().catch((error) => showMessage(error.message));
  }
}
