/** One market: event, price history, ladder, ticket, trades, details, own records. */

import { ONE } from "../lib/decimal.js";
import { fill, h, icon, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { nextText, stageText } from "../lib/life.js";
import { chance, figuresOf, findMarket, loadFigures } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { OpenMarket } from "../lib/open_market.js";
import { reason } from "../lib/rest.js";
import { href } from "../lib/router.js";
import { View, get, set } from "../lib/store.js";
import { empty, failed, skeleton } from "./states.js";
import { pick, segmented, tabList } from "./tab_list.js";
import "./account_tables.js";
import "./depth_chart.js";
import "./event_panel.js";
import "./holder_list.js";
import "./order_ladder.js";
import "./order_ticket.js";
import "./market_facts.js";
import "./price_chart.js";
import "./trade_list.js";

const FIGURES_MS = 15_000;
const COUNTDOWN_MS = 1000;

class MarketView extends View {
  connectedCallback() {
    set("outcome", 0);
    this.endings.push(() => this.open?.close());
    this.load();
  }

  async load() {
    fill(this, skeleton(10));
    try {
      const market = await findMarket(this.getAttribute("argument") ?? "", this.signal);
      if (market) this.show(market);
      else fill(this, empty(t("no_market"), h("a.button", { href: href("markets") }, t("to_markets"))));
    } catch (error) {
      if (!this.signal.aborted)
        fill(
          this,
          failed(error, () => this.load()),
        );
    }
  }

  /** @param {import("../lib/markets.js").Market} market */
  show(market) {
    this.market = market;
    set("market", market);
    this.open = new OpenMarket(market, (error) => set("notice", t("failed", { reason: reason(error) })));
    document.title = `${market.question} · ${get("site")?.name ?? "Foretell"}`;
    this.outcomes = segmented(
      t("outcome"),
      market.outcomes.map((outcome, i) => ({ key: String(i), label: outcome, class: i === 0 ? "yes" : "no" })),
      "0",
      (key) => set("outcome", Number(key)),
    );
    const close = h(
      "button.plain.square.sheet-close",
      { type: "button", "aria-label": t("close"), onclick: () => this.ticket(false) },
      icon("close"),
    );
    this.sheet = h("section.panel.ticket-panel", { "aria-label": t("ticket") }, close, h("order-ticket"));
    const ladder = h(
      "section.panel.ladder-panel",
      { "aria-label": t("ladder") },
      h("header", null, h("h2", null, t("ladder")), this.outcomes),
      h("order-ladder"),
    );
    const middle = h("div.middle", null, h("section.panel", { "aria-label": t("history") }, h("price-chart")), this.details());
    fill(
      this,
      h("event-panel"),
      this.head(market),
      middle,
      ladder,
      this.sheet,
      h("section.panel.dock", { "aria-label": t("account_tabs") }, h("account-tables", { market: market.id })),
      this.bar(),
    );
    this.follow("draft", (draft) => draft?.market === market.id && this.sell(draft));
    this.listen(document, "ticket-fill", () => this.ticket(true));
    this.listen(document, "keydown", (event) => event.key === "Escape" && this.ticket(false));
    this.figures();
  }

  /**
   * Fills the ticket to sell a position.
   * @param {{ outcome: number, shares: bigint }} draft
   */
  sell({ outcome, shares }) {
    set("draft", null);
    set("outcome", outcome);
    if (this.outcomes) pick(this.outcomes, String(outcome));
    document.dispatchEvent(new CustomEvent("ticket-side", { detail: "SELL" }));
    document.dispatchEvent(new CustomEvent("ticket-fill", { detail: { shares } }));
  }

  /** On a phone the ticket is a sheet that these buttons open. */
  bar() {
    const open = (/** @type {string} */ side) => () => {
      this.ticket(true);
      document.dispatchEvent(new CustomEvent("ticket-side", { detail: side }));
    };
    return h(
      "div.trade-bar",
      null,
      h("button.buy", { type: "button", onclick: open("BUY") }, t("buy")),
      h("button.sell", { type: "button", onclick: open("SELL") }, t("sell")),
    );
  }

  /** @param {boolean} open */
  ticket(open) {
    this.sheet?.classList.toggle("open", open);
  }

  /** @param {import("../lib/markets.js").Market} market */
  head(market) {
    this.parts = {
      chance: h("span.big-chance"),
      change: h("span.change"),
      volume: h("span"),
      spread: h("span"),
      state: h("span"),
      next: h("span.num"),
    };
    const outcome = h("span.dim");
    this.follow("outcome", (index) => {
      setText(outcome, market.outcomes[index]);
      this.update();
    });
    this.follow("book", () => this.update());
    this.follow("terms", (terms) => this.terms(terms));
    this.every(COUNTDOWN_MS, () => this.countdown());
    return h(
      "div.market-head",
      null,
      h("div", null, market.event.title !== market.question && h("p.eyebrow", null, market.event.title), h("h1", null, market.question)),
      h("div.headline", null, this.parts.chance, outcome, this.parts.change),
      h(
        "div.meta",
        null,
        this.parts.state,
        this.parts.volume,
        this.parts.spread,
        this.parts.next,
        h("span", null, `${t("closes").toLowerCase()} ${format.closing(market.ends)}`),
      ),
    );
  }

  details() {
    const panels = { trades: "trade-list", depth: "depth-chart", holders: "holder-list", rules: "market-facts", proof: "market-facts" };
    const keys = /** @type {(keyof typeof panels)[]} */ (Object.keys(panels));
    const tabs = tabList(
      t("detail_tabs"),
      keys.map((key) => ({ key, label: t(key) })),
      "trades",
      (key) => fill(tabs.panel, h(panels[/** @type {"rules"} */ (key)], { show: key })),
    );
    tabs.choose("trades");
    return h("section.panel.details", { "aria-label": t("details") }, h("header", null, tabs.bar), tabs.panel);
  }

  figures() {
    const { id } = /** @type {import("../lib/markets.js").Market} */ (this.market);
    this.every(FIGURES_MS, () =>
      loadFigures([id], this.signal).then(
        () => this.update(),
        () => {},
      ),
    );
  }

  update() {
    if (!this.parts || !this.market) return;
    const outcome = get("outcome") ?? 0;
    const book = get("book");
    const known = figuresOf(this.market.id);
    const top = book.top(0);
    const yes = chance({ bid: top.bid, ask: top.ask, last: book.last, change: null, volume: 0n, spark: [] });
    const shown = yes === null ? null : outcome === 0 ? yes : ONE - yes;
    setText(this.parts.chance, format.percent(shown));
    setText(this.parts.spread, top.spread === null ? "" : t("spread_of", { spread: format.price(top.spread, book.tick) }));
    setText(this.parts.volume, known ? `${t("volume_24h").toLowerCase()} ${format.shortMoney(known.volume)}` : "");
    if (known?.change !== null && known?.change !== undefined) {
      const change = outcome === 0 ? known.change : -known.change;
      setText(this.parts.change, `${format.change(change)}${format.unit()} (${t("change_24h")})`);
      this.parts.change.className = `change ${format.tone(change)}`;
    }
  }

  /** @param {import("../lib/open_market.js").Terms | null} terms */
  terms(terms) {
    if (!this.parts || !terms) return;
    const outcomes = this.market?.outcomes ?? [];
    const text = terms.winner ? t("resolved_to", { outcome: terms.winner }) : stageText(terms.life, outcomes);
    setText(this.parts.state, text);
    this.parts.state.className = `badge-state ${terms.status}`;
    this.countdown();
  }

  countdown() {
    const life = /** @type {import("../lib/open_market.js").Terms | null} */ (get("terms"))?.life;
    if (this.parts && life) setText(this.parts.next, nextText(life, Date.now()));
  }
}

customElements.define("market-view", MarketView);
