/** Own open orders, positions, fills and activity, of one market or of all. */

import { micros } from "../lib/decimal.js";
import { cancelAll, cancelOrder, changeShares, refresh } from "../lib/account.js";
import { fill, h, table } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { t } from "../lib/messages.js";
import { reason } from "../lib/rest.js";
import { go, href } from "../lib/router.js";
import { View, get, set } from "../lib/store.js";
import { empty, failed, skeleton } from "./states.js";
import { tabList } from "./tab_list.js";
import { walletDialog } from "./wallet_dialog.js";

/** @typedef {"open_orders" | "positions" | "fills" | "activity"} Tab */

/** @type {{ key: Tab, store: string }[]} */
const TABS = [
  { key: "open_orders", store: "orders" },
  { key: "positions", store: "positions" },
  { key: "fills", store: "fills" },
  { key: "activity", store: "activity" },
];

class AccountTables extends View {
  connectedCallback() {
    /** @type {Tab} */
    this.tab = "open_orders";
    this.only = this.getAttribute("market");
    this.tools = h("div.tools");
    this.tabs = tabList(
      t("account_tabs"),
      TABS.map(({ key }) => ({ key, label: t(key) })),
      this.tab,
      (key) => {
        this.tab = /** @type {Tab} */ (key);
        this.draw();
      },
    );
    fill(this, h("header", null, this.tabs.bar, h("span.grow"), this.tools), this.tabs.panel);
    this.tabs.choose(this.tab);
    for (const { store } of TABS) this.follow(store, () => this.draw());
    this.follow("session", () => this.draw());
    this.follow("account_error", () => this.draw());
    this.follow("markets", () => this.draw());
  }

  draw() {
    const panel = this.tabs?.panel;
    if (!panel || !this.tools) return;
    this.titles();
    if (!get("session")) {
      fill(this.tools);
      fill(panel, empty(t("connect_first"), h("button.primary", { type: "button", onclick: () => walletDialog() }, t("connect"))));
      return;
    }
    this.cancels();
    const store = TABS.find(({ key }) => key === this.tab)?.store ?? "orders";
    const rows = get(store);
    if (!rows) {
      const error = get("account_error");
      fill(panel, error ? failed(error, refresh) : skeleton(3));
      return;
    }
    const draw = { open_orders: orderTable, positions: positionTable, fills: fillTable, activity: activityTable }[
      this.tab ?? "open_orders"
    ];
    const focused = document.activeElement?.getAttribute("data-key");
    fill(panel, h("div.scroll", null, draw(rows)));
    if (focused) /** @type {HTMLElement | null} */ (panel.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
  }

  titles() {
    for (const { key, store } of TABS.slice(0, 2)) {
      const rows = get(store);
      this.tabs?.rename(key, rows ? `${t(key)} (${rows.length})` : t(key));
    }
  }

  cancels() {
    const orders = get("orders") ?? [];
    const here = this.only && orders.some((/** @type {any} */ order) => order.market === this.only);
    const cancel = (/** @type {string | undefined} */ market) => () => cancelAll(market).catch((error) => set("notice", reason(error)));
    const tools = /** @type {HTMLElement} */ (this.tools);
    const wanted = orders.length === 0 ? "" : here ? "both" : "all";
    if (tools.dataset.shown === wanted) return;
    tools.dataset.shown = wanted;
    fill(
      tools,
      here && h("button", { type: "button", onclick: cancel(this.only ?? undefined) }, t("cancel_market")),
      orders.length > 0 && h("button", { type: "button", onclick: cancel(undefined) }, t("cancel_everywhere")),
    );
  }
}

/** @param {string} id condition id */
const known = (id) =>
  (get("markets") ?? []).find((/** @type {any} */ market) => market.id === id) ?? (get("market")?.id === id ? get("market") : null);

/**
 * @param {string} id
 * @param {string} [title]
 * @param {string} [slug]
 */
function marketCell(id, title, slug) {
  const market = known(id);
  return h("td.title", null, h("a", { href: href("market", slug || market?.slug || id) }, title || market?.question || format.address(id)));
}

/** @param {string} side */
const sideCell = (side) => h("td", { class: side === "BUY" ? "up" : "down" }, side === "BUY" ? t("buy") : t("sell"));
/** @param {string} text */
const num = (text) => h("td.num", null, text);

/** @param {import("../lib/account.js").OwnOrder[]} orders */
function orderTable(orders) {
  if (orders.length === 0) return empty(t("no_orders"));
  const newest = [...orders].sort((a, b) => b.created - a.created);
  const rows = newest.map((order) => {
    const values = {
      side: order.side === "BUY" ? t("buy") : t("sell"),
      shares: format.shares(order.size - order.matched),
      price: format.price(order.price),
    };
    const cancel = () => cancelOrder(order.id).catch((error) => set("notice", reason(error)));
    return h(
      "tr",
      null,
      marketCell(order.market),
      h("td", null, order.outcome),
      sideCell(order.side),
      num(format.priceInColumn(order.price)),
      num(format.shares(order.size, 2)),
      num(format.shares(order.matched, 2)),
      h("td", null, order.delayed ? `${order.type}, ${t("delayed")}` : order.type),
      h("td.dim", null, format.dateTime(order.created)),
      h(
        "td.act",
        null,
        h(
          "button",
          { type: "button", "data-key": order.id, "aria-label": t("cancel_named", values), disabled: order.cancelling, onclick: cancel },
          t(order.cancelling ? "cancelling" : "cancel"),
        ),
      ),
    );
  });
  return table(
    [
      { label: t("market") },
      { label: t("outcome") },
      { label: t("side") },
      { label: t("price"), class: "num" },
      { label: t("shares"), class: "num" },
      { label: t("filled"), class: "num" },
      { label: t("type") },
      { label: t("created") },
      { label: "" },
    ],
    rows,
    t("open_orders"),
  );
}

/** @param {any[]} positions */
function positionTable(positions) {
  if (positions.length === 0) return empty(t("no_positions"));
  const rows = positions.map((row) => {
    const profit = micros(row.cashPnl);
    return h(
      "tr",
      null,
      marketCell(row.conditionId, row.title, row.slug),
      h("td", null, row.outcome),
      num(format.shares(micros(row.size), 2)),
      num(format.priceInColumn((micros(row.avgPrice) / 1000n) * 1000n)),
      num(format.priceInColumn(micros(row.curPrice))),
      num(format.money(micros(row.currentValue))),
      h(
        "td.num",
        { class: `num ${format.tone(profit)}` },
        format.profit(profit),
        h("small", null, ` ${format.signedPercent(Number(row.percentPnl))}`),
      ),
      h("td.act", null, action(row)),
    );
  });
  return table(
    [
      { label: t("market") },
      { label: t("outcome") },
      { label: t("shares"), class: "num" },
      { label: t("average_short"), class: "num" },
      { label: t("now"), class: "num" },
      { label: t("value"), class: "num" },
      { label: t("profit"), class: "num" },
      { label: "" },
    ],
    rows,
    t("positions"),
  );
}

/**
 * Opens the ticket of the position's market to sell it.
 * @param {any} row
 */
function sell(row) {
  set("draft", { market: row.conditionId, outcome: row.outcomeIndex, shares: micros(row.size) });
  if (get("route").view !== "market" || get("market")?.id !== row.conditionId) go(href("market", row.slug || row.conditionId));
}

/** @param {any} row of the positions */
function action(row) {
  const named = { shares: format.shares(micros(row.size)), outcome: row.outcome };
  if (!row.redeemable) return h("button", { type: "button", "aria-label": t("sell_named", named), onclick: () => sell(row) }, t("sell"));
  const redeem = () =>
    changeShares("redeem", row.conditionId, 0n).then(
      (answer) => set("notice", t("done_redeem", { amount: format.money(micros(answer.collateral)) })),
      (error) => set("notice", reason(error)),
    );
  return h("button", { type: "button", "aria-label": t("redeem_named", named), onclick: redeem }, t("redeem"));
}

/** @param {any[]} fills of `/data/trades` */
function fillTable(fills) {
  if (fills.length === 0) return empty(t("no_fills"));
  const me = get("session").address.toLowerCase();
  const rows = fills.flatMap((trade) => {
    const maker = trade.trader_side === "MAKER";
    const mine = maker ? trade.maker_orders.filter((/** @type {any} */ order) => order.maker_address?.toLowerCase() === me) : [trade];
    return mine.map((/** @type {any} */ part) => fillRow(trade, part, maker));
  });
  return table(
    [
      { label: t("time") },
      { label: t("market") },
      { label: t("outcome") },
      { label: t("side") },
      { label: t("price"), class: "num" },
      { label: t("shares"), class: "num" },
      { label: t("fee"), class: "num" },
      { label: t("role") },
      { label: t("proof") },
    ],
    rows,
    t("fills"),
  );
}

/**
 * @param {any} trade
 * @param {any} part the taker's or a maker's side of it
 * @param {boolean} maker
 */
function fillRow(trade, part, maker) {
  const time = Number(trade.match_time);
  return h(
    "tr",
    null,
    h("td.dim", null, format.dateTime(Number.isNaN(time) ? Date.parse(trade.match_time) : time * 1000)),
    marketCell(trade.market),
    h("td", null, part.outcome),
    sideCell(part.side ?? trade.side),
    num(format.priceInColumn(micros(part.price))),
    num(format.shares(micros(maker ? part.matched_amount : part.size), 2)),
    num(format.money(maker ? 0n : micros(trade.fee_usdc), { decimals: 5 })),
    h("td", null, t(maker ? "maker" : "taker")),
    h("td", null, h("a.mono", { href: href("proof", trade.id) }, format.address(trade.transaction_hash ?? trade.id))),
  );
}

/** @param {string} type of an activity */
const kindOf = (type) => ({ SPLIT: t("split"), MERGE: t("merge"), REDEEM: t("redeem") })[type] ?? type;

/** @param {any[]} rows of the activity */
function activityTable(rows) {
  if (rows.length === 0) return empty(t("no_activity"));
  const lines = rows.map((row) =>
    h(
      "tr",
      null,
      h("td.dim", null, format.dateTime(row.timestamp * 1000)),
      row.type === "TRADE" ? sideCell(row.side) : h("td", null, kindOf(row.type)),
      marketCell(row.conditionId, row.title, row.slug),
      h("td", null, row.outcome ?? ""),
      num(format.shares(micros(row.size), 2)),
      num(row.price ? format.priceInColumn((micros(row.price) / 1000n) * 1000n) : format.NONE),
      num(format.money(micros(row.usdcSize))),
    ),
  );
  return table(
    [
      { label: t("time") },
      { label: t("type") },
      { label: t("market") },
      { label: t("outcome") },
      { label: t("shares"), class: "num" },
      { label: t("price"), class: "num" },
      { label: t("value"), class: "num" },
    ],
    lines,
    t("activity"),
  );
}

/**
 * Sum of what the positions are worth and of their profit.
 * @param {any[]} positions
 */
export function worth(positions) {
  const sum = { value: 0n, profit: 0n };
  for (const row of positions) {
    sum.value += micros(row.currentValue);
    sum.profit += micros(row.cashPnl);
  }
  return sum;
}

customElements.define("account-tables", AccountTables);
