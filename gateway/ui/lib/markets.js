/** The list of markets: catalog records joined with their live figures. */

import { ONE, float, micros, parse } from "./decimal.js";
import { get, set } from "./store.js";
import { load } from "./rest.js";
import { follow } from "./market_stream.js";

/**
 * @typedef {object} Market
 * @property {string} id condition id
 * @property {string} slug
 * @property {string} question
 * @property {string[]} outcomes
 * @property {string[]} tokens
 * @property {{ slug: string, title: string }} event
 * @property {string[]} tags labels
 * @property {string} ends ISO time, or empty
 * @property {string} starts
 * @property {string} description
 * @property {boolean} closed
 *
 * @typedef {object} Figures of the Yes token
 * @property {bigint | null} bid
 * @property {bigint | null} ask
 * @property {bigint | null} last
 * @property {bigint | null} change in 24 hours
 * @property {bigint} volume in 24 hours
 * @property {number[]} spark
 */

/** Events of the first page: enough to fill a screen at once. */
const FIRST_PAGE = 60;
const PAGE = 500;
/** The list ends here; search asks the exchange beyond it. */
const MAX_EVENTS = 2000;
const SUMMARY_BATCH = 100;
/** A best price this far from the other says little: the last trade counts (docs/api/data.md, section 2). */
const WIDE = 100_000n;

/**
 * @param {any} record of the catalog
 * @param {any} event
 * @returns {Market}
 */
export function market(record, event) {
  return {
    id: record.conditionId,
    slug: record.slug,
    question: record.question,
    outcomes: list(record.outcomes, ["Yes", "No"]),
    tokens: list(record.clobTokenIds, []),
    event: { slug: event?.slug ?? "", title: event?.title ?? "" },
    tags: (event?.tags ?? []).map((/** @type {any} */ tag) => tag.label),
    ends: record.endDate ?? event?.endDate ?? "",
    starts: record.startDate ?? "",
    description: record.description ?? "",
    closed: Boolean(record.closed),
  };
}

/**
 * @param {string} text a string that contains a JSON array
 * @param {string[]} fallback
 * @returns {string[]}
 */
function list(text, fallback) {
  try {
    return JSON.parse(text);
  } catch {
    return fallback;
  }
}

/**
 * Reads the open markets, a screenful first.
 * @param {AbortSignal} signal
 */
export async function loadMarkets(signal) {
  let offset = 0;
  /** @type {Market[]} */
  const found = [];
  for (let limit = FIRST_PAGE; offset < MAX_EVENTS; limit = PAGE) {
    const events = await load(`/ui/api/catalog/events?closed=false&limit=${limit}&offset=${offset}`, signal);
    for (const event of events) {
      for (const record of event.markets) if (!record.closed && record.clobTokenIds) found.push(market(record, event));
    }
    set("markets", [...found]);
    offset += events.length;
    if (events.length < limit) break;
  }
}

/**
 * @param {string} slug of the market, or its condition id
 * @param {AbortSignal} signal
 * @returns {Promise<Market | null>}
 */
export async function findMarket(slug, signal) {
  const known = (get("markets") ?? []).find((/** @type {Market} */ candidate) => candidate.slug === slug || candidate.id === slug);
  if (known) return known;
  const key = slug.startsWith("0x") ? "condition_ids" : "slug";
  const [record] = await load(`/ui/api/catalog/markets?${key}=${encodeURIComponent(slug)}&limit=1`, signal);
  if (!record) return null;
  return market(record, record.events?.[0]);
}

/**
 * The other questions of an event, in the order of the catalog.
 * @param {string} slug of the event
 * @param {AbortSignal} signal
 * @returns {Promise<Market[]>}
 */
export async function marketsOf(slug, signal) {
  if (!slug) return [];
  const [event] = await load(`/ui/api/catalog/events?slug=${encodeURIComponent(slug)}&limit=1`, signal);
  return (event?.markets ?? []).map((/** @type {any} */ record) => market(record, event));
}

/** @type {Map<string, Figures>} */
const figures = new Map();

/** @param {string} id condition id */
export const figuresOf = (id) => figures.get(id) ?? null;

/**
 * Chance of Yes by the exchange's definition of a current price.
 * @param {Figures | null} known
 * @returns {bigint | null}
 */
export function chance(known) {
  if (!known) return null;
  const { bid, ask, last } = known;
  const both = bid !== null && ask !== null;
  if (both && ask - bid <= WIDE) return (bid + ask) / 2n;
  return last ?? (both ? (bid + ask) / 2n : null);
}

/**
 * Points of a trend: a day ago by the change, the last day's hours, the present.
 * @param {Figures | null} known
 * @returns {number[]}
 */
export function trendOf(known) {
  const now = chance(known);
  if (!known || now === null || known.spark.length === 0) return known?.spark ?? [];
  return [float(now - (known.change ?? 0n)), ...known.spark, float(now)];
}

/**
 * Reads the figures of these markets.
 * @param {string[]} ids
 * @param {AbortSignal} signal
 */
export async function loadFigures(ids, signal) {
  for (let i = 0; i < ids.length; i += SUMMARY_BATCH) {
    const batch = ids.slice(i, i + SUMMARY_BATCH);
    for (const row of await load(`/ui/api/markets/summary?condition_ids=${batch.join(",")}`, signal)) {
      figures.set(row.condition_id, summary(row));
    }
    set("figures", batch);
  }
}

/**
 * @param {any} row
 * @returns {Figures}
 */
function summary(row) {
  return {
    bid: side(row.best_bid),
    ask: side(row.best_ask),
    last: present(row.last_price),
    change: present(row.change_24h),
    volume: micros(row.volume_24h),
    spark: (row.sparkline ?? [])
      .filter((/** @type {any} */ point) => point !== null)
      .map((/** @type {any} */ point) => Number(point?.p ?? point)),
  };
}

/** @param {any} value */
const present = (value) => (value === null || value === undefined || value === "" ? null : micros(value));

/**
 * A best price; an empty side is written as 0 or 1.
 * @param {any} value
 */
export function side(value) {
  const price = value === null || value === undefined ? null : parse(value);
  return price === null || price <= 0n || price >= ONE ? null : price;
}

/**
 * Keeps the figures of a market live.
 * @param {Market} market
 * @returns {() => void}
 */
export function followFigures(market) {
  if (!market.tokens[0]) return () => {};
  return follow({ token: market.tokens[0], market: market.id, books: false }, (message) => {
    const known = figures.get(market.id);
    if (!known || !applied(known, message, market.tokens[0])) return;
    set("figures", [market.id]);
  });
}

/**
 * @param {Figures} known
 * @param {any} message
 * @param {string} token of Yes
 */
function applied(known, message, token) {
  if (message.event_type === "best_bid_ask" && message.asset_id === token) {
    known.bid = side(message.best_bid);
    known.ask = side(message.best_ask);
  } else if (message.event_type === "last_trade_price" && message.asset_id === token) {
    const price = micros(message.price);
    if (known.change !== null && known.last !== null) known.change += price - known.last;
    known.last = price;
    known.volume += (price * micros(message.size)) / ONE;
  } else return false;
  return true;
}
