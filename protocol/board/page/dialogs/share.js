// The dialog that shares a position or a game: as a link, as text or as a picture.

import { $ } from "../dom.js";
import { api } from "../net.js";
import { drawPicture, picturePNG, pictureText } from "../board/picture.js";
import { copy, download, show } from "./form.js";

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

export class Share {
  constructor(tell) {
    for (const name of ["share-link", "share-text"]) {
      $(`${name}-copy`).addEventListener("click", () => copy($(name), tell));
    }
    $("share-svg").addEventListener("click", () => {
      download("position.svg", new Blob([pictureText(this.picture)], { type: "image/svg+xml" }));
    });
    $("share-png").addEventListener("click", async () => {
      download("position.png", await picturePNG(this.picture));
    });
    for (const input of document.getElementsByName("share-what")) {
      input.addEventListener("change", () => this.fill());
    }
  }

  /** `view` is what the picture shows. */
  async open(view) {
    this.forms = await api("export");
    this.fill();
    const closed = show($("share-dialog"));
    this.picture = drawPicture($("share-picture"), view);
    return closed;
  }

  fill() {
    const whole = $("share-game").checked;
    const text = whole ? this.forms.record : this.forms.shown;
    const { origin, pathname } = window.location;
    $("share-link").value = `${origin}${pathname}${MARK}${encodeURIComponent(text)}`;
    $("share-text").value = whole ? this.forms.record : this.forms.position;
  }
}
