/** Shares that wait up to each price, both sides. */

import { valueTicks } from "../lib/axis.js";
import { float } from "../lib/decimal.js";
import { fill, frame, h, s, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { View, open } from "../lib/store.js";
import { BOTTOM, LEFT, bottomLabels } from "./chart_parts.js";
import { empty, skeleton } from "./states.js";

const RIGHT = 8;
const TOP = 16;
const REDRAW_MS = 250;
/** Room for a label of the price axis. */
const LABEL_WIDTH = 72;

class DepthChart extends View {
  stale = false;
  box = h("div.chart.depth", { role: "img", "aria-label": t("depth") }, skeleton(1, "chart"));
  readout = h("p.readout.num");
  redraw = frame(() => this.draw());

  connectedCallback() {
    fill(this, this.readout, this.box);
    this.listen(this.box, "pointermove", (event) => this.point(event.offsetX));
    this.listen(this.box, "pointerleave", () => setText(this.readout, ""));
    this.resized(this.box, this.redraw);
    this.follow("book", () => {
      this.stale = true;
    });
    this.every(REDRAW_MS, () => this.stale && this.redraw());
    this.follow("outcome", this.redraw);
  }

  draw() {
    const { box } = this;
    const book = open("book");
    if (!book.ready || !box.clientWidth) return;
    this.stale = false;
    const { bids, asks } = book.sides(open("outcome"));
    if (bids.length + asks.length === 0) {
      fill(box, empty(t("empty_book")));
      return;
    }
    const left = steps(bids);
    const right = steps(asks);
    const width = box.clientWidth;
    const height = box.clientHeight;
    const prices = [...left, ...right].map((step) => step.price);
    const low = Math.max(0, Math.min(...prices) - 0.01);
    const high = Math.min(1, Math.max(...prices) + 0.01);
    const most = Math.max(left.at(-1)?.total ?? 0, right.at(-1)?.total ?? 0, 1);
    const x = (/** @type {number} */ price) => LEFT + ((price - low) / (high - low)) * (width - LEFT - RIGHT);
    const y = (/** @type {number} */ total) => TOP + (1 - total / most) * (height - TOP - BOTTOM);
    this.scale = { x, left, right };
    const svg = s("svg", { width, height, "aria-hidden": "true" });
    svg.append(...area(left, x, y, x(low), height - BOTTOM, "bid"), ...area(right, x, y, x(high), height - BOTTOM, "ask"));
    const ticks = valueTicks(low, high, Math.max(2, Math.floor(width / LABEL_WIDTH)), priceLabel);
    svg.append(...bottomLabels(ticks, x, { width, height }));
    svg.append(s("text", { class: "axis", x: LEFT, y: 12 }, format.short(most)));
    fill(box, svg);
    box.setAttribute(
      "aria-label",
      t("depth_label", { bids: format.short(left.at(-1)?.total ?? 0), asks: format.short(right.at(-1)?.total ?? 0) }),
    );
  }

  /** @param {number} offset */
  point(offset) {
    if (!this.scale) return;
    const { x, left, right } = this.scale;
    const bid = left.findLast((step) => x(step.price) >= offset);
    const ask = right.findLast((step) => x(step.price) <= offset);
    const step = bid ?? ask;
    const text = step
      ? `${t(bid ? "bid" : "ask")} ${priceLabel(step.price)} · ${format.short(step.total)} ${t("shares").toLowerCase()}`
      : "";
    setText(this.readout, text);
  }
}

/** @param {number} price */
const priceLabel = (price) => `${Number((price * 100).toFixed(2))}${format.unit()}`;

/** @param {import("../lib/book.js").Level[]} levels best first */
function steps(levels) {
  let total = 0;
  return levels.map((level) => {
    total += float(level.size);
    return { price: float(level.price), total };
  });
}

/**
 * @param {{ price: number, total: number }[]} side
 * @param {(price: number) => number} x
 * @param {(total: number) => number} y
 * @param {number} edge
 * @param {number} floor
 * @param {string} name
 */
function area(side, x, y, edge, floor, name) {
  if (side.length === 0) return [];
  let line = `M${x(side[0].price)} ${floor}`;
  for (const step of side) line += `H${x(step.price)}V${y(step.total)}`;
  line += `H${edge}`;
  return [s("path", { class: `${name} area`, d: `${line}V${floor}Z` }), s("path", { class: `${name} line`, d: line })];
}

customElements.define("depth-chart", DepthChart);
