// Graph of the log-likelihood ratio of an SPRT over the number of games.

import { counted, element, svg } from "./dom.js";

const MAX_POINTS = 2000;

/** Formats a ratio with two decimals and a typographic minus sign. */
const ratioText = (value) => value.toFixed(2).replace("-", "−");

/** The graph, with the current ratio and the bounds of the test. */
export class Ratio {
  constructor(figure, test) {
    Object.assign(this, { figure, test, points: [] });
    const span = test.upper - test.lower;
    this.top = test.upper + span / 8;
    this.span = span * 1.25;
    this.drawing = svg("svg", {
      viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img",
    });
    const bound = (name, value) => {
      const label = element("span", { class: `bound ${name}` }, `${name} at ${ratioText(value)}`);
      label.style.top = `${this.at(value)}%`;
      return label;
    };
    this.now = element("span", { class: "now" });
    this.games = element("figcaption");
    this.plot = element("div", { class: "plot-area" },
      this.drawing, bound("H1", test.upper), bound("H0", test.lower), this.now);
    figure.replaceChildren(this.plot, this.games);
  }

  at(value) {
    return Math.min(99, Math.max(1, (100 * (this.top - value)) / this.span));
  }

  add(points) {
    this.points.push(...points);
    if (this.points.length > MAX_POINTS) {
      this.points = this.points.filter((_, index) => index % 2 === 0);
    }
  }

  draw() {
    const [games, llr] = this.points.at(-1) ?? [0, 0];
    const across = (count) => (1000 * count) / Math.max(20, games);
    const line = (name, value) => svg("line", {
      class: name, x1: 0, x2: 1000, y1: this.at(value), y2: this.at(value),
    });
    const places = [[0, 0], ...this.points]
      .map(([count, value]) => `${across(count).toFixed(1)},${this.at(value).toFixed(2)}`);
    this.drawing.replaceChildren(
      line("bound H1", this.test.upper), line("zero", 0), line("bound H0", this.test.lower),
      svg("polyline", { class: "ratio", points: places.join(" ") }),
    );
    const bound = llr < 0 ? this.test.lower : this.test.upper;
    const text = `LLR ${ratioText(llr)}, ${Math.round((100 * llr) / bound)} % of the way to ` +
      `${llr < 0 ? "H0" : "H1"}, after ${counted(games, "game")}`;
    this.now.style.top = `${this.at(llr)}%`;
    this.now.style.left = `${Math.min(100, across(games) / 10)}%`;
    this.games.textContent = text;
    this.drawing.setAttribute("aria-label",
      `${text}; H0 at ${ratioText(this.test.lower)}, ` +
      `H1 at ${ratioText(this.test.upper)}`);
  }
}
