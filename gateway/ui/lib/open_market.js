/** The market on screen: its book, trades and terms, kept live. Publishes "book" and "trades" once a frame. */

import { Book, NO_BOOK } from "./book.js";
import { ONE, micros } from "./decimal.js";
import { frame } from "./dom.js";
import { follow, isOpen } from "./market_stream.js";
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
 * @property {bigint[] | null} payouts of a share of each outcome, once resolved
 * @property {Life} life
 *
 * @typedef {object} Life clock, proposal and settlement; times in milliseconds
 * @property {string} stage
 * @property {number} [opens_at]
 * @property {number} [closes_at]
 * @property {number} [game_start_time]
 * @property {boolean} clear_book_on_start
 * @property {number} taker_delay_ms
 * @property {number | string} rebate_rate
 * @property {{ payout: "yes" | "no" | "half", challenge_ends: number, by_time: boolean, source: string, disputed: boolean }} [proposal]
 * @property {{ accounts_done: number, accounts: number }} [settlement]
 */

/** Trades kept for the list. */
const MAX_TRADES = 200;
const TERMS_MS = 15_000;
const TRADES_POLL_MS = 2000;
/** An open stream brings the book; after this long it is read. */
const BOOK_LATE_MS = 1000;

export class OpenMarket {
  /**
   * @param {import("./markets.js").Market} market
   * @param {(error: unknown) => void} failed
   */
  constructor(market, failed) {
    this.market = market;
    this.failed = failed;
    this.controller = new AbortController();
    this.book = new Book();
    /** @type {Trade[]} */
    this.trades = [];
    this.tradesSequence = 0;
    this.publishBook = frame(() => set("book", this.book));
    this.publishTrades = frame(() => set("trades", this.trades));
    set("book", this.book);
    set("trades", null);
    set("terms", market.accepting && !market.isOld ? termsOf(market) : null);
    const what = { token: market.tokens[0], market: market.id, books: true };
    this.stop = follow(what, (message, sequence) => this.take(message, sequence));
    /** @type {Set<() => Promise<void>>} */
    this.loading = new Set();
    this.timers = [
      setInterval(() => this.run(this.loadFeeAndTerms), TERMS_MS),
      setInterval(() => get("stream")?.state === "polling" && !document.hidden && this.run(this.loadTrades), TRADES_POLL_MS),
    ];
    this.fee = market.fee;
    this.bookTimer = setTimeout(() => this.run(this.loadFirstBook), isOpen() ? BOOK_LATE_MS : 0);
    for (const job of [this.loadTrades, market.isOld ? this.loadFeeAndTerms : this.loadTerms]) this.run(job);
  }

  /**
   * Runs a read unless the same one still waits for its answer.
   * @param {() => Promise<void>} job
   */
  async run(job) {
    if (this.loading.has(job)) return;
    this.loading.add(job);
    try {
      await job.call(this);
    } catch (error) {
      if (!this.controller.signal.aborted) this.failed(error);
    }
    this.loading.delete(job);
  }

  /** The book by REST: the screen fills even if the stream is late. It is not read when the stream has brought it. */
  async loadFirstBook() {
    if (this.book.ready) return;
    const { data, sequence } = await read(`/books?token_ids=${this.market.tokens[0]}`, this.controller);
    if (this.book.ready) return;
    this.book.replace(data[0] ?? NO_BOOK, sequence);
    this.publishBook();
  }

  async loadTrades() {
    const { data, sequence } = await read(`/ui/api/data/trades?market=${this.market.id}&limit=60`, this.controller);
    const newer = this.trades.filter((trade) => trade.sequence > sequence);
    this.trades = [...newer, ...data.map(ofRecord)];
    this.tradesSequence = sequence;
    this.publishTrades();
  }

  async loadFeeAndTerms() {
    const [{ fd }, detail] = await Promise.all([load(`/clob-markets/${this.market.id}`, this.controller.signal), this.detail()]);
    this.fee = { rate: micros(fd?.r ?? 0), exponent: Number(fd?.e ?? 0) };
    this.setTerms(detail);
  }

  async loadTerms() {
    this.setTerms(await this.detail());
  }

  detail() {
    return load(`/markets/${this.market.id}`, this.controller.signal);
  }

  /** @param {any} detail of the market */
  setTerms(detail) {
    set("terms", {
      negRisk: Boolean(detail.neg_risk),
      status: detail.status,
      accepting: Boolean(detail.accepting_orders),
      fee: this.fee,
      description: detail.description || this.market.description,
      payouts: detail.status === "resolved" ? detail.tokens.map((/** @type {any} */ token) => micros(token.price)) : null,
      life: detail.life ?? { stage: detail.status, clear_book_on_start: false, taker_delay_ms: 0, rebate_rate: 0 },
    });
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
    else if (message.event_type === "market_resolved" || message.event_type === "market_status") {
      const { terms } = message;
      if (terms) this.fee = { rate: BigInt(terms.fee_rate_ppm), exponent: Number(terms.fee_exponent) };
      this.run(this.loadTerms);
    } else return;
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

  /** Ends subscriptions, timers and requests. */
  close() {
    this.stop();
    this.controller.abort();
    clearTimeout(this.bookTimer);
    for (const timer of this.timers) clearInterval(timer);
  }
}

/**
 * The terms of a market that takes orders, as its record has them: the ticket need not wait for another answer.
 * @param {import("./markets.js").Market} market
 * @returns {Terms}
 */
const termsOf = ({ negRisk, fee, description, delay }) => ({
  negRisk,
  status: "active",
  accepting: true,
  fee,
  description,
  payouts: null,
  life: { stage: "active", clear_book_on_start: false, taker_delay_ms: delay, rebate_rate: 0 },
});

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
