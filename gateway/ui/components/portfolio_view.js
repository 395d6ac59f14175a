/** Balances, the account's value over time, its profit by market, and everything the visitor owns. */

import { refreshSoon, readList } from "../lib/account.js";
import { fill, h, saveCsv, table } from "../lib/dom.js";
import { float, text } from "../lib/decimal.js";
import * as format from "../lib/format.js";
import { accountValue, profitByMarket } from "../lib/history.js";
import { t } from "../lib/messages.js";
import { View, get } from "../lib/store.js";
import { csvButton, titled, worth } from "./account_tables.js";
import { card } from "./figures.js";
import { LineChart } from "./line_chart.js";
import { empty, skeleton } from "./states.js";
import "./withdraw_form.js";

/** @typedef {import("../lib/history.js").MarketProfit} MarketProfit */

const PROFIT_MS = 20_000;

class ValueChart extends LineChart {
  title = t("value_history");
  /** @type {import("./line_chart.js").Range[]} */
  ranges = ["1d", "1w", "30d", "all"];
  key = "value_range";
  right = 88;
  least = 1;
  /** @type {[number, number]} */
  bounds = [-Infinity, Infinity];

  connectedCallback() {
    super.connectedCallback();
    this.follow(["cash", "positions"], () => !this.lines && this.load());
  }

  /** Waits for what the value begins with. */
  async load() {
    if (get("cash") && get("positions")) await super.load();
  }

  /** @param {number} value */
  figure(value) {
    return format.money(BigInt(Math.round(value * 100)) * 10_000n);
  }

  /** @param {import("./line_chart.js").Range} range */
  async read(range) {
    const [session, cash, positions] = [get("session"), get("cash"), get("positions")];
    if (!session || !cash || !positions) return [];
    const terms = { "1d": { days: 1, interval: "1d" }, "1w": { days: 7, interval: "1w" }, "30d": { days: 30, interval: "all" } };
    const { days, interval } = terms[/** @type {"1d"} */ (range)] ?? { days: 0, interval: "all" };
    const points = await accountValue(session.address, { cash: float(cash.total), positions, days, interval }, this.signal);
    return [{ name: "", points }];
  }
}

customElements.define("value-chart", ValueChart);

class PortfolioView extends View {
  cards = h("div.cards");
  profit = h("div.scroll");
  /** @type {MarketProfit[] | null} */
  rows = null;
  /** Whose profit is being read. @type {import("../lib/session.js").Session | null} */
  reader = null;
  save = csvButton(() => this.saveAll());
  withdraw = h("withdraw-form.panel");
  history = h(
    "div.portfolio-grid",
    null,
    h("section.panel", { "aria-label": t("value_history") }),
    h(
      "section.panel.by-market",
      { "aria-label": t("by_market") },
      h("header", null, h("h2", null, t("by_market")), h("span.grow"), this.save),
      this.profit,
    ),
  );

  connectedCallback() {
    fill(
      this,
      h("h1", null, t("portfolio")),
      this.cards,
      this.history,
      h("section.panel", { "aria-label": t("account_tabs") }, h("account-tables", { withdrawals: true })),
      this.withdraw,
    );
    this.follow("session", (session) => this.begin(Boolean(session)));
    this.follow(["session", "cash", "positions", "rebates"], () => this.draw());
    this.follow("positions", () => this.load());
    this.every(PROFIT_MS, () => this.load());
    readList("rebates");
    refreshSoon();
  }

  /**
   * What another wallet had is gone at once.
   * @param {boolean} connected
   */
  begin(connected) {
    this.rows = null;
    this.save.hidden = true;
    this.history.hidden = !connected;
    this.withdraw.hidden = !connected;
    fill(this.profit, skeleton(3));
    if (connected) fill(/** @type {Element} */ (this.history.firstElementChild), h("value-chart"));
    this.load();
  }

  async load() {
    const session = get("session");
    const positions = get("positions");
    if (!session || !positions || this.reader === session) return;
    this.reader = session;
    const found = await profitByMarket(session.address, positions, { signal: this.signal }).catch(() => null);
    if (this.reader === session) this.reader = null;
    // What was read before stays; the next turn reads again.
    if (!found || this.signal.aborted || get("session") !== session) return;
    this.show(found);
    if (get("positions") !== positions) this.load();
  }

  /** @param {{ rows: MarketProfit[], complete: boolean }} found */
  show({ rows, complete }) {
    this.rows = rows;
    this.save.hidden = rows.length === 0;
    fill(
      this.profit,
      rows.length > 0 ? table(PROFIT, rows, t("by_market")) : empty(t("no_positions")),
      !complete && h("p.dim.cut", null, t("cut_profit")),
    );
    this.draw();
  }

  /** Saves all rows, also those that the view does not read. */
  async saveAll() {
    const session = get("session");
    const positions = get("positions");
    if (!session || !positions) return;
    const { rows } = await profitByMarket(session.address, positions, { signal: this.signal, pages: Infinity });
    saveCsv("profit.csv", PROFIT, rows);
  }

  draw() {
    this.cards.hidden = !get("session");
    const cash = get("cash");
    const rebates = get("rebates") ?? 0n;
    const positions = get("positions");
    const { value, profit } = worth(positions ?? []);
    const realized = this.rows?.reduce((sum, row) => sum + row.realized, 0n);
    const known = cash && positions ? cash : null;
    const money = (/** @type {bigint | undefined} */ amount) => (known && amount !== undefined ? format.money(amount) : format.NONE);
    fill(
      this.cards,
      card(t("worth"), money(known ? known.total + value : undefined)),
      card(t("cash_free"), money(known?.free)),
      card(t("cash_reserved"), money(known ? known.total - known.free : undefined)),
      card(t("positions_value"), money(value)),
      card(t("unrealized"), known ? format.profit(profit) : format.NONE, { tone: format.tone(profit) }),
      card(t("realized"), realized === undefined ? format.NONE : format.profit(realized), { tone: format.tone(realized ?? 0n) }),
      rebates > 0n && card(t("rebates_today"), format.money(rebates, { decimals: 4 })),
    );
  }
}

/**
 * @param {string} label
 * @param {(row: MarketProfit) => bigint} amount
 * @returns {import("../lib/dom.js").Column<MarketProfit>}
 */
const gain = (label, amount) => ({
  label,
  class: "num",
  cell: (row) => h("td", { class: `num ${format.tone(amount(row))}` }, format.profit(amount(row))),
  csv: (row) => text(amount(row)),
});

/** @type {import("../lib/dom.js").Column<MarketProfit>[]} */
const PROFIT = [
  titled((row) => row),
  gain(t("realized"), (row) => row.realized),
  gain(t("unrealized"), (row) => row.unrealized),
  { label: t("fees"), class: "num", cell: (row) => format.money(row.fees), csv: (row) => text(row.fees) },
  gain(t("total"), (row) => row.realized + row.unrealized),
];

customElements.define("portfolio-view", PortfolioView);
