/** A live book of one market, held as the Yes token sees it. The No side is its mirror. */

import { ONE, micros } from "./decimal.js";

/** @typedef {{ price: bigint, size: bigint }} Level */

/** The book of a market that has ended. */
export const NO_BOOK = { bids: [], asks: [] };

export class Book {
  constructor() {
    /** Best first, as the Yes token sees them. @type {Level[]} */
    this.bids = [];
    /** @type {Level[]} */
    this.asks = [];
    this.sequence = 0;
    this.hash = "";
    this.tick = 10_000n;
    this.minimum = 5_000_000n;
    /** @type {bigint | null} */
    this.last = null;
    this.ready = false;
    /** Both sides as the No token sees them, until the book changes. @type {{ bids: Level[], asks: Level[] } | null} */
    this.mirror = null;
  }

  /**
   * Takes a whole book: an answer of `GET /book`, or a `book` message, of the Yes token.
   * @param {any} message
   * @param {number} sequence
   */
  replace(message, sequence) {
    this.bids = message.bids.map(level).sort((/** @type {Level} */ a, /** @type {Level} */ b) => (a.price < b.price ? 1 : -1));
    this.asks = message.asks.map(level).sort((/** @type {Level} */ a, /** @type {Level} */ b) => (a.price > b.price ? 1 : -1));
    this.sequence = sequence;
    this.hash = message.hash ?? "";
    if (message.tick_size) this.tick = micros(message.tick_size);
    if (message.min_order_size) this.minimum = micros(message.min_order_size);
    if (message.last_trade_price) this.last = micros(message.last_trade_price);
    this.ready = true;
    this.mirror = null;
  }

  /**
   * Applies one entry of a `price_change` of the Yes token. Sizes are totals.
   * @param {any} change
   * @param {number} sequence
   */
  apply(change, sequence) {
    const isBid = change.side === "BUY";
    put(isBid ? this.bids : this.asks, level(change), isBid);
    this.hash = change.hash ?? this.hash;
    this.sequence = sequence;
    this.mirror = null;
  }

  /**
   * Both sides, best level first, as seen from an outcome.
   * @param {number} outcome 0 Yes, 1 No
   * @returns {{ bids: Level[], asks: Level[] }}
   */
  sides(outcome = 0) {
    if (outcome === 0) return this;
    this.mirror ??= { bids: this.asks.map(mirrored), asks: this.bids.map(mirrored) };
    return this.mirror;
  }

  /**
   * @param {number} outcome
   * @returns {{ bid: bigint | null, ask: bigint | null, mid: bigint | null, spread: bigint | null }}
   */
  top(outcome = 0) {
    const { bids, asks } = this.sides(outcome);
    const bid = bids[0]?.price ?? null;
    const ask = asks[0]?.price ?? null;
    const both = bid !== null && ask !== null;
    return { bid, ask, mid: both ? (bid + ask) / 2n : null, spread: both ? ask - bid : null };
  }

  /**
   * @param {number} outcome
   * @returns {bigint | null}
   */
  lastPrice(outcome = 0) {
    if (this.last === null) return null;
    return outcome === 0 ? this.last : ONE - this.last;
  }
}

/**
 * @param {{ price: string, size: string }} entry
 * @returns {Level}
 */
const level = (entry) => ({ price: micros(entry.price), size: micros(entry.size) });

/**
 * Puts a level in its place; a size of zero removes it.
 * @param {Level[]} side best first
 * @param {Level} level
 * @param {boolean} falling bids: the highest price is the best
 */
function put(side, level, falling) {
  let low = 0;
  let high = side.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { price } = side[middle];
    if (falling ? price > level.price : price < level.price) low = middle + 1;
    else high = middle;
  }
  const known = side[low]?.price === level.price;
  if (level.size > 0n) side.splice(low, known ? 1 : 0, level);
  else if (known) side.splice(low, 1);
}

/**
 * @param {Level} entry
 * @returns {Level}
 */
const mirrored = ({ price, size }) => ({ price: ONE - price, size });
