/** Own open orders, positions, fills, activity and withdrawals. */

import { micros, text } from "../lib/decimal.js";
import { allOf, cancelAll, cancelOrder, changeShares, refresh, readList } from "../lib/account.js";
import { fill, h, icon, saveCsv, table } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { titleOf } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { explainShort } from "../lib/rest.js";
import { go, href } from "../lib/router.js";
import { View, get, set } from "../lib/store.js";
import { cancelWithdrawal } from "../lib/withdrawals.js";
import { receiptLink } from "./receipt_link.js";
import { empty, failed, skeleton } from "./states.js";
import { tabList } from "./tab_list.js";
import { walletDialog } from "./wallet_dialog.js";

/**
 * @typedef {import("../lib/account.js").OwnOrder} OwnOrder
 * @typedef {import("../lib/account.js").Position} Position
 * @typedef {import("../lib/account.js").Fill} Fill
 * @typedef {import("../lib/account.js").Activity} Activity
 * @typedef {import("../lib/withdrawals.js").Withdrawal} Withdrawal
 * @typedef {"open_orders" | "positions" | "fills" | "activity" | "withdrawals"} Tab
 */

/** @param {unknown} error */
const tell = (error) => set("notice", explainShort(error));

class AccountTables extends View {
  /** @type {Tab} */
  tab = "open_orders";
  tools = h("div.tools");

  connectedCallback() {
    this.only = this.getAttribute("market") ?? undefined;
    const keys = /** @type {Tab[]} */ (Object.keys(TABLES)).filter((key) => key !== "withdrawals" || this.hasAttribute(key));
    this.tabs = tabList(
      t("account_tabs"),
      keys.map((key) => ({ key, label: t(key) })),
      (key) => {
        this.tab = /** @type {Tab} */ (key);
        const { store } = TABLES[this.tab];
        if (isLong(store)) readList(store);
        this.draw();
      },
    );
    fill(this, h("header", null, this.tabs.bar, h("span.grow"), this.tools), this.tabs.panel);
    this.tabs.choose(this.tab);
    this.follow(["orders", "positions", "fills", "activity", "withdrawals", "session", "account_error", "markets", "titles"], () =>
      this.draw(),
    );
  }

  draw() {
    const panel = this.tabs?.panel;
    if (!panel) return;
    for (const key of /** @type {const} */ (["open_orders", "positions"])) {
      const rows = get(TABLES[key].store);
      this.tabs?.rename(key, rows ? `${t(key)} (${rows.length})` : t(key));
    }
    const { store, none, columns } = TABLES[this.tab];
    const rows = get(store);
    this.buttons(rows?.length ?? 0);
    if (!get("session")) {
      fill(panel, empty(t("connect_first"), h("button.primary", { type: "button", onclick: () => walletDialog() }, t("connect"))));
    } else if (!rows) {
      const error = get("account_error");
      if (error) failed(panel, error, refresh);
      else fill(panel, skeleton(3));
    } else if (rows.length === 0) fill(panel, empty(t(none)));
    else {
      const focused = document.activeElement?.getAttribute("data-key");
      const isCut = isLong(store) && get("cut")?.[store];
      const more = isCut && h("p.dim.cut", null, t("cut_rows", { n: rows.length }));
      fill(panel, h("div.scroll", null, table(columns, newestFirst(rows), t(this.tab))), more);
      if (focused) /** @type {HTMLElement | null} */ (panel.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
    }
  }

  /** @param {number} count rows of the tab */
  buttons(count) {
    const orders = get("session") ? (get("orders") ?? []) : [];
    const here = this.only !== undefined && orders.some((order) => order.market === this.only);
    const wanted = [orders.length > 0, here, count > 0, this.tab].join();
    if (this.tools.dataset.shown === wanted) return;
    this.tools.dataset.shown = wanted;
    const cancel = (/** @type {string | undefined} */ market) => () => cancelAll(market).catch(tell);
    fill(
      this.tools,
      here && h("button", { type: "button", onclick: cancel(this.only) }, t("cancel_market")),
      orders.length > 0 && h("button", { type: "button", onclick: cancel(undefined) }, t("cancel_everywhere")),
      count > 0 && csvButton(() => this.save()),
    );
  }

  /** Saves all rows of the tab, also those that are not shown. */
  async save() {
    const { tab } = this;
    const { store, columns } = TABLES[tab];
    const rows = isLong(store) ? await allOf(store) : (get(store) ?? []);
    saveCsv(`${tab}-${new Date().toISOString().slice(0, 10)}.csv`, columns, newestFirst(rows));
  }
}

/**
 * @param {Store} store
 * @returns {store is import("../lib/account.js").LongList} of which only the newest rows are shown
 */
const isLong = (store) => store !== "orders" && store !== "positions";

/**
 * A button that is off while it reads what it saves.
 * @param {() => Promise<void>} save
 */
export function csvButton(save) {
  const button = /** @type {HTMLButtonElement} */ (h("button.csv", { type: "button", onclick: run }, icon("download"), t("export_csv")));
  async function run() {
    button.disabled = true;
    await save().catch(tell);
    button.disabled = false;
  }
  return button;
}

/**
 * Orders come oldest first; the other lists come as they are shown.
 * @param {any[]} rows
 */
const newestFirst = (rows) => [...rows].sort((a, b) => (b.created ?? 0) - (a.created ?? 0));

/**
 * A column of figures that are in line.
 * @template T
 * @param {string} label
 * @param {(row: T) => bigint} amount
 * @param {(amount: bigint) => string} show
 * @returns {import("../lib/dom.js").Column<T>}
 */
const num = (label, amount, show) => ({ label, class: "num", cell: (row) => show(amount(row)), csv: (row) => text(amount(row)) });

/**
 * @template T
 * @param {string} label
 * @param {(row: T) => string} show
 * @returns {import("../lib/dom.js").Column<T>}
 */
const words = (label, show) => ({ label, cell: show, csv: show });

/**
 * @template T
 * @param {(row: T) => number} time milliseconds
 * @param {string} [label]
 * @returns {import("../lib/dom.js").Column<T>}
 */
const timed = (time, label = t("time")) => ({
  label,
  class: "dim",
  cell: (row) => format.dateTime(time(row)),
  csv: (row) => new Date(time(row)).toISOString(),
});

/**
 * The market's title, linked, on whatever page.
 * @template T
 * @param {(row: T) => { id: string, title?: string, slug?: string }} named
 * @returns {import("../lib/dom.js").Column<T>}
 */
export function titled(named) {
  const known = (/** @type {T} */ row) => {
    const { id, title, slug } = named(row);
    return title ? { title, slug: slug || id } : { title: titleOf(id)?.question, slug: titleOf(id)?.slug ?? id };
  };
  return {
    label: t("market"),
    cell: (row) => {
      const { title, slug } = known(row);
      return h("td.title", null, title ? h("a", { href: href("market", slug) }, title) : h("span.bar", { "aria-label": t("loading") }));
    },
    csv: (row) => known(row).title ?? "",
  };
}

/**
 * @template {{ side: string, type?: string }} T
 * @returns {import("../lib/dom.js").Column<T>}
 */
const sided = () => ({
  label: t("side"),
  cell: ({ side }) => h("td", { class: side === "BUY" ? "up" : "down" }, side ? t(side === "BUY" ? "buy" : "sell") : ""),
  csv: ({ side }) => side,
});

/** @param {OwnOrder} order */
function cancelButton(order) {
  const side = t(order.side === "BUY" ? "buy" : "sell");
  const named = t("cancel_named", { side, shares: format.shares(order.size - order.matched), price: format.price(order.price) });
  const cancel = () => cancelOrder(order.id).catch(tell);
  return h(
    "button",
    { type: "button", "data-key": order.id, "aria-label": named, disabled: order.cancelling, onclick: cancel },
    t(order.cancelling ? "cancelling" : "cancel"),
  );
}

/**
 * Sells a position in the ticket of its market, or redeems it.
 * @param {Position} row
 */
function closeButton(row) {
  const named = { shares: format.shares(micros(row.size)), outcome: row.outcome };
  const sell = () => {
    set("draft", { market: row.conditionId, outcome: row.outcomeIndex, side: "SELL", shares: micros(row.size) });
    go(href("market", row.slug || row.conditionId));
  };
  const redeem = () =>
    changeShares("redeem", row.conditionId, 0n).then(
      (answer) => set("notice", t("done_redeem", { amount: format.money(micros(answer.collateral)) })),
      tell,
    );
  return row.redeemable
    ? h("button", { type: "button", "aria-label": t("redeem_named", named), onclick: redeem }, t("redeem"))
    : h("button", { type: "button", "aria-label": t("sell_named", named), onclick: sell }, t("sell"));
}

/** @param {bigint} amount */
const shares = (amount) => format.shares(amount, 2);
/** @param {bigint} amount */
const money = (amount) => format.money(amount);
/** To a tenth of a cent. @param {bigint} price */
const shortPrice = (price) => format.priceInColumn((price / 1000n) * 1000n);

/** @type {import("../lib/dom.js").Column<OwnOrder>[]} */
const ORDERS = [
  titled((order) => ({ id: order.market })),
  words(t("outcome"), (order) => order.outcome),
  sided(),
  num(t("price"), (order) => order.price, format.priceInColumn),
  num(t("shares"), (order) => order.size, shares),
  num(t("filled"), (order) => order.matched, shares),
  words(t("type"), (order) => (order.delayed ? `${order.type}, ${t("delayed")}` : order.type)),
  timed((order) => order.created, t("created")),
  { label: "", class: "act", cell: cancelButton },
];

/** @type {import("../lib/dom.js").Column<Position>[]} */
const POSITIONS = [
  titled((row) => ({ ...row, id: row.conditionId })),
  words(t("outcome"), (row) => row.outcome),
  num(t("shares"), (row) => micros(row.size), shares),
  num(t("average_short"), (row) => micros(row.avgPrice), shortPrice),
  num(t("now"), (row) => micros(row.curPrice), shortPrice),
  num(t("value"), (row) => micros(row.currentValue), money),
  {
    label: t("profit"),
    class: "num",
    cell: (row) =>
      h(
        "td",
        { class: `num ${format.tone(micros(row.cashPnl))}` },
        format.profit(micros(row.cashPnl)),
        h("small", null, ` ${format.signedPercent(Number(row.percentPnl))}`),
      ),
    csv: (row) => row.cashPnl,
  },
  { label: "", class: "act", cell: closeButton },
];

/** @type {import("../lib/dom.js").Column<Fill>[]} */
const FILLS = [
  timed((fill) => fill.time),
  titled((fill) => ({ id: fill.market })),
  words(t("outcome"), (fill) => fill.outcome),
  sided(),
  num(t("price"), (fill) => fill.price, format.priceInColumn),
  num(t("shares"), (fill) => fill.size, shares),
  num(t("fee"), (fill) => fill.fee, format.fee),
  words(t("role"), (fill) => t(fill.maker ? "maker" : "taker")),
  {
    label: t("proof"),
    cell: (fill) => receiptLink(fill.receipt, fill.id),
    csv: (fill) => fill.receipt,
  },
];

/** @param {Activity} row */
function kindOf({ type, side }) {
  if (type === "TRADE") return t(side === "BUY" ? "buy" : "sell");
  const known = /** @type {Record<string, string>} */ ({ SPLIT: t("split"), MERGE: t("merge"), REDEEM: t("redeem") });
  return known[type] ?? type.toLowerCase().replace("_", " ");
}

/** @type {import("../lib/dom.js").Column<Activity>[]} */
const ACTIVITY = [
  timed((row) => row.timestamp * 1000),
  { label: t("type"), cell: (row) => h("td", { class: row.side ? (row.side === "BUY" ? "up" : "down") : "" }, kindOf(row)), csv: kindOf },
  titled((row) => ({ ...row, id: row.conditionId })),
  words(t("outcome"), (row) => row.outcome),
  num(t("shares"), (row) => micros(row.size), shares),
  num(
    t("price"),
    (row) => micros(row.price),
    (price) => (price ? shortPrice(price) : format.NONE),
  ),
  num(t("value"), (row) => micros(row.usdcSize), money),
  num(t("fee"), (row) => micros(row.feeUsdc), format.fee),
];

/** @param {Withdrawal} row */
function withdrawalButton({ withdrawal, amount, status }) {
  const named = t("cancel_withdrawal", { amount: format.money(micros(amount)) });
  const cancel = () => cancelWithdrawal(withdrawal).catch(tell);
  return status === "requested" && h("button", { type: "button", "aria-label": named, onclick: cancel }, t("cancel"));
}

/** @type {import("../lib/dom.js").Column<Withdrawal>[]} */
const WITHDRAWALS = [
  timed((row) => Date.parse(row.requested_at)),
  num(t("amount"), (row) => micros(row.amount), money),
  words(t("destination"), (row) => row.destination),
  words(t("state"), (row) => t(`withdrawal_${row.status}`)),
  words(t("payment"), (row) => row.payment),
  { label: "", class: "act", cell: withdrawalButton },
];

/** @typedef {"orders" | "positions" | import("../lib/account.js").LongList} Store */

/** @type {Record<Tab, { store: Store, none: import("../lib/messages.js").Key, columns: import("../lib/dom.js").Column<any>[] }>} */
const TABLES = {
  open_orders: { store: "orders", none: "no_orders", columns: ORDERS },
  positions: { store: "positions", none: "no_positions", columns: POSITIONS },
  fills: { store: "fills", none: "no_fills", columns: FILLS },
  activity: { store: "activity", none: "no_activity", columns: ACTIVITY },
  withdrawals: { store: "withdrawals", none: "no_withdrawals", columns: WITHDRAWALS },
};

/**
 * Sum of what the positions are worth and of their profit.
 * @param {Position[]} positions
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
