/** The order book: asks over bids, best prices in the middle, own orders marked. Only the rows in sight exist. */

import { ONE } from "../lib/decimal.js";
import { fill, h, icon, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { View, get, open } from "../lib/store.js";
import { skeleton } from "./states.js";

const ROW = 22;
const SPARE = 4;
/** A size that changed within this time does not flash again: on a busy market all would, always. */
const CALM_MS = 400;
/** Prices without orders are shown where at most this many ticks lie between two levels; a line says how many are left out. */
const SMALL_GAP = 6n;
/** Each side shows at least this many prices, and as many as half of the ladder has room for. */
const LEAST_LINES = 7;

/**
 * @typedef {{ price: bigint, size: bigint, total: bigint, ask: boolean, gap: number }} Line `gap`: prices without orders that it stands for
 * @typedef {Line & { tick: bigint, own: bigint, active: boolean, part: number, place: number }} Drawn what a row shows
 * @typedef {{ row: HTMLElement, price: HTMLElement, size: HTMLElement, total: HTMLElement, own: HTMLElement, bar: HTMLElement, drawn: Drawn | null, changed: number }} Row
 */

class OrderLadder extends View {
  /** @type {Line[]} */
  lines = [];
  /** @type {Map<number, Row>} */
  rows = new Map();
  asks = 0;
  /** The largest total. */
  most = 1n;
  /** Index of the row that the keyboard is at, -1 for none. */
  active = -1;
  centered = false;
  /** Height and position of the scroller as last seen: reading them from it in each frame would cost a layout each. */
  height = 0;
  top = 0;
  /** Own shares by side and price. @type {Map<string, bigint>} */
  owned = new Map();
  /** @type {bigint | null} */
  last = null;
  /** The midpoint as a price that an order can have. @type {bigint | null} */
  mid = null;
  midText = h("strong.pick");
  spreadText = h("span.dim");
  lastText = h("span.pick");
  middle = h("div.ladder-mid", { role: "row" }, h("span", { role: "gridcell" }, this.lastText, this.midText, this.spreadText));
  space = h("div.ladder-space", { role: "rowgroup" }, this.middle);
  note = h("p.empty", { hidden: true });
  waiting = skeleton(24, "levels");
  scroller = h("div.ladder", { role: "grid", tabindex: "0", "aria-label": t("ladder_help"), hidden: true }, this.space);

  connectedCallback() {
    this.build();
    this.height = this.scroller.clientHeight;
    this.follow("book", () => this.update());
    this.follow("terms", () => this.update());
    this.follow("outcome", () => {
      this.centered = false;
      this.active = -1;
      this.update();
    });
    this.follow("orders", () => this.own());
    this.resized(this.scroller, () => {
      this.height = this.scroller.clientHeight;
      this.update();
    });
  }

  build() {
    const head = h(
      "div.ladder-head",
      { "aria-hidden": "true" },
      h("span", null, t("yours")),
      h("span", null, t("price")),
      h("span", null, t("size")),
      h("span", null, t("cumulative")),
    );
    this.listen(this.scroller, "scroll", () => {
      this.top = this.scroller.scrollTop;
      this.draw();
    });
    this.listen(this.scroller, "keydown", (event) => this.key(event));
    this.listen(this.scroller, "click", (event) => this.press(event));
    this.listen(this.scroller, "animationend", (event) => event.target.classList.remove("flash-up", "flash-down"));
    const center = h(
      "button.plain.square.center",
      { type: "button", title: t("center"), "aria-label": t("center"), onclick: () => this.center() },
      icon("center"),
    );
    fill(this, head, this.waiting, this.scroller, this.note, center);
  }

  update() {
    const book = open("book");
    if (!book.ready) return;
    const outcome = open("outcome");
    const { bids, asks } = book.sides(outcome);
    if (this.scroller.hidden) {
      this.scroller.hidden = false;
      this.waiting.remove();
      this.height = this.scroller.clientHeight;
    }
    const price = this.lines[this.active]?.price;
    const before = this.asks;
    const least = Math.max(LEAST_LINES, Math.floor(this.height / ROW / 2));
    const ladder = ladderLines(bids, asks, book.tick, least);
    this.lines = [...ladder.asks.reverse(), ...ladder.bids];
    this.asks = ladder.asks.length;
    this.most = max(ladder.asks.at(0)?.total ?? 1n, ladder.bids.at(-1)?.total ?? 1n);
    if (price !== undefined) this.active = this.lines.findIndex((line) => line.price === price);
    this.space.style.height = `${(this.lines.length + 1) * ROW}px`;
    this.scroller.setAttribute("aria-rowcount", String(this.lines.length + 1));
    this.note.hidden = this.lines.some((line) => line.size > 0n);
    setText(this.note, t(get("terms")?.accepting === false ? "ended_book" : "empty_book"));
    if (!this.centered) this.center();
    else if (before !== this.asks) this.scrollLadder(this.top + (this.asks - before) * ROW);
    this.dataset.sequence = String(book.sequence);
    this.dataset.hash = book.hash;
    this.middleRow(book, outcome);
    this.own();
  }

  /**
   * @param {import("../lib/book.js").Book} book
   * @param {number} outcome
   */
  middleRow(book, outcome) {
    const { mid, spread } = book.top(outcome);
    this.middle.style.transform = `translateY(${this.asks * ROW}px)`;
    this.middle.setAttribute("aria-rowindex", String(this.asks + 1));
    setText(this.midText, mid === null ? "" : `${format.price(mid, book.tick)} ${t("mid")}`);
    setText(this.spreadText, spread === null ? "" : t("spread_of", { spread: format.price(spread, book.tick) }));
    this.last = book.lastPrice(outcome);
    this.mid = mid === null ? null : mid - (mid % book.tick);
    setText(this.lastText, this.last === null ? "" : `${t("last").toLowerCase()} ${format.price(this.last, book.tick)}`);
  }

  center() {
    this.scrollLadder((this.asks + 0.5) * ROW - this.height / 2);
    this.centered = this.lines.length > 0;
    this.draw();
  }

  own() {
    const market = open("market");
    const token = market.tokens[open("outcome")];
    /** @type {Map<string, bigint>} */
    const own = new Map();
    for (const order of get("orders") ?? []) {
      if (order.market !== market.id) continue;
      const same = order.token === token;
      const price = same ? order.price : ONE - order.price;
      const ask = (order.side === "SELL") === same;
      const key = `${ask ? "a" : "b"}${price}`;
      own.set(key, (own.get(key) ?? 0n) + order.size - order.matched);
    }
    this.owned = own;
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.top / ROW) - SPARE);
    const last = Math.min(this.lines.length + 1, first + Math.ceil(this.height / ROW) + 2 * SPARE);
    const from = first > this.asks ? first - 1 : first;
    const to = last > this.asks ? last - 1 : last;
    for (const [index, row] of this.rows) {
      if (index >= from && index < to) continue;
      row.row.remove();
      this.rows.delete(index);
    }
    for (let index = from; index < to; index += 1) this.line(index);
    const active = this.rows.get(this.active);
    if (active) this.scroller.setAttribute("aria-activedescendant", active.row.id);
    else this.scroller.removeAttribute("aria-activedescendant");
  }

  /** @param {number} index */
  line(index) {
    const line = this.lines[index];
    let row = this.rows.get(index);
    if (!row) {
      row = newRow(index);
      this.rows.set(index, row);
      this.space.append(row.row);
    }
    const part = line.size === 0n ? 0 : Number((line.total * 1000n) / this.most) / 1000;
    const own = this.owned.get(`${line.ask ? "a" : "b"}${line.price}`) ?? 0n;
    show(row, { ...line, own, active: index === this.active, part, place: line.ask ? index : index + 1, tick: open("book").tick });
  }

  /** @param {MouseEvent} event */
  press(event) {
    const target = /** @type {Element} */ (event.target);
    const element = target.closest(".level");
    const row = [...this.rows.values()].find((candidate) => candidate.row === element);
    const price = target === this.midText ? this.mid : target === this.lastText ? this.last : null;
    if (price) document.dispatchEvent(new CustomEvent("ticket-fill", { detail: { price } }));
    if (row?.drawn) this.choose(row.drawn, target.closest(".total") !== null);
  }

  /**
   * Fills the ticket. A price on the other side is one to take, on the own side one to join.
   * @param {Line} line
   * @param {boolean} all also the shares up to this price
   */
  choose(line, all) {
    if (line.gap) return;
    const detail = { price: line.price, shares: all && line.size > 0n ? line.total : undefined };
    document.dispatchEvent(new CustomEvent("ticket-fill", { detail }));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { lines } = this;
    const page = Math.floor(this.scroller.clientHeight / ROW) - 1;
    /** @type {Record<string, number>} */
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -lines.length, End: lines.length };
    if (event.key === "c") {
      this.center();
      return;
    }
    if (event.key === "Enter" && lines[this.active]) {
      event.preventDefault();
      this.choose(lines[this.active], false);
      return;
    }
    const step = steps[event.key];
    if (!step || lines.length === 0) return;
    event.preventDefault();
    const start = this.active < 0 ? Math.max(0, this.asks - (step > 0 ? 1 : 0)) : this.active;
    const next = Math.min(lines.length - 1, Math.max(0, start + step));
    // A gap is never first or last.
    this.active = lines[next].gap ? next + Math.sign(step) : next;
    this.reveal();
    this.draw();
  }

  /** @param {number} top */
  scrollLadder(top) {
    this.scroller.scrollTop = top;
    this.top = this.scroller.scrollTop;
  }

  /** Scrolls just so far that the active row is in sight. */
  reveal() {
    const { scroller } = this;
    const top = (this.active < this.asks ? this.active : this.active + 1) * ROW;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + ROW > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + ROW - scroller.clientHeight;
  }
}

/**
 * Both sides from the middle outwards, with the empty prices of small gaps: they can be chosen, too.
 * @param {import("../lib/book.js").Level[]} bids best first
 * @param {import("../lib/book.js").Level[]} asks best first
 * @param {bigint} tick
 * @param {number} least lines of a side
 */
function ladderLines(bids, asks, tick, least) {
  const bid = bids[0]?.price ?? 0n;
  const ask = asks[0]?.price ?? ONE;
  const narrow = bids.length > 0 && asks.length > 0 && (ask - bid) / tick <= SMALL_GAP;
  const middle = ((bid + ask) / 2n / tick) * tick;
  return {
    asks: side(asks, true, tick, narrow ? middle : ask - tick, least),
    bids: side(bids, false, tick, narrow ? middle + tick : bid + tick, least),
  };
}

/**
 * @param {import("../lib/book.js").Level[]} levels best first
 * @param {boolean} ask
 * @param {bigint} tick
 * @param {bigint} start the price before the first line
 * @param {number} least
 * @returns {Line[]}
 */
function side(levels, ask, tick, start, least) {
  const step = ask ? tick : -tick;
  /** @type {Line[]} */
  const lines = [];
  let total = 0n;
  let price = start;
  const blank = (/** @type {bigint} */ until) => {
    for (price += step; price !== until; price += step) lines.push({ price, size: 0n, total, ask, gap: 0 });
  };
  for (const level of levels) {
    const ticks = (level.price - price) / step;
    if (ticks > SMALL_GAP) lines.push({ price: price + step, size: 0n, total, ask, gap: Number(ticks) - 1 });
    else if ((level.price - price) % step === 0n) blank(level.price);
    price = level.price;
    total += level.size;
    lines.push({ price, size: level.size, total, ask, gap: 0 });
  }
  while (levels.length > 0 && lines.length < least && price + step > 0n && price + step < ONE) {
    price += step;
    lines.push({ price, size: 0n, total, ask, gap: 0 });
  }
  return lines;
}

/** @param {number} index */
function newRow(index) {
  const cell = (/** @type {string} */ name) => h(`span.num.${name}`, { role: "gridcell" });
  const parts = {
    own: cell("own"),
    price: cell("price"),
    size: cell("size"),
    total: cell("total"),
    bar: h("i.bar", { role: "presentation" }),
  };
  const row = h("div.level", { role: "row", id: `ladder-row-${index}` }, parts.bar, parts.own, parts.price, parts.size, parts.total);
  return { row, ...parts, drawn: null, changed: 0 };
}

/**
 * Writes what differs from the row's last drawing: on a busy market this runs for each row in each frame.
 * @param {Row} row
 * @param {Drawn} next
 */
function show(row, next) {
  const { drawn } = row;
  const same = (/** @type {(keyof Drawn)[]} */ ...keys) => drawn !== null && keys.every((key) => drawn[key] === next[key]);
  if (same("price", "size", "total", "ask", "tick", "own", "active", "part", "place", "gap")) return;
  row.drawn = next;
  const empty = next.size === 0n;
  if (!same("place")) {
    row.row.style.transform = `translateY(${next.place * ROW}px)`;
    row.row.setAttribute("aria-rowindex", String(next.place + 1));
  }
  if (!same("part")) row.bar.style.setProperty("--part", String(next.part));
  const look = `level ${next.ask ? "ask" : "bid"}${next.active ? " active" : ""}${empty ? " void" : ""}${next.gap ? " gap" : ""}`;
  if (row.row.className !== look) row.row.className = look;
  const texts = { price: format.price(next.price, next.tick), size: format.shares(next.size, 2), total: format.shares(next.total, 2) };
  const gap = next.gap ? t("ladder_gap", { n: next.gap }) : "";
  setText(row.price, gap || texts.price);
  setText(row.size, empty ? "" : texts.size);
  setText(row.total, empty ? "" : texts.total);
  setText(row.own, next.own > 0n ? `◉ ${format.shares(next.own)}` : "");
  const own = next.own > 0n ? `, ${t("row_own", { shares: format.shares(next.own) })}` : "";
  row.row.setAttribute("aria-label", gap || t(empty ? "row_void" : next.ask ? "row_ask" : "row_bid", texts) + own);
  if (!same("price", "ask") || !drawn || drawn.size === next.size) return;
  const now = performance.now();
  if (now - row.changed > CALM_MS) row.size.classList.add(next.size > drawn.size ? "flash-up" : "flash-down");
  row.changed = now;
}

/**
 * @param {bigint} a
 * @param {bigint} b
 */
const max = (a, b) => (a > b ? a : b);

customElements.define("order-ladder", OrderLadder);
