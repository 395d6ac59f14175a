/** Parts that charts share: a line through points, the labels of the bottom axis. */

import { s } from "../lib/dom.js";

/** Edges of a chart. */
export const LEFT = 8;
export const BOTTOM = 22;
/** Half of the room that a label takes at an edge. */
const LABEL_HALF = 24;

/**
 * The path of a line.
 * @param {(readonly [x: number, y: number])[]} points
 */
export const pathOf = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/**
 * Labels of the bottom axis, those that no edge cuts.
 * @param {import("../lib/axis.js").Tick[]} ticks
 * @param {(at: number) => number} x
 * @param {{ width: number, height: number }} size
 */
export const bottomLabels = (ticks, x, { width, height }) =>
  ticks
    .filter(({ at }) => x(at) > LABEL_HALF && x(at) < width - LABEL_HALF)
    .map(({ at, label }) => s("text", { class: "axis", x: x(at), y: height - 6, "text-anchor": "middle" }, label));
