/** Price history with a crosshair, as SVG. */

import { float } from "../lib/decimal.js";
import { fill, frame, h, s, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { load } from "../lib/rest.js";
import { View, get, save, saved } from "../lib/store.js";
import { empty, failed } from "./states.js";
import { segmented } from "./tab_list.js";

/** @typedef {{ t: number, p: number }} Point time in milliseconds, price of a share */

const RANGES = ["1h", "6h", "1d", "1w", "all"];
const SPANS = /** @type {Record<string, number>} */ ({ "1h": 3.6e6, "6h": 2.16e7, "1d": 8.64e7, "1w": 6.048e8 });
const RELOAD_MS = 30_000;
/** The present moves at most this often. */
const REDRAW_MS = 1000;
const LEFT = 8;
const RIGHT = 48;
const TOP = 12;
const BOTTOM = 22;
/** The price axis spans at least this much, so that noise looks like noise. */
const LEAST_SPAN = 0.06;

class PriceChart extends View {
  connectedCallback() {
    this.range = saved("range", "1d");
    /** @type {Point[] | null} */
    this.points = null;
    this.at = -1;
    this.readout = h("span.readout.num", { "aria-live": "off" });
    const ranges = segmented(
      t("range"),
      RANGES.map((key) => ({ key, label: t(/** @type {"r_1h"} */ (`r_${key}`)) })),
      this.range,
      (key) => this.choose(key),
    );
    this.box = h("div.chart", { tabindex: "0", role: "img", "aria-label": t("history") });
    fill(this, h("header", null, h("h2", null, t("history")), this.readout, h("span.grow"), ranges), this.box);
    this.redraw = frame(() => this.draw());
    const box = this.box;
    box.addEventListener("pointermove", (event) => this.point(event.offsetX));
    box.addEventListener("pointerleave", () => this.move(-1));
    box.addEventListener("keydown", (event) => this.key(event));
    const observer = new ResizeObserver(() => this.redraw?.());
    observer.observe(box);
    this.endings.push(() => observer.disconnect());
    this.follow("theme", () => this.redraw?.());
    this.follow("book", () => this.live());
    this.every(RELOAD_MS, () => this.load());
    this.follow("outcome", (outcome) => {
      if (outcome === this.outcome) return;
      this.now = undefined;
      this.load();
    });
    this.every(REDRAW_MS, () => this.stale && this.redraw?.());
  }

  /** @param {string} range */
  choose(range) {
    this.range = range;
    save("range", range);
    this.points = null;
    this.load();
  }

  async load() {
    this.outcome = get("outcome") ?? 0;
    const token = get("market").tokens[this.outcome];
    const range = this.range;
    try {
      const { history } = await load(`/prices-history?market=${token}&interval=${range}`, this.signal);
      if (range !== this.range || token !== get("market").tokens[get("outcome") ?? 0]) return;
      this.points = history.map((/** @type {Point} */ point) => ({ t: point.t * 1000, p: point.p }));
      this.live();
      this.redraw?.();
    } catch (error) {
      if (!this.points && this.box && !this.signal.aborted)
        fill(
          this.box,
          failed(error, () => this.load()),
        );
    }
  }

  /** The newest point is the midpoint of the live book. */
  live() {
    const mid = get("book")?.top(get("outcome") ?? 0).mid;
    if (!this.points || mid === null || mid === undefined) return;
    const p = float(mid);
    if (this.now === p) return;
    /** @type {number | undefined} price at present */
    this.now = p;
    this.stale = true;
  }

  /** All that is drawn: the history, and the present. */
  series() {
    const points = this.points ?? [];
    return this.now !== undefined && points.length ? [...points, { t: Date.now(), p: this.now }] : points;
  }

  draw() {
    const box = this.box;
    if (!box || !this.points) return;
    this.stale = false;
    const series = this.series();
    const width = box.clientWidth;
    const height = box.clientHeight;
    if (series.length < 2 || width < 80) {
      fill(box, empty(t("chart_empty")));
      return;
    }
    const span = SPANS[this.range ?? ""] ?? 0;
    const end = series[series.length - 1].t;
    const from = Math.max(series[0].t, span ? end - span : 0);
    const prices = series.map((point) => point.p);
    let low = Math.min(...prices);
    let high = Math.max(...prices);
    const pad = Math.max((LEAST_SPAN - (high - low)) / 2, (high - low) * 0.08);
    low = Math.max(0, low - pad);
    high = Math.min(1, high + pad);
    const x = (/** @type {number} */ time) => LEFT + ((time - from) / (end - from || 1)) * (width - LEFT - RIGHT);
    const y = (/** @type {number} */ price) => TOP + ((high - price) / (high - low)) * (height - TOP - BOTTOM);
    this.scale = { x, y, series, width, height };
    const svg = s("svg", { width, height, "aria-hidden": "true" });
    const last = series[series.length - 1];
    const tagY = Math.min(Math.max(y(last.p), 10), height - 10);
    svg.append(...gridLines(low, high, y, width, tagY), ...timeLabels(from, end, x, height));
    const line = series.map((point, i) => `${i ? "L" : "M"}${x(point.t).toFixed(1)} ${y(point.p).toFixed(1)}`).join("");
    const floor = height - BOTTOM;
    svg.append(
      s("path", { class: "area", d: `${line}L${x(end).toFixed(1)} ${floor}L${x(series[0].t).toFixed(1)} ${floor}Z` }),
      s("path", { class: "line", d: line }),
    );
    svg.append(
      s("circle", { class: "now", cx: x(last.t), cy: y(last.p), r: 3.5 }),
      s("rect", { class: "tag", x: width - RIGHT + 6, y: tagY - 9, width: RIGHT - 6, height: 18, rx: 3 }),
      s("text", { class: "tag-text", x: width - 4, y: tagY + 4, "text-anchor": "end" }, label(last.p)),
    );
    this.cross = { line: s("path", { class: "cross" }), dot: s("circle", { class: "cross-dot", r: 4 }) };
    svg.append(this.cross.line, this.cross.dot);
    fill(box, svg);
    this.mark();
    const outcome = get("market").outcomes[get("outcome") ?? 0];
    box.setAttribute(
      "aria-label",
      t("chart_label", { outcome, from: format.dateTime(from), to: format.dateTime(end), price: label(last.p) }),
    );
  }

  /** @param {number} offset pixels from the left edge */
  point(offset) {
    const scale = this.scale;
    if (!scale) return;
    let best = 0;
    scale.series.forEach((point, i) => {
      if (Math.abs(scale.x(point.t) - offset) < Math.abs(scale.x(scale.series[best].t) - offset)) best = i;
    });
    this.move(best);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !this.scale) return;
    event.preventDefault();
    const last = this.scale.series.length - 1;
    this.move(Math.min(last, Math.max(0, ((this.at ?? -1) < 0 ? last : (this.at ?? 0)) + step)));
  }

  /** @param {number} index of a point, -1 for none */
  move(index) {
    this.at = index;
    this.mark();
  }

  mark() {
    const { cross, scale } = this;
    if (!cross || !scale || !this.readout) return;
    const point = scale.series[this.at ?? -1];
    cross.line.toggleAttribute("hidden", !point);
    cross.dot.toggleAttribute("hidden", !point);
    if (!point) {
      setText(this.readout, "");
      return;
    }
    const px = scale.x(point.t);
    const py = scale.y(point.p);
    cross.line.setAttribute("d", `M${px} ${TOP}V${scale.height - BOTTOM}M${LEFT} ${py}H${scale.width - RIGHT}`);
    cross.dot.setAttribute("cx", String(px));
    cross.dot.setAttribute("cy", String(py));
    setText(this.readout, `${format.dateTime(point.t)}  ${label(point.p)}`);
  }
}

/** @param {number} price */
const label = (price) => `${Number((price * 100).toFixed(1))}${format.unit()}`;

/**
 * @param {number} low
 * @param {number} high
 * @param {(price: number) => number} y
 * @param {number} width
 * @param {number} tagY where the present price is written; a label there would be covered
 */
function gridLines(low, high, y, width, tagY) {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25].find((size) => (high - low) / size <= 5) ?? 0.25;
  const lines = [];
  for (let price = Math.ceil(low / step) * step; price <= high + 1e-9; price += step) {
    lines.push(s("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(price), y2: y(price) }));
    if (Math.abs(y(price) - tagY) > 14)
      lines.push(s("text", { class: "axis", x: width - 4, y: y(price) + 4, "text-anchor": "end" }, label(price)));
  }
  return lines;
}

/**
 * @param {number} from
 * @param {number} end
 * @param {(time: number) => number} x
 * @param {number} height
 */
function timeLabels(from, end, x, height) {
  const count = Math.max(2, Math.min(6, Math.floor((x(end) - x(from)) / 110)));
  return Array.from({ length: count }, (_, i) => {
    const time = from + ((end - from) * i) / (count - 1);
    const anchor = i === 0 ? "start" : i === count - 1 ? "end" : "middle";
    return s("text", { class: "axis", x: x(time), y: height - 6, "text-anchor": anchor }, format.axisTime(time, end - from));
  });
}

customElements.define("price-chart", PriceChart);
