/** A trend of a few points, without axes. */

import { s } from "../lib/dom.js";
import { pathOf } from "./chart_parts.js";

const WIDTH = 96;
const HEIGHT = 24;

/**
 * @param {number[]} points
 * @returns {SVGElement}
 */
export function sparkLine(points) {
  const up = points.length > 1 && points[points.length - 1] >= points[0];
  const svg = s("svg", {
    class: `spark ${up ? "up" : "down"}`,
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  if (points.length < 2) return svg;
  const low = Math.min(...points);
  const span = Math.max(Math.max(...points) - low, 0.02);
  const middle = (Math.max(...points) + low) / 2;
  const y = (/** @type {number} */ p) => HEIGHT / 2 - ((p - middle) / span) * (HEIGHT - 4);
  const line = pathOf(points.map((p, i) => [(i * WIDTH) / (points.length - 1), y(p)]));
  svg.append(s("path", { class: "area", d: `${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z` }), s("path", { class: "line", d: line }));
  return svg;
}
