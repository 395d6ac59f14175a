/** The visitor's own records: orders, positions, fills, activity, cash. Live by the user stream. */

import { micros } from "./decimal.js";
import { get, set, watch } from "./store.js";
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
 */

/** @type {Socket | null} */
let socket = null;
/** @type {Map<string, OwnOrder>} */
let orders = new Map();
let refreshing = 0;
const REFRESH_AFTER_MS = 150;
const POLL_MS = 2000;

export function start() {
  watch("session", (current) => {
    socket?.stop();
    socket = null;
    orders = new Map();
    for (const key of ["orders", "positions", "fills", "activity", "cash"]) set(key, null);
    if (!current) return;
    socket = new Socket("/ws/user", { subscriptions, message, state: (state) => set("user_stream", state), snapshot: refresh });
    refresh();
  });
  setInterval(() => {
    if (session() && !document.hidden && get("user_stream") !== "live") refresh();
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
    const live = message.status === "LIVE" || message.status === "DELAYED";
    const order = ownOrder(message);
    if (live && order.matched < order.size) orders.set(order.id, order);
    else orders.delete(order.id);
    set("orders", [...orders.values()]);
    refreshSoon();
  }
  if (message.event_type === "trade") {
    if (message.status === "MATCHED") announce(message);
    refreshSoon();
  }
}

/** @param {any} trade */
function announce(trade) {
  const address = session()?.address.toLowerCase();
  const maker = trade.trader_side === "MAKER";
  const mine = maker ? trade.maker_orders.find((/** @type {any} */ order) => order.maker_address?.toLowerCase() === address) : trade;
  if (!mine) return;
  const size = micros(maker ? mine.matched_amount : mine.size);
  const values = {
    side: t((mine.side ?? trade.side) === "BUY" ? "buy" : "sell"),
    shares: format.shares(size),
    outcome: mine.outcome ?? "",
    price: format.price(micros(mine.price)),
  };
  set("notice", t("filled_toast", values));
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
  };
}

/** After a burst of messages the records are read once. */
export function refreshSoon() {
  if (refreshing) return;
  refreshing = window.setTimeout(() => {
    refreshing = 0;
    refresh();
  }, REFRESH_AFTER_MS);
}

export async function refresh() {
  const current = session();
  if (!current) return;
  const user = current.address;
  const jobs = [
    readOrders(),
    readOwn("/balance-allowance?asset_type=COLLATERAL&signature_type=0").then(({ data }) => put(current, "cash", cash(data))),
    load(`/ui/api/data/positions?user=${user}&sizeThreshold=0&limit=500`).then((rows) => put(current, "positions", rows)),
    load(`/ui/api/data/activity?user=${user}&limit=100`).then((rows) => put(current, "activity", rows)),
    readOwn("/data/trades").then(({ data }) => put(current, "fills", data.data ?? [])),
  ];
  const failed = (await Promise.allSettled(jobs)).find((job) => job.status === "rejected");
  set("account_error", failed ? /** @type {PromiseRejectedResult} */ (failed).reason : null);
}

/**
 * @param {object} owner the session that asked; its answer is nothing to another one
 * @param {string} key
 * @param {any} value
 */
function put(owner, key, value) {
  if (session() === owner) set(key, value);
}

/** @param {any} answer */
const cash = (answer) => ({ total: BigInt(answer.balance), free: BigInt(answer.available ?? answer.balance) });

async function readOrders() {
  const current = session();
  const { data } = await readOwn("/data/orders");
  if (session() !== current) return;
  orders = new Map((data.data ?? data).map((/** @type {any} */ order) => [order.id, ownOrder(order)]));
  set("orders", [...orders.values()]);
}

/** @param {string} id */
export async function cancelOrder(id) {
  const { data } = await act("DELETE", "/order", { orderId: id });
  reportCancels(data);
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
  const [problem] = Object.values(answer.not_canceled ?? {});
  const cancelled = answer.canceled.length;
  set("notice", problem ?? (cancelled === 1 ? t("cancelled_1") : t("cancelled_n", { n: cancelled })));
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
  const held = (get("positions") ?? []).find((/** @type {any} */ row) => row.conditionId === market && row.outcomeIndex === outcome);
  const own = /** @type {OwnOrder[]} */ (get("orders") ?? []);
  const reserved = own
    .filter((order) => order.token === token && order.side === "SELL")
    .reduce((sum, order) => sum + order.size - order.matched, 0n);
  return micros(held?.size ?? 0) - reserved;
}
