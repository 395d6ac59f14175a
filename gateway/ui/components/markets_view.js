/** The list of markets: movers, search, topics, events, sort, live prices. Only the rows in sight exist. */

import { fill, frame, h, setText, topicIcon } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { payoutOf } from "../lib/life.js";
import {
  chance,
  changeOf,
  figuresOf,
  followFigures,
  isYoung,
  loadEnded,
  loadFigures,
  loadMarkets,
  searchable,
  trendOf,
} from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { reason } from "../lib/rest.js";
import { href } from "../lib/router.js";
import { View, get, saved, save, set } from "../lib/store.js";
import { cell, listHead, tradeButtons } from "./list_row.js";
import { sparkLine } from "./spark_line.js";
import { empty, failed, skeleton } from "./states.js";

/** @typedef {import("../lib/markets.js").Market} Market */
/** @typedef {"volume" | "closing" | "chance" | "change" | "newest"} Sort */
/** @typedef {{ row: HTMLElement, update: () => void, end: () => void }} Row */

const ROW = 56;
const PHONE_ROW = 124;
/** Rows drawn beyond each edge of the window. */
const SPARE = 6;
const RELOAD_MS = 20_000;
/** Markets in each list of the first screen. */
const HIGHLIGHTS = 3;

/** @param {Market} market */
const volumeOf = (market) => Number(figuresOf(market.id)?.volume ?? 0n);
/** @param {Market} market */
const moveOf = (market) => Math.abs(Number(changeOf(figuresOf(market.id)) ?? 0n));

/** @type {Record<Sort, (market: Market) => number>} the first has the lowest */
const SORTS = {
  volume: (market) => -volumeOf(market),
  closing: (market) => Date.parse(market.ends) || Infinity,
  chance: (market) => -Number(chance(figuresOf(market.id)) ?? -1n),
  change: (market) => -moveOf(market),
  newest: (market) => -Date.parse(market.starts) || 0,
};

class MarketsView extends View {
  tag = "";
  event = "";
  sort = /** @type {Sort} */ (saved("sort", "volume"));
  /** The list of ended markets is shown, else that of open ones. */
  ended = false;
  /** @type {Market[]} */
  shown = [];
  /** @type {Map<string, Row>} */
  rows = new Map();
  /** @type {unknown} */
  problem = null;
  /** What the topics and events that can be chosen were drawn for. */
  offered = "";
  draw = frame(() => this.window());
  tags = h("div.chips", { role: "group", "aria-label": t("tags") });
  events = /** @type {HTMLSelectElement} */ (
    h("select", { "aria-label": t("event_filter"), onchange: () => this.choose({ event: this.events.value }) })
  );
  total = h("span.dim.total", { role: "status" });
  body = h("div.rows", { role: "rowgroup" });
  state = h("div");
  /** @type {{ key: "movers" | "most_traded", by: (market: Market) => number, list: HTMLElement, drawn: string }[]} */
  highlights = [
    { key: "movers", by: moveOf, list: h("ul"), drawn: "" },
    { key: "most_traded", by: volumeOf, list: h("ul"), drawn: "" },
  ];

  connectedCallback() {
    set("loading", true);
    this.build();
    this.follow("markets", () => this.filter());
    this.follow("ended", () => this.filter());
    this.follow("search", () => this.filter());
    this.follow("figures", (ids) => ids.forEach((id) => this.rows.get(id)?.update()));
    this.listen(window, "scroll", this.draw);
    this.listen(window, "resize", this.draw);
    this.endings.push(() => this.rows.forEach((each) => each.end()));
    this.every(RELOAD_MS, () => this.load());
  }

  build() {
    const stages = h(
      "select",
      { "aria-label": t("stage_filter"), onchange: (/** @type {any} */ event) => this.show(event.target.value === "ended") },
      h("option", { value: "open" }, t("stage_open")),
      h("option", { value: "ended" }, t("stage_ended")),
    );
    const sorts = h(
      "select",
      { "aria-label": t("sort"), onchange: (/** @type {any} */ event) => this.choose({ sort: event.target.value }) },
      Object.keys(SORTS).map((key) => h("option", { value: key, selected: key === this.sort }, t(`sort_${/** @type {Sort} */ (key)}`))),
    );
    this.list = h(
      "div.market-list",
      { role: "table", "aria-label": t("markets") },
      listHead("div.list-row", ["market", "trend", "chance", "change_24h", "volume_24h", "trade", "closes"]),
      this.body,
    );
    for (const each of this.highlights) fill(each.list, skeleton(HIGHLIGHTS, "rows"));
    this.top = h(
      "div.highlights",
      null,
      this.highlights.map(({ key, list }) =>
        h("section.panel", { "aria-label": t(key) }, h("header", null, h("h2", null, t(key)), h("span.dim", null, t("in_24h"))), list),
      ),
    );
    fill(this.state, skeleton(8, "rows"));
    fill(
      this,
      h("h1.hidden", null, t("markets")),
      this.top,
      h("div.filters", null, this.tags, h("span.grow"), this.total, stages, this.events, sorts),
      this.list,
      this.state,
    );
  }

  async load() {
    const { signal } = this;
    try {
      await (this.ended ? loadEnded(signal) : loadMarkets(signal));
      await loadFigures(
        (this.all() ?? []).map((market) => market.id),
        signal,
      );
      this.problem = null;
      this.highlight();
    } catch (error) {
      if (signal.aborted) return;
      this.problem = error;
      if (this.all()) set("notice", t("failed", { reason: reason(error) }));
    }
    set("loading", false);
    this.filter();
  }

  /** @param {{ tag?: string, event?: string, sort?: Sort }} choice */
  choose(choice) {
    Object.assign(this, choice);
    if (choice.sort) save("sort", choice.sort);
    window.scrollTo(0, 0);
    this.filter();
  }

  /** The markets of the list that is shown; undefined until they are read. */
  all() {
    return get(this.ended ? "ended" : "markets");
  }

  /** @param {boolean} ended */
  show(ended) {
    this.ended = ended;
    this.choose({ tag: "", event: "" });
    this.load();
  }

  filter() {
    const all = this.all() ?? [];
    const words = searchable(get("search") ?? "")
      .split(/\s+/)
      .filter(Boolean);
    const fits = (/** @type {Market} */ market) => {
      if (this.tag && !market.tags.includes(this.tag)) return false;
      if (this.event && market.event.slug !== this.event) return false;
      const text = searchable(`${market.question} ${market.event.title} ${market.tags.join(" ")}`);
      return words.every((word) => text.includes(word));
    };
    const by = SORTS[this.sort] ?? SORTS.volume;
    this.shown = all
      .filter(fits)
      .map((market) => ({ market, key: by(market) }))
      .sort((a, b) => a.key - b.key || a.market.question.localeCompare(b.market.question))
      .map((entry) => entry.market);
    if (this.top) this.top.hidden = Boolean(words.length || this.tag || this.event || this.ended) || get("markets")?.length === 0;
    this.choices(all);
    this.states(all);
    this.draw();
  }

  /** What moved most and what traded most. */
  highlight() {
    const all = get("markets") ?? [];
    for (const each of this.highlights) {
      const known = all.filter((market) => chance(figuresOf(market.id)) !== null);
      const first = known.sort((a, b) => each.by(b) - each.by(a)).slice(0, HIGHLIGHTS);
      const drawn = first.map((market) => [market.id, chance(figuresOf(market.id)), volumeOf(market)].join()).join("|");
      if (drawn !== each.drawn) fill(each.list, first.map(highlight));
      each.drawn = drawn;
    }
  }

  /** @param {Market[]} all */
  choices(all) {
    const tags = [...new Set(all.flatMap((market) => market.tags))].sort();
    const offered = tags.join("|") + all.length + this.tag + this.event + this.ended;
    if (offered === this.offered) return;
    this.offered = offered;
    const chip = (/** @type {string} */ label, /** @type {string} */ tag) =>
      h(
        "button.chip",
        { type: "button", "aria-pressed": String(this.tag === tag), onclick: () => this.choose({ tag }) },
        tag && topicIcon([tag]),
        label,
      );
    fill(
      this.tags,
      chip(t("all_tags"), ""),
      tags.slice(0, 24).map((tag) => chip(tag, tag)),
    );
    const events = new Map(all.map((market) => [market.event.slug, market.event.title]));
    fill(
      this.events,
      h("option", { value: "" }, t("all_events")),
      [...events].slice(0, 500).map(([slug, title]) => h("option", { value: slug, selected: slug === this.event }, title)),
    );
  }

  /** @param {Market[]} all */
  states(all) {
    const shown = this.shown.length;
    const known = this.all() !== undefined;
    const values = { n: format.count(shown), all: format.count(all.length) };
    setText(this.total, known ? t(shown === all.length ? "n_markets" : "n_of_markets", values) : "");
    if (this.list) this.list.hidden = shown === 0;
    if (shown > 0) fill(this.state);
    else if (this.problem && !known) failed(this.state, this.problem, () => this.load());
    else if (known)
      fill(this.state, empty(t("no_markets"), h("button", { type: "button", onclick: () => this.clear() }, t("clear_filters"))));
  }

  clear() {
    this.tag = "";
    this.event = "";
    set("search", "");
  }

  /** Draws the rows in sight; the others are empty space. */
  window() {
    if (!this.isConnected) return;
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
}

/** @param {Market} market */
function highlight(market) {
  const known = figuresOf(market.id);
  const change = changeOf(known);
  return h(
    "li",
    null,
    h(
      "a",
      { href: href("market", market.slug) },
      topicIcon(market.tags),
      h("span.question", null, market.question),
      h("span.trend", null, sparkLine(trendOf(known))),
      h(
        "span.num.figures-of",
        null,
        h("strong", null, format.percent(chance(known), 1)),
        h("small", { class: format.tone(change) }, format.change(change, 1)),
      ),
      h("small.num.dim", null, known ? `${t("volume").toLowerCase()} ${format.shortMoney(known.volume)}` : ""),
    ),
  );
}

/**
 * One market. Its cells change, its layout does not.
 * @param {Market} market
 * @returns {Row}
 */
function row(market) {
  const bar = h("span.meter", { "aria-hidden": "true" });
  const chanceText = h("strong");
  const cells = { trend: cell("trend"), chance: cell("chance", bar, chanceText), change: cell("change_24h"), volume: cell("volume_24h") };
  const trade = tradeButtons(market);
  const { event } = market;
  const about =
    (event.questions ?? 1) > 1
      ? h("a.event-link", { href: href("event", event.slug) }, event.title)
      : h("span", null, market.tags.join(" · "));
  const element = h(
    "div.list-row.link-row",
    { role: "row" },
    h(
      "span.c-market",
      { role: "cell" },
      topicIcon(market.tags),
      h("span.titles", null, h("a", { href: href("market", market.slug) }, market.question), h("small", null, about)),
    ),
    cells.trend,
    cells.chance,
    cells.change,
    cells.volume,
    h("span.c-trade", { role: "cell" }, trade.element),
    h("span.num.c-closes", { role: "cell" }, format.closing(market.ends)),
  );
  let drawn = "";
  /** @type {bigint | null} */
  let before = null;

  function update() {
    const known = figuresOf(market.id);
    const now = chance(known);
    const change = changeOf(known, now);
    element.classList.toggle("waiting", !known);
    setText(
      chanceText,
      known?.resolved ? t("resolved_to", { outcome: payoutOf([known.price ?? 0n], market.outcomes) }) : format.percent(now, 1),
    );
    bar.style.setProperty("--part", now === null ? "0" : String(Number(now) / 1e6));
    setText(cells.volume, known ? format.shortMoney(known.volume) : format.NONE);
    setText(cells.change, format.change(change, 1));
    cells.change.className = `num c-change_24h ${format.tone(change)}`;
    if (before !== null && now !== null && now !== before) flash(cells.chance, now > before);
    before = now;
    trade.update();
    const points = trendOf(known);
    if (points.join() !== drawn) {
      drawn = points.join();
      fill(cells.trend, sparkLine(points));
    }
  }

  for (const part of [cells.change, cells.volume]) if (isYoung(market)) part.title = t("since_open");
  update();
  return { row: element, update, end: followFigures(market) };
}

/**
 * Shows for a moment that a figure went up or down.
 * @param {HTMLElement} element
 * @param {boolean} up
 */
function flash(element, up) {
  element.classList.remove("flash-up", "flash-down");
  requestAnimationFrame(() => element.classList.add(up ? "flash-up" : "flash-down"));
}

customElements.define("markets-view", MarketsView);
