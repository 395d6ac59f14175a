/** The market on screen: its book, trades and terms, kept live. Publishes "book" and "trades" once a frame. */

import { Book } from "./book.js";
import { ONE, micros } from "./decimal.js";
import { frame } from "./dom.js";
import { follow } from "./market_stream.js";
import { load, read } from "./rest.js";
import { get, set } from "./store.js";

/**
 * @typedef {object} Trade as the Yes token sees it
 * @property {bigint} price
 * @property {bigint} size
 * @property {"BUY" | "SELL"} side of the taker
 * @property {number} time milliseconds
 * @property {string} receipt transaction hash
 * @property {number} sequence 0 when read by REST
 *
 * @typedef {object} Terms
 * @property {boolean} negRisk
 * @property {string} status
 * @property {boolean} accepting
 * @property {import("./quote.js").FeeSchedule} fee
 * @property {string} description
 * @property {string} winner outcome, or empty
 */

/** Trades kept for the list. */
const MAX_TRADES = 200;
const TERMS_MS = 15_000;
const TRADES_POLL_MS = 2000;

export class OpenMarket {
  /** @param {import("./markets.js").Market} market */
  constructor(market) {
    this.market = market;
    this.book = new Book();
    /** @type {Trade[]} */
    this.trades = [];
    this.tradesSequence = 0;
    this.publishBook = frame(() => set("book", this.book));
    this.publishTrades = frame(() => set("trades", this.trades));
    set("book", this.book);
    set("trades", null);
    set("terms", null);
    const what = { token: market.tokens[0], market: market.id, books: true };
    this.stop = follow(what, (message, sequence) => this.take(message, sequence));
    this.timers = [
      setInterval(() => this.loadTerms(), TERMS_MS),
      setInterval(() => get("stream").state === "polling" && !document.hidden && this.loadTrades(), TRADES_POLL_MS),
    ];
    this.loadFirstBook();
    this.loadTrades();
    this.loadTerms();
  }

  /** The book by REST: the screen fills even if the stream is late. */
  async loadFirstBook() {
    try {
      const { data, sequence } = await read(`/book?token_id=${this.market.tokens[0]}`);
      if (!this.book.ready) {
        this.book.replace(data, sequence);
        this.publishBook();
      }
    } catch (error) {
      set("book_error", error);
    }
  }

  async loadTrades() {
    try {
      const { data, sequence } = await read(`/ui/api/data/trades?market=${this.market.id}&limit=60`);
      const newer = this.trades.filter((trade) => trade.sequence > sequence);
      this.trades = [...newer, ...data.map(ofRecord)];
      this.tradesSequence = sequence;
      this.publishTrades();
    } catch {
      if (get("trades") === null) set("trades", []);
    }
  }

  async loadTerms() {
    try {
      const [detail, terms] = await Promise.all([load(`/markets/${this.market.id}`), load(`/clob-markets/${this.market.id}`)]);
      set("terms", {
        negRisk: Boolean(detail.neg_risk),
        status: detail.status,
        accepting: Boolean(detail.accepting_orders),
        fee: { rate: micros(terms.fd?.r ?? 0), exponent: Number(terms.fd?.e ?? 0) },
        description: detail.description || this.market.description,
        winner: detail.tokens?.find((/** @type {any} */ token) => token.winner)?.outcome ?? "",
      });
    } catch (error) {
      if (!get("terms")) set("terms_error", error);
    }
  }

  /**
   * @param {any} message
   * @param {number} sequence
   */
  take(message, sequence) {
    const yes = this.market.tokens[0];
    if (message.event_type === "book") this.book.replace(message, sequence);
    else if (message.event_type === "price_change") {
      for (const change of message.price_changes) if (change.asset_id === yes) this.book.apply(change, sequence);
    } else if (message.event_type === "tick_size_change") this.book.tick = micros(message.new_tick_size);
    else if (message.event_type === "last_trade_price" && message.asset_id === yes) this.trade(message, sequence);
    else if (message.event_type === "market_resolved" || message.event_type === "market_status") this.loadTerms();
    else return;
    this.publishBook();
  }

  /**
   * @param {any} message
   * @param {number} sequence
   */
  trade(message, sequence) {
    this.book.last = micros(message.price);
    if (sequence <= this.tradesSequence) return;
    this.trades.unshift({
      price: micros(message.price),
      size: micros(message.size),
      side: message.side,
      time: Number(message.timestamp),
      receipt: message.transaction_hash ?? "",
      sequence,
    });
    this.trades.length = Math.min(this.trades.length, MAX_TRADES);
    this.publishTrades();
  }

  close() {
    this.stop();
    for (const timer of this.timers) clearInterval(timer);
  }
}

/**
 * @param {any} row of the data surface
 * @returns {Trade}
 */
function ofRecord(row) {
  const price = micros(row.price);
  const yes = row.outcomeIndex === 0;
  return {
    price: yes ? price : ONE - price,
    size: micros(row.size),
    side: (row.side === "BUY") === yes ? "BUY" : "SELL",
    time: row.timestamp * 1000,
    receipt: row.transactionHash,
    sequence: 0,
  };
}
