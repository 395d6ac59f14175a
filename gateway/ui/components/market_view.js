/** One market: event, price history, ladder, ticket, trades, details, own records. Once resolved: its payout. */

import { ONE } from "../lib/decimal.js";
import { fill, frame, h, icon, setText, topicIcon } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { nextText, payoutOf, stageText } from "../lib/life.js";
import { chance, changeOf, figuresOf, findMarket, isYoung } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { OpenMarket } from "../lib/open_market.js";
import { reason } from "../lib/rest.js";
import { href } from "../lib/router.js";
import { View, get, open, set } from "../lib/store.js";
import { empty, failed, skeleton } from "./states.js";
import { pick, segmented, tabList } from "./tab_list.js";
import { tradeButtons } from "./list_row.js";
import "./account_tables.js";
import "./depth_chart.js";
import "./event_panel.js";
import "./holder_list.js";
import "./order_ladder.js";
import "./order_ticket.js";
import "./market_facts.js";
import "./price_chart.js";
import "./resolution_panel.js";
import "./trade_list.js";

/** @typedef {import("../lib/markets.js").Market} Market */
/** @typedef {import("../lib/open_market.js").Terms} Terms */

const COUNTDOWN_MS = 1000;
const PANELS = { trades: "trade-list", depth: "depth-chart", holders: "holder-list", rules: "market-facts", proof: "market-facts" };

class MarketView extends View {
  parts = {
    chance: h("span.big-chance"),
    outcome: h("span.dim"),
    change: h("span.change"),
    volume: h("span"),
    spread: h("span"),
    state: h("span"),
    next: h("span.num"),
  };
  sheet = h("section.panel.ticket-panel", { "aria-label": t("ticket") });
  /** The stream may bring many messages in a frame. */
  update = frame(() => this.isConnected && this.draw());

  connectedCallback() {
    set("outcome", 0);
    this.endings.push(() => this.shown?.close());
    this.load();
  }

  async load() {
    set("loading", true);
    fill(this, placeholder());
    try {
      const market = await findMarket(this.getAttribute("argument") ?? "", this.signal);
      if (market) this.show(market);
      else fill(this, empty(t("no_market"), h("a.button", { href: href("markets") }, t("to_markets"))));
      if (!market) set("loading", false);
    } catch (error) {
      if (!this.signal.aborted) failed(this, error, () => this.load());
    }
  }

  /** @param {Market} market */
  show(market) {
    set("market", market);
    this.shown = new OpenMarket(market, (error) => set("notice", t("failed", { reason: reason(error) })));
    document.title = `${market.question} · ${get("site")?.name ?? "Foretell"}`;
    const outcomes = segmented(
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
    fill(this.sheet, h("header.sheet-head", null, h("strong", null, market.question), close), h("order-ticket"));
    const ladder = h(
      "section.panel.ladder-panel",
      { "aria-label": t("ladder") },
      h("header", null, h("h2", null, t("ladder")), outcomes),
      h("order-ladder"),
    );
    fill(
      this,
      h("event-panel"),
      this.head(market),
      h("div.middle", null, h("section.panel", { "aria-label": t("history") }, h("price-chart")), this.details()),
      ladder,
      this.sheet,
      h("section.panel.dock", { "aria-label": t("account_tabs") }, h("account-tables", { market: market.id })),
      this.bar(market),
    );
    this.follow("outcome", (outcome) => pick(outcomes, String(outcome)));
    this.follow("draft", (draft) => {
      if (draft?.market === market.id) this.take(draft);
    });
    this.follow(["book", "terms"], () => this.loaded());
    this.listen(document, "ticket-fill", () => this.ticket(true));
    this.listen(document, "keydown", (event) => event.key === "Escape" && this.ticket(false));
    this.follow("figures", (ids) => ids.includes(market.id) && this.update());
  }

  /** @param {import("../lib/store.js").Draft} draft */
  take({ outcome, side, shares }) {
    set("draft", null);
    set("outcome", outcome);
    this.ticket(true);
    document.dispatchEvent(new CustomEvent("ticket-side", { detail: side }));
    if (shares !== undefined) document.dispatchEvent(new CustomEvent("ticket-fill", { detail: { shares } }));
  }

  /**
   * On a phone the ticket is a sheet that these buttons open.
   * @param {Market} market
   */
  bar(market) {
    const buttons = tradeButtons(market, (outcome) => this.take({ market: market.id, outcome, side: "BUY" }));
    this.follow("book", (book) => book.ready && buttons.update({ ...book.top(0) }));
    return h("div.trade-bar", null, buttons.element);
  }

  /** @param {boolean} open */
  ticket(open) {
    this.sheet.classList.toggle("open", open);
  }

  /** @param {Market} market */
  head(market) {
    const { parts } = this;
    this.follow(["outcome", "book"], this.update);
    this.follow("terms", (terms) => this.terms(terms));
    this.every(COUNTDOWN_MS, () => this.countdown());
    const about = market.event.title !== market.question && market.event.title;
    return h(
      "div.market-head",
      null,
      h(
        "div.titled",
        null,
        topicIcon(market.tags),
        h(
          "div",
          null,
          about && h("p.eyebrow", null, market.event.slug ? h("a", { href: href("event", market.event.slug) }, about) : about),
          h("h1", null, market.question),
        ),
      ),
      h("div.headline", null, parts.chance, parts.outcome, parts.change),
      h("div.meta", null, parts.state, parts.volume, parts.spread, parts.next, h("span", null, format.closes(market.ends))),
    );
  }

  details() {
    const keys = /** @type {(keyof typeof PANELS)[]} */ (Object.keys(PANELS));
    const tabs = tabList(
      t("detail_tabs"),
      keys.map((key) => ({ key, label: t(key) })),
      (key) => fill(tabs.panel, h(PANELS[/** @type {"rules"} */ (key)], { show: key })),
    );
    tabs.choose("trades");
    return h("section.panel.details", { "aria-label": t("details") }, h("header", null, tabs.bar), tabs.panel);
  }

  draw() {
    const { parts } = this;
    const outcome = open("outcome");
    const market = open("market");
    const { outcomes, id } = market;
    const book = open("book");
    const terms = get("terms");
    const known = figuresOf(id);
    const top = book.top(0);
    const first = terms?.payouts?.[0] ?? (book.ready ? chance({ ...top, last: book.last }) : null);
    parts.chance.classList.toggle("waiting", !book.ready);
    setText(parts.outcome, outcomes[outcome]);
    setText(parts.chance, format.percent(first === null || outcome === 0 ? first : ONE - first));
    const spread = top.spread === null || terms?.payouts ? "" : t("spread_of", { spread: format.price(top.spread, book.tick) });
    setText(parts.spread, spread);
    const period = isYoung(market) ? t("since_open") : t("change_24h");
    setText(parts.volume, known ? `${t("volume").toLowerCase()} ${period} ${format.shortMoney(known.volume)}` : "");
    const change = terms?.payouts ? null : changeOf(known, first);
    const shown = change === null || outcome === 0 ? change : -change;
    setText(parts.change, shown === null ? "" : `${format.change(shown)}${format.unit()} (${period})`);
    parts.change.className = `change ${format.tone(shown)}`;
  }

  /** @param {Terms | null} terms */
  terms(terms) {
    if (!terms) return;
    const { outcomes } = open("market");
    const resolved = terms.payouts;
    setText(this.parts.state, resolved ? t("resolved_to", { outcome: payoutOf(resolved, outcomes) }) : stageText(terms.life, outcomes));
    this.parts.state.className = `badge-state ${terms.status}`;
    if (resolved && !this.querySelector("resolution-panel")) this.resolve();
    this.update();
    this.countdown();
  }

  /** Whether all figures are there; the book says so in every frame. */
  loaded() {
    const terms = get("terms");
    const loading = !terms || !(open("book").ready || terms.payouts);
    if (get("loading") !== loading) set("loading", loading);
  }

  /** What was to trade gives way to what was paid. */
  resolve() {
    this.classList.add("resolved");
    this.querySelector(".ladder-panel")?.remove();
    this.querySelector(".trade-bar")?.remove();
    this.sheet.replaceWith(h("section.panel.resolution", { "aria-label": t("resolution") }, h("resolution-panel")));
  }

  countdown() {
    const life = get("terms")?.life;
    if (life) setText(this.parts.next, nextText(life, Date.now()));
  }
}

/** The panels of a market before it is known. */
function placeholder() {
  return [
    h("div.market-head", null, skeleton(2)),
    h("div.middle", null, h("section.panel", null, skeleton(1, "chart")), h("section.panel.details", null, skeleton(8))),
    h("section.panel.ladder-panel", null, skeleton(24, "levels")),
    h("section.panel.ticket-panel", null, skeleton(8)),
    h("section.panel.dock", null, skeleton(3)),
  ];
}

customElements.define("market-view", MarketView);
