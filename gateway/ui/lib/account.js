/** The visitor's own records: orders, positions, fills, activity, cash. Live by the user stream. */

import { micros } from "./decimal.js";
import { get, set, watch } from "./store.js";
import { LAST_PAGE, byCursor, byOffset, readOn } from "./pages.js";
import { act, readOwn, session } from "./session.js";
import { load } from "./rest.js";
import { Socket } from "./socket.js";
import { t } from "./messages.js";
import * as format from "./format.js";

/**
 * @typedef {object} OwnOrder
 * @property {string} id
 * @property {string} market condition id
 * @property {string} token
 * @property {string} outcome
 * @property {"BUY" | "SELL"} side
 * @property {bigint} price
 * @property {bigint} size
 * @property {bigint} matched
 * @property {string} type
 * @property {number} created milliseconds
 * @property {boolean} delayed it waits out the delay of its market
 * @property {boolean} cancelling a cancel is under way
 *
 * @typedef {{
 *   conditionId: string, title: string, slug: string, outcome: string, outcomeIndex: number, size: number, avgPrice: number,
 *   curPrice: number, currentValue: number, cashPnl: number, percentPnl: number, realizedPnl: number, entryFeesUsdc: number,
 *   redeemable: boolean
 * }} Position a row of `/positions` or `/closed-positions`; figures are numbers of whole units
 *
 * @typedef {{
 *   id: string, receipt: string, time: number, market: string, outcome: string, side: "BUY" | "SELL", price: bigint, size: bigint,
 *   fee: bigint, maker: boolean
 * }} Fill the account's side of a trade, `id` its id, `time` in milliseconds
 *
 * @typedef {{
 *   type: string, side: "BUY" | "SELL" | "", conditionId: string, title: string, slug: string, outcome: string, outcomeIndex: number,
 *   size: number, price: number, usdcSize: number, feeUsdc: number, timestamp: number, transactionHash: string
 * }} Activity a row of `/activity`, `timestamp` in seconds
 */

/** @type {Socket | null} */
let socket = null;
/** @type {Map<string, OwnOrder>} */
let orders = new Map();
/** Sequence of the newest order message: a read of an older state would undo it. */
let ordersSequence = 0;
/** Ends the reads of a session that is over. */
let reads = new AbortController();
/** "waiting" for the end of a burst, "running", or "again": records changed while they were read. */
let refreshing = "";
const POSITIONS_PAGE = 500;
const ACTIVITY_PAGE = 100;
/** Pages of fills that an order makes at most: a thousand trades. */
const FEE_PAGES = 12;
const REFRESH_AFTER_MS = 150;
const POLL_MS = 2000;
/** Prices of positions move without a message of the account. */
const PRICES_MS = 20_000;
/** Lists that a view has shown: the others are not read. @type {Set<LongList | "rebates">} */
const lists = new Set();
/** When the records were read last. */
let refreshed = 0;
/** The longest delay of a market. */
const MAX_DELAY_MS = 60_000;

/** Follows the session: its stream opens, its records are read. */
export function start() {
  watch("session", (current) => {
    socket?.stop();
    socket = null;
    orders = new Map();
    ordersSequence = 0;
    reads.abort();
    reads = new AbortController();
    refreshing = "";
    for (const key of /** @type {const} */ ([
      "orders",
      "positions",
      "fills",
      "activity",
      "withdrawals",
      "cash",
      "rebates",
      "cut",
      "account_error",
    ]))
      set(key, null);
    if (!current) return;
    socket = new Socket("/ws/user", { subscriptions, message, state: (state) => set("user_stream", state), snapshot: refreshSoon });
    refresh();
  });
  setInterval(() => {
    const most = get("user_stream") === "live" ? PRICES_MS : POLL_MS;
    if (session() && !document.hidden && Date.now() - refreshed > most) refreshSoon();
  }, POLL_MS);
}

/**
 * @param {any} terms
 * @returns {object[]}
 */
function subscriptions(terms) {
  const key = session()?.key;
  if (!key) return [];
  return [{ type: "user", auth: { apiKey: key.apiKey, secret: key.secret, passphrase: key.passphrase }, markets: [], ...terms }];
}

/** @param {any} message */
function message(message) {
  if (message.event_type === "order") {
    const live = message.state === "LIVE" || message.state === "DELAYED";
    const order = ownOrder(message);
    ordersSequence = Math.max(ordersSequence, Number(message.sequence ?? 0));
    if (live && order.matched < order.size) orders.set(order.id, order);
    else orders.delete(order.id);
    set("orders", [...orders.values()]);
    refreshSoon();
  }
  if (message.event_type === "trade") {
    if (message.status === "MATCHED") announce(message);
    refreshSoon();
  }
  if (message.event_type === "withdrawal") {
    const told = message.status === "paid" ? "told_paid" : message.status === "failed" ? "told_failed" : null;
    if (told) set("notice", t(told, { amount: format.money(micros(message.amount)) }));
    refreshSoon();
  }
}

/**
 * Says that resting orders were filled; of an order that takes, the ticket says it.
 * @param {any} trade
 */
function announce(trade) {
  const address = session()?.address.toLowerCase();
  if (trade.trader_side !== "MAKER") return;
  const orders = trade.maker_orders ?? [];
  const mine = orders.filter((/** @type {any} */ order) => order.maker_address?.toLowerCase() === address);
  const texts = mine.map((/** @type {any} */ order) =>
    t("filled_toast", {
      side: t((order.side ?? trade.side) === "BUY" ? "buy" : "sell"),
      shares: format.shares(micros(order.matched_amount)),
      outcome: order.outcome ?? "",
      price: format.price(micros(order.price)),
    }),
  );
  if (texts.length) set("notice", texts.join(" "));
}

/**
 * @param {any} order of `/data/orders` or the stream
 * @returns {OwnOrder}
 */
function ownOrder(order) {
  const created = Number(order.created_at ?? order.createdAt ?? 0);
  return {
    id: order.id,
    market: order.market,
    token: String(order.asset_id ?? order.assetId),
    outcome: order.outcome,
    side: order.side,
    price: micros(order.price),
    size: micros(order.original_size ?? order.originalSize),
    matched: micros(order.size_matched ?? order.sizeMatched),
    type: order.order_type ?? order.orderType ?? "",
    created: Number.isNaN(created) ? Date.parse(order.created_at) : created < 1e12 ? created * 1000 : created,
    delayed: (order.state ?? order.status) === "DELAYED",
    cancelling: orders.get(order.id)?.cancelling ?? false,
  };
}

/** After a burst of messages the records are read once. */
export function refreshSoon() {
  if (refreshing === "running") refreshing = "again";
  if (refreshing) return;
  refreshing = "waiting";
  const { signal } = reads;
  setTimeout(() => !signal.aborted && refresh(), REFRESH_AFTER_MS);
}

/**
 * Pages of own records.
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {(cursor: string | undefined) => Promise<import("./pages.js").Page<any, string> & { sequence: number }>}
 */
const ownPages = (path, signal) => async (cursor) => {
  const { data, sequence } = await readOwn(cursor ? `${path}${path.includes("?") ? "&" : "?"}next_cursor=${cursor}` : path, signal);
  return { rows: data.data, next: data.next_cursor === LAST_PAGE ? undefined : data.next_cursor, sequence };
};

/** Pages of each list that is shown from its newest rows on. */
const PAGES = {
  /** @param {AbortSignal} signal */
  fills: (signal) => {
    const page = ownPages("/data/trades", signal);
    return async (/** @type {string | undefined} */ cursor) => {
      const { rows, next } = await page(cursor);
      return { rows: /** @type {Fill[]} */ (rows.flatMap(fillsOf)), next };
    };
  },
  /** @param {AbortSignal} signal */
  withdrawals: (signal) => ownPages(`/withdrawals?wallet=${session()?.address}`, signal),
  /** @param {AbortSignal} signal */
  activity: (signal) => byCursor(`/ui/api/data/activity?user=${session()?.address}&limit=${ACTIVITY_PAGE}`, signal),
};

/** @typedef {keyof typeof PAGES} LongList */

/**
 * All rows of a list, not only those that are shown.
 * @param {LongList} list
 * @returns {Promise<any[]>}
 */
export const allOf = async (list) => (await readOn(PAGES[list](reads.signal))).rows;

/**
 * Shows the newest rows of a list.
 * @param {LongList} list
 * @param {AbortSignal} signal
 */
async function showNewest(list, signal) {
  const { rows, next } = await PAGES[list](signal)(undefined);
  set("cut", { ...get("cut"), [list]: next !== undefined });
  set(list, /** @type {any} */ (rows));
}

/**
 * Reads a list from now on.
 * @param {LongList | "rebates"} list
 */
export function readList(list) {
  if (lists.has(list)) return;
  lists.add(list);
  refreshSoon();
}

/** Reads the records of the session. */
export async function refresh() {
  const current = session();
  if (!current) return;
  const { signal } = reads;
  const user = current.address;
  refreshing = "running";
  refreshed = Date.now();
  const jobs = [
    readOrders(signal).then(takeOrders),
    readOwn("/balance-allowance?asset_type=COLLATERAL&signature_type=0", signal).then(({ data }) => set("cash", cash(data))),
    readOn(byOffset(`/ui/api/data/positions?user=${user}&sizeThreshold=0`, POSITIONS_PAGE, signal)).then(({ rows }) =>
      set("positions", rows),
    ),
    ...[...lists].map((list) => (list === "rebates" ? readRebates(user, signal) : showNewest(list, signal))),
  ];
  const failed = (await Promise.allSettled(jobs)).find((job) => job.status === "rejected");
  if (signal.aborted) return;
  set("account_error", failed ? failed.reason : null);
  const again = refreshing === "again";
  refreshing = "";
  if (again) refreshSoon();
}

/**
 * @param {any} trade of `/data/trades`
 * @returns {Fill[]} one, or one for each own order that it filled
 */
function fillsOf(trade) {
  const me = session()?.address.toLowerCase();
  const maker = trade.trader_side === "MAKER";
  const parts = maker ? trade.maker_orders.filter((/** @type {any} */ order) => order.maker_address?.toLowerCase() === me) : [trade];
  const time = Number(trade.match_time);
  return parts.map((/** @type {any} */ part) => ({
    id: trade.id,
    receipt: trade.transaction_hash,
    time: Number.isNaN(time) ? Date.parse(trade.match_time) : time * 1000,
    market: trade.market,
    outcome: part.outcome,
    side: part.side ?? trade.side,
    price: micros(part.price),
    size: micros(maker ? part.matched_amount : part.size),
    fee: maker ? 0n : micros(trade.fee_usdc),
    maker,
  }));
}

/**
 * Fees that the account paid as taker of these trades, which are its newest.
 * @param {string[]} ids
 */
export async function feesOf(ids) {
  const wanted = new Set(ids);
  const these = (/** @type {Fill[]} */ rows) => rows.filter((fill) => wanted.has(fill.id));
  const enough = (/** @type {Fill[]} */ rows, /** @type {number} */ pages) => these(rows).length >= wanted.size || pages >= FEE_PAGES;
  const { rows } = await readOn(PAGES.fills(reads.signal), { enough });
  return these(rows).reduce((sum, fill) => sum + fill.fee, 0n);
}

/**
 * What makers' rebates of today add up to.
 * @param {string} user
 * @param {AbortSignal} signal
 */
async function readRebates(user, signal) {
  const today = new Date().toISOString().slice(0, 10);
  const rows = await load(`/rebates/current?date=${today}&maker_address=${user}`, signal);
  set(
    "rebates",
    rows.reduce((/** @type {bigint} */ sum, /** @type {any} */ row) => sum + micros(row.rebated_fees_usdc), 0n),
  );
}

/** @param {any} answer */
const cash = (answer) => ({ total: BigInt(answer.balance), free: BigInt(answer.available ?? answer.balance) });

/**
 * All orders, and the oldest state that a page of them is of.
 * @param {AbortSignal} signal
 */
async function readOrders(signal) {
  let sequence = Infinity;
  const pages = ownPages("/data/orders", signal);
  const { rows } = await readOn(async (/** @type {string | undefined} */ cursor) => {
    const page = await pages(cursor);
    sequence = Math.min(sequence, page.sequence);
    return page;
  });
  return { rows, sequence };
}

/** @param {{ rows: any[], sequence: number }} read */
function takeOrders({ rows, sequence }) {
  if (sequence < ordersSequence) {
    refreshing = "again";
    return;
  }
  // The list has orders that may rest; a FOK or FAK that waits out a delay is on the stream alone.
  const waits = [...orders.values()].filter((order) => order.delayed && Date.now() - order.created < MAX_DELAY_MS);
  const listed = rows.map(ownOrder);
  orders = new Map([...waits, ...listed].map((order) => [order.id, order]));
  set("orders", [...orders.values()]);
}

/**
 * Cancels an order. Until the exchange answers it is shown as cancelling.
 * @param {string} id
 */
export async function cancelOrder(id) {
  const mark = (/** @type {boolean} */ cancelling) => {
    const order = orders.get(id);
    if (!order) return;
    orders.set(id, { ...order, cancelling });
    set("orders", [...orders.values()]);
  };
  mark(true);
  try {
    reportCancels((await act("DELETE", "/order", { orderId: id })).data);
  } finally {
    mark(false);
  }
}

/** @param {string} [market] condition id; every market when absent */
export async function cancelAll(market) {
  const { data } = market ? await act("DELETE", "/cancel-market-orders", { market }) : await act("DELETE", "/cancel-all");
  reportCancels(data);
}

/** @param {{ canceled: string[], not_canceled: Record<string, string> }} answer */
function reportCancels(answer) {
  for (const id of answer.canceled) orders.delete(id);
  set("orders", [...orders.values()]);
  const refused = Object.keys(answer.not_canceled ?? {}).length;
  const cancelled = answer.canceled.length;
  set("notice", refused ? t("not_cancelled") : cancelled === 1 ? t("cancelled_1") : t("cancelled_n", { n: cancelled }));
  refreshSoon();
}

/**
 * @param {"split" | "merge" | "redeem"} action
 * @param {string} market condition id
 * @param {bigint} amount micros, ignored by redeem
 */
export async function changeShares(action, market, amount) {
  const reference = `page ${crypto.randomUUID()}`;
  const body = { conditionId: market, reference, ...(action === "redeem" ? {} : { amount: String(amount) }) };
  const { data } = await act("POST", `/positions/${action}`, body);
  refreshSoon();
  return data;
}

/**
 * Free shares of an outcome: what is held less what own sell orders reserve.
 * @param {string} market
 * @param {number} outcome
 * @param {string} token
 */
export function freeShares(market, outcome, token) {
  const held = get("positions")?.find((row) => row.conditionId === market && row.outcomeIndex === outcome);
  const reserved = (get("orders") ?? [])
    .filter((order) => order.token === token && order.side === "SELL")
    .reduce((sum, order) => sum + order.size - order.matched, 0n);
  return micros(held?.size ?? 0) - reserved;
}
