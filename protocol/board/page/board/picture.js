// A picture of a position as a file of its own: SVG, or rendered as PNG.

import { svg } from "../dom.js";
import { Drawing, parse } from "../drawing.js";

const SIZE = 714;
/** Properties that the page's style sheets set; a file needs them as attributes. */
const STYLES = ["fill", "stroke", "stroke-width", "stroke-linecap", "opacity", "font-family",
  "font-size", "font-weight", "text-anchor", "dominant-baseline"];

/** Draws a picture into an element, which the style sheets reach; it looks the same anywhere. */
export function drawPicture(place, { white, black, last, points, flipped }) {
  const root = svg("svg", {
    class: "board picture", width: SIZE, height: SIZE, role: "img",
    "aria-label": "Picture of the position",
  });
  place.replaceChildren(root);
  const drawing = new Drawing(root, points, flipped);
  const men = new Map([
    ...white.map((point) => [point, "white"]), ...black.map((point) => [point, "black"]),
  ]);
  drawing.show(men, last && parse(last));
  for (const shape of shapesOf(root)) {
    const style = getComputedStyle(shape);
    for (const name of STYLES) shape.setAttribute(name, style.getPropertyValue(name));
  }
  return root;
}

const shapesOf = (root) => root.querySelectorAll("rect, path, line, circle, text");

/** The picture as the text of an SVG file. */
export const pictureText = (root) => new XMLSerializer().serializeToString(root);

/** The picture as a PNG file; painted, because the page may load no image. */
export function picturePNG(root) {
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
