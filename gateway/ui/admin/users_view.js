/** Accounts by wallet, and one of them with its balances, orders, positions and fills. */

import { h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { LAST_PAGE, readOn } from "../lib/pages.js";
import { read, readBack } from "./api.js";
import { cards, marketLink, money, price, records, shares, walletLink } from "./parts.js";
import { PAGE, searchList, wantedNow } from "./search_list.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./types.js").Account} Account */

const wanted = wantedNow();
/** Rows of a page of positions, and markets named in one request. */
const POSITIONS = 500;
const NAMED = 100;

/** @param {Desk} desk */
export const usersView = (desk) => searchList(wanted, "Find a wallet", (before) => page(desk, before));

/** @param {Desk} desk @param {number} [before] */
async function page(desk, before) {
  const accounts = await readBack("/accounts", "accounts", { wallet: wanted.search, limit: PAGE }, before);
  const rows = accounts.rows.map((/** @type {Account} */ account) => ({
    cells: [
      walletLink(account.wallet),
      money(account.free),
      money(account.reserved),
      format.count(account.live_orders),
      account.closed_only ? "may only reduce" : "trades",
    ],
  }));
  const columns = [{ label: "Wallet" }, num("Free"), num("Reserved"), num("Resting orders"), { label: "State" }];
  const none = wanted.search ? "No account begins so. A deposit to a wallet opens its account." : "There is no account yet.";
  const of = { title: "Users", columns, none, key: "users", tools: moves(desk, "users") };
  return { next: accounts.next, shown: rows.length, content: records(desk, of, rows) };
}

/**
 * Buttons that move money of a wallet, which is asked for where none is given.
 * @param {Desk} desk
 * @param {string} key
 * @param {string} [wallet]
 */
export function moves(desk, key, wallet) {
  const fixed = { wallet, reference: crypto.randomUUID() };
  const fields = [
    ...(wallet ? [] : [{ name: "wallet", label: "Wallet, 0x…", required: true }]),
    { name: "amount", label: "Amount", kind: /** @type {const} */ ("amount"), unit: format.symbol(), required: true },
  ];
  const whom = wallet ? format.address(wallet) : "a wallet";
  return [
    desk.button(key, {
      name: "Deposit",
      path: "/accounts/deposit",
      says: `to ${whom}: it can trade with it at once`,
      fixed,
      fields,
      done: "The deposit is booked.",
    }),
    desk.button(key, {
      name: "Withdraw",
      path: "/accounts/withdraw",
      says: `from ${whom}: it leaves the exchange; above the limit a second person pays it`,
      fixed,
      fields,
      done: "The withdrawal is booked.",
    }),
  ];
}

/**
 * @param {Desk} desk
 * @param {string} wallet
 */
export async function userView(desk, wallet) {
  const [account, orders, positions, fills] = await Promise.all([
    /** @type {Promise<Account>} */ (read(`/accounts/${wallet}`)),
    ordersOf(wallet),
    positionsOf(wallet),
    /** @type {Promise<import("./types.js").Fill[]>} */ (read("/trades", { user: wallet, limit: PAGE, takerOnly: "false" })),
  ]);
  const titles = await titlesOf(orders.map((order) => order.market));
  return h(
    "div.stack",
    null,
    h("p", null, h("a", { href: "#users" }, "← Users")),
    h("div.market-title", null, h("h1.mono", null, account.wallet)),
    desk.result("user"),
    h("div.buttons.start", null, moves(desk, "user", account.wallet), restrict(desk, account)),
    cards([
      ["Free", money(account.free)],
      ["Reserved", money(account.reserved)],
      ["Rebates to be paid", money(account.accrued)],
      [
        "State",
        account.closed_only ? "may only reduce" : "trades",
        account.owner === account.wallet ? "its own owner" : `owner ${format.address(account.owner)}`,
      ],
    ]),
    positionRecords(desk, positions),
    orderRecords(desk, orders, titles),
    fillRecords(desk, fills),
  );
}

/** @param {Desk} desk @param {Account} account */
const restrict = (desk, { wallet, closed_only: restricted }) =>
  desk.button("user", {
    name: restricted ? "Let it trade" : "Restrict",
    path: "/accounts/closed-only",
    says: `${restricted ? "again: " : ""}${format.address(wallet)}: ${restricted ? "new positions are allowed" : "it may only reduce its positions; resting orders that open new ones end"}`,
    fixed: { wallet, closed_only: !restricted },
    done: restricted ? "It trades again." : "It may only reduce.",
  });

/** @param {string} wallet @returns {Promise<import("./types.js").Order[]>} */
async function ordersOf(wallet) {
  const { rows } = await readOn(async (/** @type {string | undefined} */ next_cursor) => {
    const page = await /** @type {Promise<any>} */ (read(`/accounts/${wallet}/orders`, { next_cursor }));
    return { rows: page.data, next: page.next_cursor === LAST_PAGE ? undefined : page.next_cursor };
  });
  return rows;
}

/** @param {string} wallet @returns {Promise<import("./types.js").Position[]>} */
async function positionsOf(wallet) {
  const { rows } = await readOn(async (offset = 0) => {
    const page = await /** @type {Promise<any[]>} */ (read("/positions", { user: wallet, limit: POSITIONS, offset }));
    return { rows: page, next: page.length < POSITIONS ? undefined : offset + POSITIONS };
  });
  return rows;
}

/** The questions of markets by condition. @param {string[]} conditions */
async function titlesOf(conditions) {
  const named = [...new Set(conditions)];
  /** @type {Map<string, string>} */
  const titles = new Map();
  for (let i = 0; i < named.length; i += NAMED) {
    const { markets } = await /** @type {Promise<{ markets: import("./types.js").Market[] }>} */ (
      read("/markets", { condition_id: named.slice(i, i + NAMED).join(",") })
    );
    for (const market of markets) titles.set(market.conditionId, market.question);
  }
  return titles;
}

const MARKET = [{ label: "Market" }, { label: "Outcome" }];
const num = (/** @type {string} */ label) => ({ label, class: "num" });
const side = (/** @type {string} */ word) => h("span", { class: word === "BUY" ? "up" : "down" }, word === "BUY" ? "Buy" : "Sell");

/** @param {Desk} desk @param {import("./types.js").Position[]} positions */
function positionRecords(desk, positions) {
  const rows = positions.map((row) => ({
    cells: [
      marketLink(row.conditionId, row.title),
      row.outcome,
      shares(row.size),
      price(row.avgPrice.toFixed(3)),
      money(row.currentValue),
      h("span", { class: row.cashPnl < 0 ? "down" : "up" }, money(row.cashPnl)),
    ],
  }));
  const columns = [...MARKET, num("Shares"), num("Average"), num("Value"), num("Profit")];
  return records(desk, { title: `Positions (${rows.length})`, columns, none: "It holds no shares." }, rows);
}

/** @param {Desk} desk @param {import("./types.js").Order[]} orders @param {Map<string, string>} titles */
function orderRecords(desk, orders, titles) {
  const rows = orders.map((order) => ({
    cells: [
      marketLink(order.market, titles.get(order.market) ?? ""),
      order.outcome,
      side(order.side),
      price(order.price),
      shares(order.original_size),
      shares(order.size_matched),
      format.when(order.created_at * 1000),
    ],
  }));
  const columns = [...MARKET, { label: "Side" }, num("Price"), num("Shares"), num("Filled"), { label: "Since" }];
  return records(desk, { title: `Resting orders (${rows.length})`, columns, none: "It has no resting order." }, rows);
}

/** @param {Desk} desk @param {import("./types.js").Fill[]} fills */
function fillRecords(desk, fills) {
  const rows = fills.map((fill) => ({
    cells: [
      marketLink(fill.conditionId, fill.title),
      fill.outcome,
      side(fill.side),
      price(fill.price.toFixed(4)),
      shares(fill.size),
      money(fill.feeUsdc ?? 0),
      format.when(fill.timestamp * 1000),
    ],
  }));
  const columns = [...MARKET, { label: "Side" }, num("Price"), num("Shares"), num("Fee"), { label: "When" }];
  return records(
    desk,
    { title: rows.length === PAGE ? `Latest ${PAGE} fills` : `Fills (${rows.length})`, columns, none: "It has not traded yet." },
    rows,
  );
}
