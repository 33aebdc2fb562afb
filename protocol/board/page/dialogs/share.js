// The dialog that saves or shares a game or a position as text, link or picture.

import { $, svg } from "../dom.js";
import { Drawing, menOf, parse } from "../drawing.js";
import { api } from "../net.js";
import { showMessage } from "../now.js";
import { t } from "../text.js";
import { download, fill, show } from "./form.js";

/** Width and height of the picture, in pixels. */
const SIZE = 714;
/** Properties that the style sheets set; a picture file needs them as attributes. */
const STYLES = ["fill", "stroke", "stroke-width", "stroke-linecap", "opacity", "font-family",
  "font-size", "font-weight", "text-anchor", "dominant-baseline"];

/** Prefix of a game in a link's fragment. */
const MARK = "#game=";

/** Returns the record in a link to the page, or the text itself if it is not a link. */
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

/** Returns the record in the page's address and removes it there; null if there is none. */
export function takeSharedRecord() {
  const { hash, pathname } = window.location;
  if (!hash.startsWith(MARK)) return null;
  window.history.replaceState(null, "", pathname);
  return sharedText(hash);
}

const FORMS = [
  "record", "position", "seventeen", "playok",
].map((name) => [t(`share.${name}`), name]);

/** Draws a picture into an element, with computed styles as attributes, and returns it. */
function drawPicture(place, { white, black, last, points, flipped }) {
  const root = svg("svg", {
    class: "board picture", width: SIZE, height: SIZE, role: "img",
    "aria-label": t("share.picture.label"),
  });
  place.replaceChildren(root);
  const drawing = new Drawing(root, points, flipped);
  drawing.show(menOf({ white, black }), last && parse(last));
  for (const shape of shapesOf(root)) {
    const style = getComputedStyle(shape);
    for (const name of STYLES) shape.setAttribute(name, style.getPropertyValue(name));
  }
  return root;
}

const shapesOf = (root) => root.querySelectorAll("rect, path, line, circle, text");

/** Returns the picture as a PNG; painted, because the page's policy forbids loading images. */
function picturePNG(root) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 2 * SIZE;
  const pen = canvas.getContext("2d");
  const { x, y } = root.viewBox.baseVal;
  const inside = root.getScreenCTM().inverse();
  for (const shape of shapesOf(root)) {
    const { e, f } = inside.multiply(shape.getScreenCTM());
    pen.setTransform(2, 0, 0, 2, 2 * (e - x), 2 * (f - y));
    paint(pen, shape, (name) => shape.getAttribute(name));
  }
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

function paint(pen, shape, get) {
  const of = (...names) => names.map((name) => Number(get(name)));
  const outline = new Path2D(get("d") ?? "");
  if (shape.localName === "rect") outline.roundRect(...of("x", "y", "width", "height", "rx"));
  if (shape.localName === "circle") outline.arc(...of("cx", "cy", "r"), 0, 2 * Math.PI);
  if (shape.localName === "line") {
    outline.moveTo(...of("x1", "y1"));
    outline.lineTo(...of("x2", "y2"));
  }
  Object.assign(pen, {
    globalAlpha: Number(get("opacity")), fillStyle: get("fill"), strokeStyle: get("stroke"),
    lineWidth: parseFloat(get("stroke-width")), lineCap: get("stroke-linecap"),
    font: `${get("font-weight")} ${get("font-size")} ${get("font-family")}`,
    textAlign: "center", textBaseline: "middle",
  });
  if (shape.localName === "text") pen.fillText(shape.textContent, ...of("x", "y"));
  if (get("fill") !== "none") pen.fill(outline);
  if (get("stroke") !== "none") pen.stroke(outline);
}

/** Copies a field's text; if the browser refuses, leaves it selected for the user. */
async function copy(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    showMessage(t("share.copied"));
  } catch {
    showMessage(t("share.select"));
  }
}

export class Share {
  constructor() {
    for (const name of ["share-link", "share-text"]) {
      $(`${name}-copy`).addEventListener("click", () => copy($(name)));
    }
    $("share-file").addEventListener("click", () => {
      const name = $("share-form").value === "record" ? "game.pgn" : "game.txt";
      download(name, new Blob([$("share-text").value], { type: "text/plain" }));
    });
    $("share-svg").addEventListener("click", () => {
      const text = new XMLSerializer().serializeToString(this.picture);
      download("position.svg", new Blob([text], { type: "image/svg+xml" }));
    });
    $("share-png").addEventListener("click", async () => {
      download("position.png", await picturePNG(this.picture));
    });
    $("share-form").addEventListener("change", () => this.draw());
  }

  /** Shows the dialog; `view` is the position for the picture. */
  async open(view) {
    this.forms = await api("export");
    fill($("share-form"), FORMS.filter(([, name]) => name in this.forms), "record");
    this.draw();
    const closed = show($("share-dialog"));
    this.picture = drawPicture($("share-picture"), view);
    await closed;
    $("share-picture").replaceChildren();
  }

  /** Shows the text in the chosen form, and a link to the game or to the position. */
  draw() {
    const form = $("share-form").value;
    const text = ["record", "playok"].includes(form) ? this.forms.record : this.forms.shown;
    const { origin, pathname } = window.location;
    $("share-link").value = `${origin}${pathname}${MARK}${encodeURIComponent(text)}`;
    $("share-text").value = this.forms[form];
  }
}
