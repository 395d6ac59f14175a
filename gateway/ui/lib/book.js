/** A live book of one market, held as the Yes token sees it. The No side is its mirror. */

import { ONE, micros } from "./decimal.js";

/** @typedef {{ price: bigint, size: bigint }} Level */

export class Book {
  constructor() {
    /** @type {Map<bigint, bigint>} */
    this.bids = new Map();
    /** @type {Map<bigint, bigint>} */
    this.asks = new Map();
    this.sequence = 0;
    this.hash = "";
    this.tick = 10_000n;
    this.minimum = 5_000_000n;
    /** @type {bigint | null} */
    this.last = null;
    this.ready = false;
    /** @type {{ bids: Level[], asks: Level[] } | null} */
    this.sorted = null;
  }

  /**
   * Takes a whole book: an answer of `GET /book`, or a `book` message, of the Yes token.
   * @param {any} message
   * @param {number} sequence
   */
  replace(message, sequence) {
    this.bids = new Map(message.bids.map(level));
    this.asks = new Map(message.asks.map(level));
    this.sequence = sequence;
    this.hash = message.hash ?? "";
    if (message.tick_size) this.tick = micros(message.tick_size);
    if (message.min_order_size) this.minimum = micros(message.min_order_size);
    if (message.last_trade_price) this.last = micros(message.last_trade_price);
    this.ready = true;
    this.sorted = null;
  }

  /**
   * Applies one entry of a `price_change` of the Yes token. Sizes are totals.
   * @param {any} change
   * @param {number} sequence
   */
  apply(change, sequence) {
    const side = change.side === "BUY" ? this.bids : this.asks;
    const [price, size] = level(change);
    if (size === 0n) side.delete(price);
    else side.set(price, size);
    this.hash = change.hash ?? this.hash;
    this.sequence = sequence;
    this.sorted = null;
  }

  /**
   * Both sides, best level first, as seen from an outcome.
   * @param {number} outcome 0 Yes, 1 No
   * @returns {{ bids: Level[], asks: Level[] }}
   */
  sides(outcome = 0) {
    this.sorted ??= {
      bids: levels(this.bids).sort((a, b) => (a.price < b.price ? 1 : -1)),
      asks: levels(this.asks).sort((a, b) => (a.price > b.price ? 1 : -1)),
    };
    if (outcome === 0) return this.sorted;
    return { bids: this.sorted.asks.map(mirrored), asks: this.sorted.bids.map(mirrored) };
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
 * @returns {[bigint, bigint]}
 */
const level = (entry) => [micros(entry.price), micros(entry.size)];

/**
 * @param {Map<bigint, bigint>} side
 * @returns {Level[]}
 */
const levels = (side) => Array.from(side, ([price, size]) => ({ price, size }));

/**
 * @param {Level} entry
 * @returns {Level}
 */
const mirrored = ({ price, size }) => ({ price: ONE - price, size });
