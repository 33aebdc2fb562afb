// The dialog that saves or shares a game or a position as text or picture.

import { $, svg } from "../dom.js";
import { Drawing, menOf, parseMove } from "../drawing.js";
import { api } from "../net.js";
import { showMessage } from "../page.js";
import { SIDES, t } from "../text.js";
import { download, fill, on, show } from "./form.js";

/** Width and height of the board in a picture, and of the strip below it, in pixels. */
const SIZE = 714;
const STRIP = 66;
/** Properties that the style sheets set; a picture file needs them as attributes. */
const STYLES = ["fill", "stroke", "stroke-width", "stroke-linecap", "opacity", "font-family",
  "font-size", "font-weight", "text-anchor", "dominant-baseline", "stop-color", "stop-opacity"];

const FORMS = [
  "record", "position", "seventeen", "playok",
].map((name) => [t(`share.${name}`), name]);

/** Draws a picture into an element, with computed styles as attributes, and returns it. */
function drawPicture(place, { white, black, hands, side, last, points, flipped }) {
  const root = svg("svg", {
    class: "board picture", width: SIZE, height: SIZE + STRIP, role: "img",
    "aria-label": t("share.picture.label"),
  });
  place.replaceChildren(root);
  const drawing = new Drawing(root, points, flipped);
  drawing.show(menOf({ white, black }), last && parseMove(last));
  root.setAttribute("viewBox", `-14 0 ${SIZE} ${SIZE + STRIP}`);
  root.prepend(svg("rect", { class: "paper", x: -14, y: 0, width: SIZE, height: SIZE + STRIP }));
  root.append(strip(hands, side));
  for (const shape of root.querySelectorAll("rect, path, line, circle, text, stop")) {
    const style = getComputedStyle(shape);
    for (const name of STYLES) shape.setAttribute(name, style.getPropertyValue(name));
  }
  return root;
}

/** Returns the men in hand and the side to move, to be drawn below the board. */
function strip(hands, side) {
  const group = svg("g", {}, svg("text", {
    class: "words", x: 343, y: SIZE + STRIP / 2,
  }, t("editor.to-move", { side: SIDES[side] })));
  ["white", "black"].forEach((colour, owner) => {
    for (let man = 0; man < hands[owner]; man += 1) {
      const x = owner ? 676 - 22 * man : 10 + 22 * man;
      group.append(svg("circle", { class: `man ${colour}`, cx: x, cy: SIZE + STRIP / 2, r: 15 }));
    }
  });
  return group;
}

/** Returns a picture as the text of a file. */
const fileOf = (picture) => new Blob(
  [new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" },
);

/** Returns a picture as a PNG. */
async function picturePNG(picture) {
  const image = new Image();
  image.src = URL.createObjectURL(fileOf(picture));
  await image.decode();
  URL.revokeObjectURL(image.src);
  const canvas = document.createElement("canvas");
  canvas.width = 2 * SIZE;
  canvas.height = 2 * (SIZE + STRIP);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
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
    on("click", {
      "share-text-copy": () => copy($("share-text")),
      "share-file": () => {
        const name = $("share-form").value === "record" ? "game.pgn" : "game.txt";
        download(name, new Blob([$("share-text").value], { type: "text/plain" }));
      },
      "share-svg": () => download("position.svg", fileOf(this.picture)),
      "share-png": async () => download("position.png", await picturePNG(this.picture)),
    });
    on("change", { "share-form": () => this.draw() });
  }

  /** Shows the dialog; `view` is the position for the picture. */
  async open(view) {
    this.forms = await api("export");
    fill($("share-form"), FORMS.filter(([, name]) => name in this.forms), "record");
    this.draw();
    const closed = show("share");
    this.picture = drawPicture($("share-picture"), view);
    await closed;
    $("share-picture").replaceChildren();
  }

  /** Shows the text in the chosen form. */
  draw() {
    $("share-text").value = this.forms[$("share-form").value];
  }
}
