/** Markets: catalog records, one a condition, joined with their live figures. */

import { ONE, float, micros, parse } from "./decimal.js";
import { get, set } from "./store.js";
import { load } from "./rest.js";
import { follow } from "./market_stream.js";
import { shortNames } from "./short_names.js";

/**
 * @typedef {object} Market
 * @property {string} id condition id
 * @property {string} slug
 * @property {string} question
 * @property {string} name short, in its event
 * @property {string[]} outcomes
 * @property {string[]} tokens
 * @property {{ slug: string, title: string, questions: number | null }} event `questions` is null where the record does not tell
 * @property {string[]} tags labels
 * @property {string} ends ISO time, or empty
 * @property {string} starts
 * @property {string} opened ISO time since when it takes orders, or empty
 * @property {boolean} accepting orders; like the three below, when the record was read
 * @property {boolean} negRisk
 * @property {import("./quote.js").FeeSchedule} fee of takers
 * @property {number} delay of takers in milliseconds
 * @property {string} description
 * @property {boolean} closed
 * @property {boolean} [isOld] the record is of the list, which may have been read long ago
 *
 * @typedef {object} Event
 * @property {string} slug
 * @property {string} title
 * @property {string} description
 * @property {boolean} negRisk one of the questions wins
 * @property {string[]} tags
 * @property {Market[]} markets
 *
 * @typedef {object} Figures of the first outcome
 * @property {boolean} resolved
 * @property {bigint | null} bid
 * @property {bigint | null} ask
 * @property {bigint | null} last
 * @property {bigint | null} price by the exchange's definition, when it was read
 * @property {bigint | null} base price a day ago, or the market's first
 * @property {bigint} volume in 24 hours
 * @property {number[]} spark
 */

/** Events of the first page: enough to fill a screen at once. */
const FIRST_PAGE = 60;
const PAGE = 500;
/** The list ends here; search asks the exchange beyond it. */
const MAX_EVENTS = 2000;
const SUMMARY_BATCH = 100;
const DAY_MS = 86_400_000;
/** A best price this far from the other says little: the last trade counts (docs/api/data.md, section 2). */
const WIDE = 100_000n;
const CATALOG = "/ui/api/catalog";

/**
 * @param {any} record of the catalog
 * @param {any} event
 * @param {string} [name]
 * @returns {Market}
 */
function market(record, event, name = record.question) {
  return {
    id: record.conditionId,
    slug: record.slug || record.conditionId,
    question: record.question,
    name,
    outcomes: list(record.outcomes, ["Yes", "No"]),
    tokens: list(record.clobTokenIds, []),
    event: { slug: event?.slug ?? "", title: event?.title ?? "", questions: event?.markets?.length ?? (event ? null : 1) },
    tags: labels(event?.tags ? event : record),
    ends: record.endDate ?? event?.endDate ?? "",
    starts: record.startDate ?? "",
    accepting: Boolean(record.acceptingOrders),
    negRisk: Boolean(record.negRisk),
    delay: 1000 * Number(record.secondsDelay ?? 0),
    opened: record.acceptingOrdersTimestamp ?? record.startDate ?? "",
    fee: { rate: micros(record.feeSchedule?.rate ?? 0), exponent: Number(record.feeSchedule?.exponent ?? 0) },
    description: record.description ?? "",
    closed: Boolean(record.closed),
  };
}

/**
 * Whether a market is younger than a day: figures of 24 hours then are of all its time.
 * @param {Market} market
 */
export const isYoung = ({ opened }) => Date.now() - Date.parse(opened) < DAY_MS;

/** @param {any} tagged event or market */
const labels = (tagged) => (tagged?.tags ?? []).map((/** @type {any} */ tag) => tag.label);

/**
 * The markets of an event that can be traded here, one a condition.
 * @param {any} event
 * @returns {Market[]}
 */
function marketsIn(event) {
  const records = event.markets.filter((/** @type {any} */ record) => record.clobTokenIds && record.conditionId);
  const names = shortNames(records);
  const found = records.map((/** @type {any} */ record, /** @type {number} */ i) => market(record, event, names[i]));
  return [...new Map(found.map((/** @type {Market} */ each) => [each.id, each])).values()];
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
 * Reads the open markets, a screenful first. A condition in two records is one market.
 * @param {AbortSignal} signal
 */
export async function loadMarkets(signal) {
  let offset = 0;
  /** @type {Map<string, Market>} */
  const found = new Map();
  for (let limit = FIRST_PAGE; offset < MAX_EVENTS; limit = PAGE) {
    const events = await load(`${CATALOG}/events?closed=false&limit=${limit}&offset=${offset}`, signal);
    for (const each of events.flatMap(marketsIn)) if (!each.closed && !found.has(each.id)) found.set(each.id, each);
    set("markets", [...found.values()]);
    offset += events.length;
    if (events.length < limit) break;
  }
}

/**
 * Reads the newest markets that ended.
 * @param {AbortSignal} signal
 */
export async function loadEnded(signal) {
  const query = `closed=true&include_tag=true&order=endDate&ascending=false&limit=${PAGE}`;
  const records = await load(`${CATALOG}/markets?${query}`, signal);
  const tradable = records.filter((/** @type {any} */ record) => record.clobTokenIds && record.conditionId);
  const found = tradable.map((/** @type {any} */ record) => market(record, record.events?.[0]));
  set("ended", [...new Map(found.map((/** @type {Market} */ each) => [each.id, each])).values()]);
}

/** Letters with a stroke or without a dot, which Unicode does not take apart. @type {Record<string, string>} */
const STROKES = { ł: "l", ø: "o", đ: "d", ı: "i" };

/**
 * A text as searches compare it: without accents and in small letters, as the catalog's search does it.
 * @param {string} text
 */
export const searchable = (text) =>
  text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[łøđı]/g, (letter) => STROKES[letter]);

/**
 * @param {string} slug of the market, or its condition id
 * @param {AbortSignal} signal
 * @returns {Promise<Market | null>}
 */
export async function findMarket(slug, signal) {
  const known = get("markets")?.find((candidate) => candidate.slug === slug || candidate.id === slug);
  if (known) return { ...known, isOld: true };
  const key = /^0x[0-9a-f]{64}$/i.test(slug) ? "condition_ids" : "slug";
  const [record] = await load(`${CATALOG}/markets?${key}=${encodeURIComponent(slug)}&include_tag=true&limit=1`, signal);
  return record ? market(record, record.events?.[0]) : null;
}

/**
 * An event with its questions, in the order of the catalog.
 * @param {string} slug
 * @param {AbortSignal} signal
 * @returns {Promise<Event | null>}
 */
export async function findEvent(slug, signal) {
  const [event] = slug ? await load(`${CATALOG}/events?slug=${encodeURIComponent(slug)}&limit=1`, signal) : [];
  if (!event) return null;
  const { title, description = "", negRisk = false } = event;
  return { slug, title, description, negRisk, tags: labels(event), markets: marketsIn(event) };
}

/** Questions and addresses of markets that the list does not have. @type {Map<string, { question: string, slug: string }>} */
const titles = new Map();

/**
 * The title of a market by its condition id; unknown ones are read, and "titles" tells when they have come.
 * @param {string} id
 * @returns {{ question: string, slug: string } | null}
 */
export function titleOf(id) {
  const here = get("market");
  const known = get("markets")?.find((candidate) => candidate.id === id) ?? (here?.id === id ? here : titles.get(id));
  if (known) return known;
  if (missing.size === 0) setTimeout(loadTitles);
  missing.add(id);
  return null;
}

/** @type {Set<string>} */
const missing = new Set();

async function loadTitles() {
  const ids = [...missing].slice(0, SUMMARY_BATCH);
  const records = await load(`${CATALOG}/markets?condition_ids=${ids.join(",")}&limit=${ids.length}`).catch(() => []);
  for (const id of ids) {
    const record = records.find((/** @type {any} */ each) => each.conditionId === id);
    titles.set(id, { question: record?.question ?? id, slug: record?.slug || id });
    missing.delete(id);
  }
  set("titles", ids);
  if (missing.size > 0) loadTitles();
}

/** @type {Map<string, Figures>} */
const figures = new Map();

/** @param {string} id condition id */
export const figuresOf = (id) => figures.get(id) ?? null;

/**
 * Chance of the first outcome by the exchange's definition of a current price.
 * @param {{ bid: bigint | null, ask: bigint | null, last: bigint | null, resolved?: boolean, price?: bigint | null } | null} known
 * @returns {bigint | null}
 */
export function chance(known) {
  if (!known) return null;
  const { bid, ask, last } = known;
  if (known.resolved) return known.price ?? null;
  const both = bid !== null && ask !== null;
  if (both && ask - bid <= WIDE) return (bid + ask) / 2n;
  return last ?? (both ? (bid + ask) / 2n : null);
}

/**
 * @param {Market[]} markets of an event
 * @returns {bigint | null} null while one of them is not known
 */
export function sumOfChances(markets) {
  let sum = 0n;
  for (const each of markets) {
    const known = chance(figuresOf(each.id));
    if (known === null) return null;
    sum += known;
  }
  return sum;
}

/**
 * What the price has moved since a day ago, or since the market's first.
 * @param {Figures | null} known
 * @param {bigint | null} now
 */
export const changeOf = (known, now = chance(known)) => (known === null || known.base === null || now === null ? null : now - known.base);

/**
 * Points of a trend: a day ago, the last day's hours, the present.
 * @param {Figures | null} known
 * @returns {number[]}
 */
export function trendOf(known) {
  const now = chance(known);
  if (!known || now === null || known.base === null) return known?.spark ?? [];
  return [float(known.base), ...known.spark, float(now)];
}

/**
 * What an order would pay and get now for an outcome.
 * @param {{ bid: bigint | null, ask: bigint | null } | null} known of the first outcome
 * @param {number} outcome
 * @param {"BUY" | "SELL"} [side]
 * @returns {bigint | null}
 */
export function bestPrice(known, outcome, side = "BUY") {
  const first = (side === "BUY") === (outcome === 0) ? known?.ask : known?.bid;
  if (first === null || first === undefined) return null;
  return outcome === 0 ? first : ONE - first;
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
  const price = present(row.price);
  const change = present(row.change_24h);
  return {
    resolved: row.status === "resolved",
    bid: side(row.best_bid),
    ask: side(row.best_ask),
    last: present(row.last_price),
    price,
    base: price === null || change === null ? null : price - change,
    volume: micros(row.volume_24h),
    spark: (row.sparkline ?? []).filter((/** @type {any} */ point) => point !== null).map(Number),
  };
}

/** @param {any} value */
const present = (value) => (value === null || value === undefined || value === "" ? null : micros(value));

/**
 * A best price; an empty side is written as 0 or 1.
 * @param {any} value
 */
export function side(value) {
  const price = parse(value);
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
    if (known && applied(known, message, market.tokens[0])) set("figures", [market.id]);
  });
}

/**
 * @param {Figures} known
 * @param {any} message
 * @param {string} token of the first outcome
 */
function applied(known, message, token) {
  if (message.event_type === "market_resolved") {
    known.resolved = true;
    known.price = micros(message.payouts?.[0]);
  } else if (message.event_type === "best_bid_ask" && message.asset_id === token) {
    known.bid = side(message.best_bid);
    known.ask = side(message.best_ask);
  } else if (message.event_type === "last_trade_price" && message.asset_id === token) {
    known.last = micros(message.price);
    known.volume += (known.last * micros(message.size)) / ONE;
  } else return false;
  return true;
}
