/** An event: its questions with prices, a line for each of the likeliest, the sum of their chances. */

import { float } from "../lib/decimal.js";
import { fill, h, setText, topicIcon } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { histories } from "../lib/history.js";
import { chance, changeOf, figuresOf, findEvent, followFigures, isYoung, loadFigures, sumOfChances } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { reason } from "../lib/rest.js";
import { href } from "../lib/router.js";
import { View, get, set } from "../lib/store.js";
import { LineChart } from "./line_chart.js";
import { cell, listHead, tradeButtons } from "./list_row.js";
import { empty, failed, skeleton } from "./states.js";

/** @typedef {import("../lib/markets.js").Market} Market */

const FIGURES_MS = 20_000;

/** Colours that readers can tell apart. */
const LINES = 5;

class EventChart extends LineChart {
  /** @type {Market[]} */
  markets = [];
  /** Which questions have a line follows from their figures. @type {Promise<void> | undefined} */
  figures = undefined;

  /** Those with a line, in the order of the colours. @type {Market[]} */
  drawn = [];

  connectedCallback() {
    super.connectedCallback();
    this.follow("figures", () => {
      this.stale = true;
    });
  }

  /** The lines up to the present chances. */
  series() {
    return (this.lines ?? []).map((line, i) => {
      const now = chance(figuresOf(this.drawn[i].id));
      return now === null || line.points.length === 0 ? line : { ...line, points: [...line.points, { t: Date.now(), p: float(now) }] };
    });
  }

  chosen() {
    const now = (/** @type {Market} */ market) => Number(chance(figuresOf(market.id)) ?? -1n);
    return [...this.markets].sort((a, b) => now(b) - now(a)).slice(0, LINES);
  }

  describe() {
    return t("event_chart", { n: Math.min(LINES, this.markets.length) });
  }

  /** @param {import("./line_chart.js").Range} range */
  async read(range) {
    await this.figures;
    const chosen = this.chosen();
    const found = await histories(
      chosen.map((market) => market.tokens[0]),
      range,
      this.signal,
    );
    this.drawn = chosen;
    this.dispatchEvent(new CustomEvent("chosen", { detail: chosen.map((market) => market.id) }));
    return chosen.map((market) => ({ name: market.name, points: found.get(market.tokens[0]) ?? [] }));
  }
}

customElements.define("event-chart", EventChart);

class EventView extends View {
  /** @type {Map<string, () => void>} */
  updates = new Map();
  /** @type {Market[]} */
  markets = [];
  sum = h("strong.num");
  volume = h("span");

  connectedCallback() {
    this.load();
  }

  async load() {
    fill(this, skeleton(1), skeleton(1, "chart"), skeleton(5, "rows"));
    set("loading", true);
    const { signal } = this;
    try {
      const event = await findEvent(this.getAttribute("argument") ?? "", signal);
      if (event && event.markets.length > 0) {
        this.show(event);
        return;
      }
      fill(this, empty(t("no_event"), h("a.button", { href: href("markets") }, t("to_markets"))));
    } catch (error) {
      if (signal.aborted) return;
      failed(this, error, () => this.load());
    }
    set("loading", false);
  }

  /**
   * Reads the figures of all questions.
   * @param {string[]} ids
   */
  async read(ids) {
    const { signal } = this;
    try {
      await loadFigures(ids, signal);
    } catch (error) {
      if (!signal.aborted) set("notice", t("failed", { reason: reason(error) }));
    }
    if (!signal.aborted) set("loading", false);
  }

  /** @param {import("../lib/markets.js").Event} event */
  show(event) {
    this.markets = event.markets;
    const ids = event.markets.map((market) => market.id);
    document.title = `${event.title} · ${get("site")?.name ?? "Foretell"}`;
    const rows = event.markets.map((market) => this.question(market));
    const chart = /** @type {import("./line_chart.js").LineChart & { markets: Market[], figures?: Promise<void> }} */ (h("event-chart"));
    chart.markets = event.markets;
    this.every(FIGURES_MS, () => {
      const reading = this.read(ids);
      chart.figures ??= reading;
      return reading;
    });
    chart.addEventListener("chosen", (chosen) => {
      const lines = /** @type {CustomEvent<string[]>} */ (chosen).detail;
      for (const row of rows) row.dataset.line = String(lines.indexOf(row.dataset.id ?? ""));
    });
    const ends = event.markets
      .map((market) => market.ends)
      .sort()
      .at(-1);
    fill(
      this,
      h(
        "div.market-head",
        null,
        h(
          "div.titled",
          null,
          topicIcon(event.tags),
          h("div", null, event.tags.length > 0 && h("p.eyebrow", null, event.tags.join(" · ")), h("h1", null, event.title)),
        ),
        h(
          "div.meta",
          null,
          h("span", null, t("questions_of", { n: event.markets.length })),
          this.volume,
          h("span", null, format.closes(ends)),
          event.negRisk && h("span", { title: t("sum_help") }, `${t("sum").toLowerCase()} `, this.sum),
        ),
      ),
      h("section.panel", { "aria-label": t("history") }, chart),
      h(
        "div.market-list.event-list",
        { role: "table", "aria-label": event.title },
        listHead("div.event-row", ["short_outcome", "chance", "change_24h", "bid", "ask", "volume_24h", "trade"]),
        h("div", { role: "rowgroup" }, rows),
      ),
      event.description && h("section.panel", null, h("header", null, h("h2", null, t("rules"))), h("p.rules", null, event.description)),
    );
    this.follow("figures", (changed) => this.figures(changed));
    this.figures(ids);
  }

  /** @param {Market} market */
  question(market) {
    const side = (/** @type {"bid" | "ask"} */ key) => h(`span.num.c-${key}`, { role: "cell", "data-label": t(key) });
    const parts = { chance: h("strong"), change: cell("change_24h"), bid: side("bid"), ask: side("ask"), volume: cell("volume_24h") };
    for (const part of [parts.change, parts.volume]) if (isYoung(market)) part.title = t("since_open");
    const trade = tradeButtons(market);
    this.updates.set(market.id, () => {
      const known = figuresOf(market.id);
      const change = changeOf(known);
      setText(parts.chance, format.percent(chance(known), 1));
      setText(parts.change, format.change(change, 1));
      parts.change.className = `num c-change_24h ${format.tone(change)}`;
      setText(parts.bid, format.priceInColumn(known?.bid));
      setText(parts.ask, format.priceInColumn(known?.ask));
      setText(parts.volume, known ? format.shortMoney(known.volume) : format.NONE);
      trade.update();
    });
    this.endings.push(followFigures(market));
    const link = h("a", { href: href("market", market.slug), title: market.question }, market.name);
    return h(
      "div.event-row.link-row",
      { role: "row", "data-id": market.id, "data-line": "-1" },
      h("span.c-market", { role: "cell" }, h("i.key", { "aria-hidden": "true" }), link),
      cell("chance", parts.chance),
      parts.change,
      parts.bid,
      parts.ask,
      parts.volume,
      h("span.c-trade", { role: "cell" }, trade.element),
    );
  }

  /** @param {string[]} ids */
  figures(ids) {
    for (const id of ids) this.updates.get(id)?.();
    const known = this.markets.map((market) => figuresOf(market.id));
    // A sum is not known while one of its figures is not.
    const volume = known.every((each) => each !== null)
      ? format.shortMoney(known.reduce((sum, each) => sum + each.volume, 0n))
      : format.NONE;
    setText(this.sum, format.percent(sumOfChances(this.markets), 1));
    const period = this.markets.every(isYoung) ? t("since_open") : t("change_24h");
    setText(this.volume, `${t("volume").toLowerCase()} ${period} ${volume}`);
  }
}

customElements.define("event-view", EventView);
