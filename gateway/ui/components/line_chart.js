/** Lines over time with round ticks and a crosshair, as SVG; and the panel with ranges around them. */

import { timeTicks, valueTicks } from "../lib/axis.js";
import { fill, frame, h, s, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { newest } from "../lib/pages.js";
import { View, save, saved } from "../lib/store.js";
import { BOTTOM, LEFT, bottomLabels, pathOf } from "./chart_parts.js";
import { empty, failed, skeleton } from "./states.js";
import { segmented } from "./tab_list.js";

/**
 * @typedef {{ t: number, p: number }} Point time in milliseconds, and a figure
 * @typedef {{ name: string, points: Point[] }} Line
 * @typedef {"1h" | "6h" | "1d" | "1w" | "30d" | "all"} Range
 */

/** Milliseconds of a range; `all` has no end. @type {Record<Range, number>} */
export const SPANS = { "1h": 3.6e6, "6h": 2.16e7, "1d": 8.64e7, "1w": 6.048e8, "30d": 2.592e9, all: 0 };
const RELOAD_MS = 30_000;
/** The present moves at most this often. */
const REDRAW_MS = 1000;
const TOP = 12;
/** Room for a label of the time axis. */
const LABEL_WIDTH = 96;
const MOST_TIMES = 8;

export class LineChart extends View {
  /** What a chart says of itself: title, ranges, and how a figure reads. */
  title = t("history");
  /** @type {Range[]} */
  ranges = ["1h", "6h", "1d", "1w", "all"];
  key = "range";
  /** Room for the labels of the right edge. */
  right = 48;
  /** The figures' axis spans at least this much, so that noise looks like noise. */
  least = 0.06;
  /** @type {[number, number]} */
  bounds = [0, 1];
  /** @type {Line[] | null} */
  lines = null;
  at = -1;
  stale = false;
  readout = h("span.readout.num", { "aria-live": "off" });
  box = h("div.chart", { tabindex: "0", role: "img" });
  redraw = frame(() => this.draw());

  /** @param {number} value */
  figure(value) {
    return `${Number((value * 100).toFixed(2))}${format.unit()}`;
  }

  /** @param {{ from: string, to: string, price: string }} values */
  describe(values) {
    return t("value_label", values);
  }

  /**
   * Reads the lines of a range.
   * @param {Range} _range
   * @returns {Promise<Line[]>}
   */
  async read(_range) {
    return [];
  }

  /** The lines up to the present. */
  series() {
    return this.lines ?? [];
  }

  connectedCallback() {
    const kept = /** @type {Range} */ (saved(this.key, "1d"));
    this.range = this.ranges.includes(kept) ? kept : (this.ranges.at(-1) ?? "all");
    const ranges = segmented(
      t("range"),
      this.ranges.map((key) => ({ key, label: t(`r_${key}`) })),
      this.range,
      (key) => this.choose(/** @type {Range} */ (key)),
    );
    this.box.setAttribute("aria-label", this.title);
    fill(this.box, skeleton(1, "chart"));
    fill(this, h("header", null, h("h2", null, this.title), this.readout, h("span.grow"), ranges), this.box);
    this.listen(this.box, "pointermove", (event) => this.point(event.offsetX));
    this.listen(this.box, "pointerleave", () => this.move(-1));
    this.listen(this.box, "keydown", (event) => this.press(event));
    this.resized(this.box, this.redraw);
    this.follow("theme", this.redraw);
    this.every(RELOAD_MS, () => this.load());
    this.every(REDRAW_MS, () => this.stale && this.redraw());
  }

  /** @param {Range} range */
  choose(range) {
    this.range = range;
    save(this.key, range);
    this.restart();
  }

  /** What was drawn is of another question: bars stand there until its answer comes. */
  restart() {
    this.lines = null;
    this.scale = undefined;
    this.move(-1);
    fill(this.box, skeleton(1, "chart"));
    this.load();
  }

  /** Reads the lines. */
  async load() {
    await this.reading(() => this.read(this.range ?? "all"));
  }

  reading = newest(
    (/** @type {Line[]} */ lines) => {
      this.lines = lines;
      this.redraw();
    },
    (error) => {
      if (!this.lines && !this.signal.aborted) failed(this.box, error, () => this.load());
    },
  );

  draw() {
    const { box } = this;
    if (!this.lines || !this.isConnected) return;
    this.stale = false;
    const all = this.series().filter((line) => line.points.length > 0);
    const width = box.clientWidth;
    const height = box.clientHeight;
    if (width < 80 || !all.some((line) => line.points.length > 1)) {
      this.scale = undefined;
      fill(box, empty(t("chart_empty")));
      return;
    }
    const span = SPANS[this.range ?? "all"];
    const end = Math.max(...all.map((line) => line.points[line.points.length - 1].t));
    const from = Math.max(Math.min(...all.map((line) => line.points[0].t)), span ? end - span : 0);
    const lines = all.map((line) => ({
      ...line,
      points: line.points.filter((point, i) => point.t >= from || i === line.points.length - 1),
    }));
    const { low, high } = this.extent(lines);
    const x = (/** @type {number} */ time) => LEFT + ((time - from) / (end - from || 1)) * (width - LEFT - this.right);
    const y = (/** @type {number} */ value) => TOP + ((high - value) / (high - low)) * (height - TOP - BOTTOM);
    this.scale = { x, y, lines, width, height };
    const svg = s("svg", { width, height, "aria-hidden": "true" });
    const last = lines[0].points[lines[0].points.length - 1];
    const tag = lines.length === 1 ? Math.min(Math.max(y(last.p), 10), height - BOTTOM - 10) : -Infinity;
    svg.append(...this.grid(low, high, y, tag), ...this.times(from, end, x));
    lines.forEach((line, i) => svg.append(...this.line(line, i, lines.length === 1)));
    if (lines.length === 1) {
      svg.append(
        s("rect", { class: "tag", x: width - this.right + 4, y: tag - 9, width: this.right - 4, height: 18, rx: 3 }),
        s("text", { class: "tag-text", x: width - 4, y: tag + 4, "text-anchor": "end" }, this.figure(last.p)),
      );
    }
    this.cross = s("path", { class: "cross" });
    this.dots = lines.map((_, i) => s("circle", { class: `cross-dot line-${i}`, r: 4 }));
    svg.append(this.cross, ...this.dots);
    fill(box, svg);
    this.mark();
    const values = { from: format.dateTime(from), to: format.dateTime(end), price: this.figure(last.p) };
    box.setAttribute("aria-label", this.describe(values));
  }

  /** @param {Line[]} lines */
  extent(lines) {
    const values = lines.flatMap((line) => line.points.map((point) => point.p));
    const low = values.reduce((least, value) => Math.min(least, value), Infinity);
    const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
    const pad = Math.max((this.least - (high - low)) / 2, (high - low) * 0.08);
    return { low: Math.max(this.bounds[0], low - pad), high: Math.min(this.bounds[1], high + pad) };
  }

  /**
   * @param {number} low
   * @param {number} high
   * @param {(value: number) => number} y
   * @param {number} tag where the present figure is written; a label there would be covered
   */
  grid(low, high, y, tag) {
    const { width } = /** @type {{ width: number }} */ (this.scale);
    return valueTicks(low, high, 5, (value) => this.figure(value)).flatMap(({ at, label }) => [
      s("line", { class: "grid", x1: LEFT, x2: width - this.right, y1: y(at), y2: y(at) }),
      ...(Math.abs(y(at) - tag) > 14 ? [s("text", { class: "axis", x: width - 4, y: y(at) + 4, "text-anchor": "end" }, label)] : []),
    ]);
  }

  /**
   * @param {number} from
   * @param {number} end
   * @param {(time: number) => number} x
   */
  times(from, end, x) {
    const most = Math.min(MOST_TIMES, Math.max(2, Math.floor((x(end) - x(from)) / LABEL_WIDTH)));
    return bottomLabels(timeTicks(from, end, most), x, /** @type {{ height: number, width: number }} */ (this.scale));
  }

  /**
   * @param {Line} line
   * @param {number} number
   * @param {boolean} filled
   */
  line({ points }, number, filled) {
    const { x, y, height } = /** @type {NonNullable<LineChart["scale"]>} */ (this.scale);
    const path = pathOf(points.map((point) => [x(point.t), y(point.p)]));
    const last = points[points.length - 1];
    const floor = height - BOTTOM;
    return [
      ...(filled
        ? [s("path", { class: "area", d: `${path}L${x(last.t).toFixed(1)} ${floor}L${x(points[0].t).toFixed(1)} ${floor}Z` })]
        : []),
      s("path", { class: `line line-${number}`, d: path }),
      s("circle", { class: `now line-${number}`, cx: x(last.t), cy: y(last.p), r: 3.5 }),
    ];
  }

  /** @param {number} offset pixels from the left edge */
  point(offset) {
    const { scale } = this;
    if (!scale) return;
    let best = 0;
    const [{ points }] = scale.lines;
    points.forEach((point, i) => {
      if (Math.abs(scale.x(point.t) - offset) < Math.abs(scale.x(points[best].t) - offset)) best = i;
    });
    this.move(best);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !this.scale) return;
    event.preventDefault();
    const last = this.scale.lines[0].points.length - 1;
    this.move(Math.min(last, Math.max(0, (this.at < 0 ? last : this.at) + step)));
  }

  /** @param {number} index of a point of the first line, -1 for none */
  move(index) {
    this.at = index;
    this.mark();
  }

  mark() {
    const { cross, scale, dots = [] } = this;
    if (!cross || !scale) return;
    const point = scale.lines[0].points[this.at];
    const values = scale.lines.map((line) => (point ? (line.points.findLast((each) => each.t <= point.t) ?? line.points[0]) : undefined));
    cross.toggleAttribute("hidden", !point);
    values.forEach((value, i) => {
      dots[i].toggleAttribute("hidden", !value);
      if (!value || !point) return;
      dots[i].setAttribute("cx", String(scale.x(point.t)));
      dots[i].setAttribute("cy", String(scale.y(value.p)));
    });
    if (point) cross.setAttribute("d", `M${scale.x(point.t)} ${TOP}V${scale.height - BOTTOM}`);
    const names = values.map((value, i) =>
      value ? `${scale.lines.length > 1 ? `${scale.lines[i].name} ` : ""}${this.figure(value.p)}` : "",
    );
    setText(this.readout, point ? `${format.dateTime(point.t)}  ${names.join("  ")}` : "");
  }
}
