/** The list of markets: search, topics, events, sort, live prices. Only the rows in sight exist. */

import { fill, frame, h, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { chance, figuresOf, followFigures, loadFigures, loadMarkets, trendOf } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { reason } from "../lib/rest.js";
import { href } from "../lib/router.js";
import { View, get, saved, save, set } from "../lib/store.js";
import { sparkLine } from "./spark_line.js";
import { empty, failed, skeleton } from "./states.js";

/** @typedef {import("../lib/markets.js").Market} Market */

const ROW = 52;
const PHONE_ROW = 76;
/** Rows drawn beyond each edge of the window. */
const SPARE = 6;
const RELOAD_MS = 20_000;

/** @type {{ key: string, by: (market: Market) => number }[]} */
const SORTS = [
  { key: "volume", by: (market) => -Number(figuresOf(market.id)?.volume ?? 0n) },
  { key: "closing", by: (market) => Date.parse(market.ends) || Infinity },
  { key: "chance", by: (market) => -Number(chance(figuresOf(market.id)) ?? -1n) },
  { key: "change", by: (market) => -Math.abs(Number(figuresOf(market.id)?.change ?? 0n)) },
  { key: "newest", by: (market) => -Date.parse(market.starts) || 0 },
];

class MarketsView extends View {
  connectedCallback() {
    this.tag = "";
    this.event = "";
    this.sort = saved("sort", "volume");
    /** @type {Market[]} */
    this.shown = [];
    /** @type {Map<string, { row: HTMLElement, update: () => void, end: () => void }>} */
    this.rows = new Map();
    this.draw = frame(() => this.window());
    this.build();
    this.follow("markets", () => this.filter());
    this.follow("search", () => this.filter());
    this.follow("figures", (ids) => this.figures(ids));
    this.listen(window, "scroll", this.draw);
    this.listen(window, "resize", this.draw);
    this.endings.push(() => this.rows?.forEach((each) => each.end()));
    this.every(RELOAD_MS, () => this.load());
  }

  build() {
    this.tags = h("div.chips", { role: "group", "aria-label": t("tags") });
    this.events = /** @type {HTMLSelectElement} */ (
      h("select", { "aria-label": t("event_filter"), onchange: () => this.choose({ event: this.events?.value }) })
    );
    this.sorts = h(
      "select",
      { "aria-label": t("sort"), onchange: (/** @type {any} */ event) => this.choose({ sort: event.target.value }) },
      SORTS.map(({ key }) => h("option", { value: key, selected: key === this.sort }, t(/** @type {"sort_volume"} */ (`sort_${key}`)))),
    );
    this.total = h("span.dim.total", { role: "status" });
    this.body = h("div.rows", { role: "rowgroup" });
    const heads = /** @type {const} */ (["market", "chance", "change_24h", "last", "spread", "volume_24h", "trend", "closes"]);
    this.list = h(
      "div.market-list",
      { role: "table", "aria-label": t("markets") },
      h(
        "div.list-head",
        { role: "rowgroup" },
        h(
          "div.list-row",
          { role: "row" },
          heads.map((key) => h(`span.c-${key}`, { role: "columnheader" }, t(key))),
        ),
      ),
      this.body,
    );
    this.state = h("div", null, skeleton(8));
    fill(
      this,
      h("h1.hidden", null, t("markets")),
      h("div.filters", null, this.tags, h("span.grow"), this.total, this.events, this.sorts),
      this.list,
      this.state,
    );
  }

  async load() {
    try {
      await loadMarkets(this.signal);
      const all = /** @type {Market[]} */ (get("markets"));
      await loadFigures(
        all.map((market) => market.id),
        this.signal,
      );
      this.problem = null;
    } catch (error) {
      if (this.signal.aborted) return;
      this.problem = error;
      if (get("markets")) set("notice", t("failed", { reason: reason(error) }));
    }
    this.filter();
  }

  /** @param {{ tag?: string, event?: string, sort?: string }} choice */
  choose(choice) {
    Object.assign(this, choice);
    if (choice.sort) save("sort", choice.sort);
    window.scrollTo(0, 0);
    this.filter();
  }

  filter() {
    const all = /** @type {Market[]} */ (get("markets") ?? []);
    const words = String(get("search") ?? "")
      .toLowerCase()
      .split(/\s+/)
      .filter(Boolean);
    const fits = (/** @type {Market} */ market) => {
      if (this.tag && !market.tags.includes(this.tag)) return false;
      if (this.event && market.event.slug !== this.event) return false;
      const text = `${market.question} ${market.event.title} ${market.tags.join(" ")}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const by = (SORTS.find((sort) => sort.key === this.sort) ?? SORTS[0]).by;
    this.shown = all
      .filter(fits)
      .map((market) => ({ market, key: by(market) }))
      .sort((a, b) => a.key - b.key || a.market.question.localeCompare(b.market.question))
      .map((entry) => entry.market);
    this.choices(all);
    this.states(all);
    this.draw?.();
  }

  /** @param {Market[]} all */
  choices(all) {
    const tags = [...new Set(all.flatMap((market) => market.tags))].sort();
    const signature = tags.join("|") + all.length + this.tag + this.event;
    if (signature === this.dataset.choices) return;
    this.dataset.choices = signature;
    const chip = (/** @type {string} */ label, /** @type {string} */ tag) =>
      h("button.chip", { type: "button", "aria-pressed": String(this.tag === tag), onclick: () => this.choose({ tag }) }, label);
    fill(
      /** @type {HTMLElement} */ (this.tags),
      chip(t("all_tags"), ""),
      tags.slice(0, 24).map((tag) => chip(tag, tag)),
    );
    const events = new Map(all.map((market) => [market.event.slug, market.event.title]));
    fill(
      /** @type {HTMLElement} */ (this.events),
      h("option", { value: "" }, t("all_events")),
      [...events].slice(0, 500).map(([slug, title]) => h("option", { value: slug, selected: slug === this.event }, title)),
    );
  }

  /** @param {Market[]} all */
  states(all) {
    const shown = this.shown?.length ?? 0;
    const known = get("markets") !== undefined;
    setText(
      /** @type {Element} */ (this.total),
      known
        ? shown === all.length
          ? t("n_markets", { n: format.count(shown) })
          : t("n_of_markets", { n: format.count(shown), all: format.count(all.length) })
        : "",
    );
    const state = /** @type {HTMLElement} */ (this.state);
    /** @type {HTMLElement} */ (this.list).hidden = shown === 0;
    if (shown > 0) fill(state);
    else if (this.problem && !known)
      fill(
        state,
        failed(this.problem, () => this.load()),
      );
    else if (known) fill(state, empty(t("no_markets"), h("button", { type: "button", onclick: () => this.clear() }, t("clear_filters"))));
  }

  clear() {
    const search = /** @type {HTMLInputElement | null} */ (document.querySelector("header input[type=search]"));
    if (search) search.value = "";
    this.tag = "";
    this.event = "";
    set("search", "");
  }

  /** Draws the rows in sight; the others are empty space. */
  window() {
    if (!this.isConnected || !this.body || !this.rows || !this.shown) return;
    const height = matchMedia("(max-width: 719px)").matches ? PHONE_ROW : ROW;
    const top = -this.body.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / height) - SPARE);
    const last = Math.min(this.shown.length, Math.ceil((top + innerHeight) / height) + SPARE);
    this.body.style.height = `${this.shown.length * height}px`;
    this.list?.setAttribute("aria-rowcount", String(this.shown.length + 1));
    const visible = new Set();
    for (let i = first; i < last; i += 1) {
      const market = this.shown[i];
      visible.add(market.id);
      let entry = this.rows.get(market.id);
      if (!entry) {
        entry = row(market);
        this.rows.set(market.id, entry);
        this.body.append(entry.row);
      }
      entry.row.style.transform = `translateY(${i * height}px)`;
      entry.row.setAttribute("aria-rowindex", String(i + 2));
    }
    for (const [id, entry] of this.rows) {
      if (visible.has(id)) continue;
      entry.end();
      entry.row.remove();
      this.rows.delete(id);
    }
  }

  /** @param {string[]} ids */
  figures(ids) {
    for (const id of ids) this.rows?.get(id)?.update();
  }
}

/**
 * One market. Its cells change, its layout does not.
 * @param {Market} market
 */
function row(market) {
  const cell = (/** @type {string} */ name) => h(`span.num.c-${name}`, { role: "cell" });
  const cells = {
    chance: cell("chance"),
    change: cell("change_24h"),
    last: cell("last"),
    spread: cell("spread"),
    volume: cell("volume_24h"),
    trend: cell("trend"),
  };
  const bar = h("span.meter", { "aria-hidden": "true" });
  const chanceText = h("strong");
  cells.chance.append(chanceText, bar);
  const alone = market.event.title === market.question;
  const element = h(
    "div.list-row.link-row",
    { role: "row" },
    h(
      "span.c-market",
      { role: "cell" },
      h("a", { href: href("market", market.slug || market.id) }, market.question),
      h("small", null, alone ? market.tags.join(" · ") : market.event.title),
    ),
    cells.chance,
    cells.change,
    cells.last,
    cells.spread,
    cells.volume,
    cells.trend,
    h("span.num.c-closes", { role: "cell" }, format.closing(market.ends)),
  );
  let drawn = "";
  /** @type {bigint | null} */
  let before = null;

  function update() {
    const known = figuresOf(market.id);
    const now = chance(known);
    setText(chanceText, format.percent(now, 1));
    bar.style.setProperty("--part", now === null ? "0" : String(Number(now) / 1e6));
    setText(cells.last, format.priceInColumn(known?.last));
    setText(cells.spread, format.priceInColumn(known?.bid && known.ask ? known.ask - known.bid : null));
    setText(cells.volume, known ? format.shortMoney(known.volume) : format.NONE);
    const change = known?.change ?? null;
    setText(cells.change, change === null ? format.NONE : format.change(change, 1));
    cells.change.className = `num c-change_24h ${change === null ? "flat" : format.tone(change)}`;
    if (before !== null && now !== null && now !== before) flash(cells.chance, now > before);
    before = now;
    const points = trendOf(known);
    if (points.join() !== drawn) {
      drawn = points.join();
      fill(cells.trend, sparkLine(points));
    }
  }

  update();
  return { row: element, update, end: followFigures(market) };
}

/**
 * Shows for a moment that a figure went up or down.
 * @param {HTMLElement} element
 * @param {boolean} up
 */
export function flash(element, up) {
  element.classList.remove("flash-up", "flash-down");
  requestAnimationFrame(() => element.classList.add(up ? "flash-up" : "flash-down"));
}

customElements.define("markets-view", MarketsView);
