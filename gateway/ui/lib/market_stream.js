/** Live markets: one connection for all that the page shows, gap checks per market, polling when there is no stream. */

import { NO_BOOK } from "./book.js";
import { get, set } from "./store.js";
import { send } from "./rest.js";
import { Socket } from "./socket.js";

/**
 * @typedef {object} Entry a market that somebody looks at
 * @property {string} token of Yes: its messages carry both sides
 * @property {string} market condition id
 * @property {boolean} books wants the whole book, not just its top
 * @property {number} base sequence of the last whole book
 * @property {number} sequence last link of this market's chain
 * @property {boolean} waiting for a whole book after a gap
 * @property {Set<(message: any, sequence: number) => void>} handlers
 */

/** @type {Map<string, Entry>} */
const entries = new Map();
/** @type {Socket | null} */
let socket = null;
let received = 0;
const POLL_MS = 1000;
/** Tokens in one subscription frame. */
const BATCH = 500;

/** What is known of the stream. */
const figures = () => get("stream") ?? { state: /** @type {const} */ ("connecting"), sequence: 0, rate: 0, age: null };

/** Opens the stream and begins to count. */
export function start() {
  set("stream", figures());
  socket = new Socket("/ws/market", { subscriptions, message, state: changed, snapshot: forgetChains });
  setInterval(measure, 1000);
  setInterval(poll, POLL_MS);
}

/** Whether the stream takes subscriptions now. */
export const isOpen = () => socket?.isOpen ?? false;

/**
 * Follows a market. The handler gets its messages in order.
 * @param {{ token: string, market: string, books: boolean }} what
 * @param {(message: any, sequence: number) => void} handler
 * @returns {() => void}
 */
export function follow(what, handler) {
  let entry = entries.get(what.market);
  if (!entry) {
    entry = { ...what, books: false, base: 0, sequence: 0, waiting: false, handlers: new Set() };
    entries.set(what.market, entry);
    if (!what.books) later(entry);
  }
  entry.handlers.add(handler);
  if (what.books) {
    entry.books = true;
    socket?.send(frame([entry.token], true, { heartbeat_ms: 1000 }));
  }
  return () => unfollow(entry, handler);
}

/**
 * @param {Entry} entry
 * @param {(message: any, sequence: number) => void} handler
 */
function unfollow(entry, handler) {
  entry.handlers.delete(handler);
  if (entry.handlers.size > 0) return;
  entries.delete(entry.market);
  fresh.delete(entry);
  if (gone.size === 0) queueMicrotask(unsubscribe);
  gone.set(entry.market, entry.token);
}

/** Tokens to unsubscribe at the end of this turn, by market. @type {Map<string, string>} */
const gone = new Map();

/** A market that somebody follows again meanwhile stays subscribed. */
function unsubscribe() {
  const tokens = [...gone].filter(([market]) => !entries.has(market)).map(([, token]) => token);
  gone.clear();
  if (tokens.length) socket?.send({ operation: "unsubscribe", assets_ids: tokens });
}

/** Entries whose subscription waits for the end of this turn, so that a list sends one frame. @type {Set<Entry>} */
const fresh = new Set();

/** @param {Entry} entry */
function later(entry) {
  if (fresh.size === 0) {
    queueMicrotask(() => {
      const tokens = [...fresh].filter((waiting) => !waiting.books).map((waiting) => waiting.token);
      fresh.clear();
      if (tokens.length) socket?.send(frame(tokens, false, { heartbeat_ms: 1000 }));
    });
  }
  fresh.add(entry);
}

/**
 * @param {string[]} tokens
 * @param {boolean} dump
 * @param {object} terms
 */
const frame = (tokens, dump, terms) => ({
  type: "market",
  operation: "subscribe",
  assets_ids: tokens,
  initial_dump: dump,
  custom_feature_enabled: true,
  ...terms,
});

/**
 * @param {any} terms
 * @returns {object[]}
 */
function subscriptions(terms) {
  const resuming = terms.resume_from !== undefined;
  const all = [...entries.values()];
  const whole = all.filter((entry) => entry.books).map((entry) => entry.token);
  const tops = all.filter((entry) => !entry.books).map((entry) => entry.token);
  const frames = [frame(whole, !resuming, terms)];
  for (let i = 0; i < tops.length; i += BATCH) frames.push(frame(tops.slice(i, i + BATCH), false, terms));
  return frames;
}

/** After a snapshot the chains begin anew with its books. */
function forgetChains() {
  for (const entry of entries.values()) Object.assign(entry, { base: 0, sequence: 0, waiting: false });
}

/** @param {any} message */
function message(message) {
  received += 1;
  const sequence = Number(message.sequence ?? 0);
  const stream = figures();
  if (sequence > stream.sequence) stream.sequence = sequence;
  const sent = message.timestamp ?? message.server_ts_ms;
  if (sent && message.event_type !== "book") stream.age = Math.max(0, Date.now() - Number(sent));
  const entry = entries.get(message.market);
  if (entry && accepts(entry, message, sequence)) {
    for (const handler of entry.handlers) handler(message, sequence);
  }
}

/**
 * The chain check of one market: sequence after sequence, none missed.
 * @param {Entry} entry
 * @param {any} message
 * @param {number} sequence
 */
function accepts(entry, message, sequence) {
  if (message.event_type === "book") {
    if (message.asset_id !== entry.token || sequence < entry.sequence) return false;
    if (entry.waiting) socket?.repaired();
    entry.base = sequence;
    entry.sequence = sequence;
    entry.waiting = false;
    return true;
  }
  if (message.prev_sequence === undefined) return true;
  if (entry.waiting || sequence <= entry.base || sequence < entry.sequence) return false;
  const previous = Number(message.prev_sequence);
  const linked = sequence === entry.sequence || previous === entry.sequence || (entry.sequence === entry.base && previous <= entry.base);
  if (!linked && entry.books && entry.base > 0) {
    entry.waiting = true;
    changed("catching_up");
    socket?.send(frame([entry.token], true, { heartbeat_ms: 1000 }));
    return false;
  }
  entry.sequence = sequence;
  return !entry.books || entry.base > 0;
}

/** @param {import("./socket.js").StreamState} state */
function changed(state) {
  const stream = figures();
  const shown = state === "offline" && get("reachable") !== false ? "polling" : state;
  if (stream.state !== shown) set("stream", { ...stream, state: shown });
}

function measure() {
  set("stream", { ...figures(), rate: received });
  received = 0;
}

let polling = false;

/** Without a stream the books that are shown are read once a second. */
async function poll() {
  const { state } = figures();
  if (polling || document.hidden || (state !== "polling" && state !== "offline")) return;
  polling = true;
  const shown = [...entries.values()].filter((entry) => entry.books);
  try {
    if (shown.length === 0) await send("GET", "/ok");
    for (const entry of shown) {
      const { data, sequence } = await send("GET", `/books?token_ids=${entry.token}`);
      const stream = figures();
      stream.sequence = Math.max(stream.sequence, sequence);
      for (const handler of entry.handlers) handler({ ...NO_BOOK, ...data[0], event_type: "book" }, sequence);
    }
    if (figures().state === "offline") changed("offline");
  } catch {
    if (get("reachable") === false) changed("offline");
  }
  polling = false;
}
