// A picture of a position that stands on its own: as SVG, or painted as a PNG.

import { parse } from "../drawing.js";
import { svg } from "../dom.js";

const [LEFT, TOP, SIZE] = [-14, 0, 714];
const COLOURS = {
  wood: "#e8cf9f", edge: "#d3b47c", grain: "#5b3d1a", white: "#fffdf6", black: "#2a2320",
  rim: "#8a7a68", last: "#7d4e00",
};
const MAN = 36;

/** The shapes of a picture, each [kind, places, style]; `at` gives a point's coordinates. */
function shapes({ white, black, last, points, at, flipped }) {
  const line = (x1, y1, x2, y2) =>
    ["line", [x1, y1, x2, y2], { stroke: COLOURS.grain, "stroke-width": 4 }];
  const circle = (point, r, style) => ["circle", [...at(point), r], style];
  const made = [["rect", [-12, 2, 710, 710], {
    fill: COLOURS.wood, stroke: COLOURS.edge, "stroke-width": 4,
  }]];
  for (const near of [50, 150, 250]) {
    const far = 700 - near;
    made.push(line(near, near, far, near), line(far, near, far, far),
      line(far, far, near, far), line(near, far, near, near));
  }
  made.push(line(350, 50, 350, 250), line(350, 450, 350, 650),
    line(50, 350, 250, 350), line(450, 350, 650, 350));
  for (let index = 0; index < 7; index += 1) {
    const letter = "abcdefg"[flipped ? 6 - index : index];
    const number = flipped ? index + 1 : 7 - index;
    made.push(["text", [50 + 100 * index, 699], { fill: COLOURS.grain }, letter],
      ["text", [0, 50 + 100 * index], { fill: COLOURS.grain }, String(number)]);
  }
  for (const point of points) made.push(circle(point, 8, { fill: COLOURS.grain }));
  for (const [men, fill, stroke] of [
    [white, COLOURS.white, COLOURS.grain], [black, COLOURS.black, COLOURS.rim],
  ]) {
    for (const point of men) made.push(circle(point, MAN, { fill, stroke, "stroke-width": 3 }));
  }
  if (last) {
    made.push(circle(parse(last).to, MAN + 4, {
      fill: "none", stroke: COLOURS.last, "stroke-width": 6,
    }));
  }
  return made;
}

const NAMES = {
  rect: ["x", "y", "width", "height"], line: ["x1", "y1", "x2", "y2"], circle: ["cx", "cy", "r"],
  text: ["x", "y"],
};

/** The picture as an SVG element. */
export function drawPicture(view) {
  const root = svg("svg", {
    viewBox: `${LEFT} ${TOP} ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, role: "img",
    "aria-label": "Picture of the position",
  });
  for (const [kind, places, style, text] of shapes(view)) {
    const place = Object.fromEntries(NAMES[kind].map((name, index) => [name, places[index]]));
    const font = text && {
      "font-family": "sans-serif", "font-size": 19, "font-weight": 600, "text-anchor": "middle",
      "dominant-baseline": "central",
    };
    root.append(svg(kind, { ...place, ...style, ...font }, ...(text ? [text] : [])));
  }
  return root;
}

/** The picture as the text of an SVG file. */
export function pictureText(view) {
  return new XMLSerializer().serializeToString(drawPicture(view));
}

/** The picture as a PNG file; painted, because the page may load no image. */
export function picturePNG(view) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 2 * SIZE;
  const pen = canvas.getContext("2d");
  pen.scale(2, 2);
  pen.translate(-LEFT, -TOP);
  for (const [kind, places, style, text] of shapes(view)) paint(pen, kind, places, style, text);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

function paint(pen, kind, places, style, text) {
  const [a, b, c, d] = places;
  pen.beginPath();
  if (kind === "rect") pen.rect(a, b, c, d);
  else if (kind === "circle") pen.arc(a, b, c, 0, 2 * Math.PI);
  else if (kind === "line") {
    pen.lineCap = "square";
    pen.moveTo(a, b);
    pen.lineTo(c, d);
  }
  if (style.fill && style.fill !== "none") pen.fillStyle = style.fill;
  if (text) {
    Object.assign(pen, {
      font: "600 19px sans-serif", textAlign: "center", textBaseline: "middle",
    });
    pen.fillText(text, a, b);
  } else if (style.fill && style.fill !== "none") pen.fill();
  if (style.stroke) {
    Object.assign(pen, { strokeStyle: style.stroke, lineWidth: style["stroke-width"] });
    pen.stroke();
  }
}
