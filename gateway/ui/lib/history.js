/** What an account was worth over time, and its profit by market: from its activity and the prices of its tokens. */

import { micros } from "./decimal.js";
import { byCursor, byOffset, readOn } from "./pages.js";
import { send } from "./rest.js";

/**
 * @typedef {import("./account.js").Activity} Activity
 * @typedef {import("./account.js").Position} Position
 * @typedef {{ t: number, p: number }} Point milliseconds, and a figure
 * @typedef {{ title: string, slug: string, id: string, realized: bigint, unrealized: bigint, fees: bigint }} MarketProfit
 */

const DATA = "/ui/api/data";
const ACTIVITY_PAGE = 500;
const CLOSED_PAGE = 50;
/** Pages that a view reads: the newest rows of long lists. Files have all. */
const VIEW_PAGES = 20;
/** Tokens in one request for histories. */
const TOKENS = 20;
const POINTS = 120;
const DAY_S = 86_400;

/**
 * @template R
 * @typedef {{ rows: R[], complete: boolean }} Read `complete`: none is left
 */

/**
 * @template R, N
 * @param {(from: N | undefined) => Promise<import("./pages.js").Page<R, N>>} page
 * @param {number} most pages
 * @returns {Promise<Read<R>>}
 */
async function upTo(page, most) {
  const { rows, next } = await readOn(page, { enough: (_, pages) => pages >= most });
  return { rows, complete: next === undefined };
}

/**
 * @typedef {object} Scope
 * @property {AbortSignal} signal
 * @property {string} [market] condition id; every market when absent
 * @property {number} [pages] most of them
 */

/** @param {string | undefined} market */
const only = (market) => (market ? `&market=${market}` : "");

/**
 * @param {string} user
 * @param {number} since unix seconds
 * @param {Scope} scope
 * @returns {Promise<Read<Activity>>} newest first
 */
export const activitySince = (user, since, { signal, market, pages = VIEW_PAGES }) =>
  upTo(byCursor(`${DATA}/activity?user=${user}${only(market)}&start=${since}&limit=${ACTIVITY_PAGE}`, signal), pages);

/**
 * @param {string} user
 * @param {Scope} scope
 * @returns {Promise<Read<Position>>}
 */
export const closedPositions = (user, { signal, market, pages = VIEW_PAGES }) =>
  upTo(byOffset(`${DATA}/closed-positions?user=${user}${only(market)}`, CLOSED_PAGE, signal), pages);

/**
 * What a row did to the cash of the account, and to its shares of a token.
 * @param {Activity} row
 * @returns {{ cash: number, shares: [string, number][] }}
 */
function effect(row) {
  const token = `${row.conditionId}:${row.outcomeIndex}`;
  const both = (/** @type {number} */ sign) =>
    [0, 1].map((index) => /** @type {[string, number]} */ ([`${row.conditionId}:${index}`, sign * row.size]));
  if (row.type === "TRADE" && row.side === "BUY") return { cash: -row.usdcSize - row.feeUsdc, shares: [[token, row.size]] };
  if (row.type === "TRADE") return { cash: row.usdcSize - row.feeUsdc, shares: [[token, -row.size]] };
  if (row.type === "SPLIT") return { cash: -row.usdcSize, shares: both(1) };
  if (row.type === "MERGE") return { cash: row.usdcSize, shares: both(-1) };
  if (row.type === "REDEEM") return { cash: row.usdcSize, shares: [[token, -row.size]] };
  return { cash: row.usdcSize, shares: [] };
}

/**
 * The value of an account, backwards from the present.
 * @param {{ cash: number, positions: Position[], rows: Activity[], since: number, prices: Map<string, Point[]> }} known `rows` newest first
 * @returns {Point[]}
 */
export function valueOverTime({ cash, positions, rows, since, prices }) {
  const shares = new Map(positions.map((row) => [`${row.conditionId}:${row.outcomeIndex}`, row.size]));
  const now = Date.now();
  const current = new Map(positions.map((row) => [`${row.conditionId}:${row.outcomeIndex}`, row.curPrice]));
  const worth = (/** @type {number} */ at) => {
    let sum = cash;
    for (const [token, size] of shares) {
      const known = prices.get(token)?.findLast((point) => point.t <= at) ?? prices.get(token)?.[0];
      sum += size * ((at === now ? current.get(token) : known?.p) ?? current.get(token) ?? 0);
    }
    return sum;
  };
  /** @type {Point[]} */
  const points = [];
  let next = 0;
  for (let i = POINTS; i >= 0; i -= 1) {
    const at = since + ((now - since) * i) / POINTS;
    for (; next < rows.length && rows[next].timestamp * 1000 > at; next += 1) {
      const { cash: flow, shares: moved } = effect(rows[next]);
      cash -= flow;
      for (const [token, size] of moved) shares.set(token, (shares.get(token) ?? 0) - size);
    }
    points.unshift({ t: at, p: worth(at) });
  }
  return points;
}

/**
 * Points of the exchange, whose times are seconds.
 * @param {Point[]} points
 */
export const pointsOf = (points) => points.map(({ t, p }) => ({ t: t * 1000, p }));

/**
 * @param {string[]} tokens
 * @param {string} interval
 * @param {AbortSignal} signal
 * @returns {Promise<Map<string, Point[]>>}
 */
export async function histories(tokens, interval, signal) {
  /** @type {Map<string, Point[]>} */
  const found = new Map();
  for (let i = 0; i < tokens.length; i += TOKENS) {
    const body = JSON.stringify({ markets: tokens.slice(i, i + TOKENS), interval });
    const { data } = await send("POST", "/batch-prices-history", { body, signal });
    for (const [token, points] of Object.entries(data.history)) {
      found.set(token, pointsOf(points));
    }
  }
  return found;
}

/**
 * @param {string} user
 * @param {{ cash: number, positions: Position[], days: number, interval: string }} account
 * @param {AbortSignal} signal
 * @returns {Promise<Point[]>}
 */
export async function accountValue(user, { cash, positions, days, interval }, signal) {
  const start = days ? Math.floor(Date.now() / 1000) - days * DAY_S : 0;
  const { rows, complete } = await activitySince(user, start, { signal });
  // Before the oldest row that was read nothing is known.
  const oldest = rows.at(-1)?.timestamp ?? start;
  const since = (days && complete ? start : oldest - 1) * 1000;
  const tokens = new Set(positions.map((row) => `${row.conditionId}:${row.outcomeIndex}`));
  for (const row of rows) for (const [token] of effect(row).shares) tokens.add(token);
  const prices = await histories([...tokens], interval, signal);
  return valueOverTime({ cash, positions, rows, since, prices });
}

/**
 * Profit of an account by market.
 * @param {string} user
 * @param {Position[]} positions open ones
 * @param {Scope} scope
 * @returns {Promise<Read<MarketProfit>>}
 */
export async function profitByMarket(user, positions, scope) {
  const [closed, activity] = await Promise.all([closedPositions(user, scope), activitySince(user, 0, scope)]);
  return { rows: profits([...positions, ...closed.rows], activity.rows), complete: closed.complete && activity.complete };
}

/**
 * Realized and unrealized profit, which both are less fees, and the fees, by market, the largest first.
 * @param {Position[]} positions open and closed ones
 * @param {Activity[]} rows
 * @returns {MarketProfit[]}
 */
export function profits(positions, rows) {
  /** @type {Map<string, MarketProfit>} */
  const found = new Map();
  for (const row of positions) {
    const known = found.get(row.conditionId) ?? {
      title: row.title,
      slug: row.slug,
      id: row.conditionId,
      realized: 0n,
      unrealized: 0n,
      fees: 0n,
    };
    known.realized += micros(row.realizedPnl);
    if (row.size > 0) known.unrealized += micros(row.cashPnl);
    found.set(row.conditionId, known);
  }
  for (const row of rows) {
    const known = found.get(row.conditionId);
    if (known) known.fees += micros(row.feeUsdc);
  }
  const size = (/** @type {MarketProfit} */ row) => Number(row.realized + row.unrealized);
  return [...found.values()].sort((a, b) => size(b) - size(a));
}
