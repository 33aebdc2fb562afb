// The dialog that saves or shares a game or a position: as text, as a link or as a picture.

import { $ } from "../dom.js";
import { api } from "../net.js";
import { drawPicture, picturePNG, pictureText } from "../board/picture.js";
import { copy, download, fill, show } from "./form.js";

const MARK = "#game=";

/** The record in a link to the page, or the text itself if it is no link. */
export function sharedText(text) {
  const start = text.indexOf(MARK);
  if (start < 0) return text;
  const encoded = text.slice(start + MARK.length).trim();
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** The record that the page's own address carries, once; null if it carries none. */
export function takeShared() {
  const { hash, pathname } = window.location;
  if (!hash.startsWith(MARK)) return null;
  window.history.replaceState(null, "", pathname);
  return sharedText(hash);
}

const FORMS = [
  ["Game record (PGN)", "record"], ["Position", "position"],
  ["Position, 17 fields", "seventeen"], ["PlayOK record", "playok"],
];

export class Share {
  constructor(tell) {
    for (const name of ["share-link", "share-text"]) {
      $(`${name}-copy`).addEventListener("click", () => copy($(name), tell));
    }
    $("share-file").addEventListener("click", () => {
      const name = $("share-form").value === "record" ? "game.pgn" : "game.txt";
      download(name, new Blob([$("share-text").value], { type: "text/plain" }));
    });
    $("share-svg").addEventListener("click", () => {
      download("position.svg", new Blob([pictureText(this.picture)], { type: "image/svg+xml" }));
    });
    $("share-png").addEventListener("click", async () => {
      download("position.png", await picturePNG(this.picture));
    });
    $("share-form").addEventListener("change", () => this.draw());
  }

  /** `view` is what the picture shows. */
  async open(view) {
    this.forms = await api("export");
    fill($("share-form"), FORMS.filter(([, name]) => name in this.forms), "record");
    this.draw();
    const closed = show($("share-dialog"));
    this.picture = drawPicture($("share-picture"), view);
    await closed;
    $("share-picture").replaceChildren();
  }

  /** Shows the text of the form chosen, and a link to the game or to the position only. */
  draw() {
    const form = $("share-form").value;
    const text = ["record", "playok"].includes(form) ? this.forms.record : this.forms.shown;
    const { origin, pathname } = window.location;
    $("share-link").value = `${origin}${pathname}${MARK}${encodeURIComponent(text)}`;
    $("share-text").value = this.forms[form];
  }
}
