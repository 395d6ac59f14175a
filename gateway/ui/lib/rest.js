/** Requests to the exchange, and its errors. */

import { rejection, t } from "./messages.js";
import * as network from "./network.js";
import { set } from "./store.js";

/** An answer that is no success. `message` is the exchange's text. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} status 0 when there was no answer
   * @param {string} code of header x-error-code
   * @param {number} retryAfter seconds, 0 when not stated
   * @param {any} body
   */
  constructor(message, status, code = "", retryAfter = 0, body = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
    this.body = body;
  }
}

/** A request without an answer for this long has failed. */
const TIMEOUT_MS = 30_000;
/** The page says that it waits after this long. */
const SLOW_MS = 2000;
/** No answer, and the statuses after which the same request may succeed later (docs/api/errors.md). */
const TEMPORARY = [0, 425, 429, 502, 503, 504];
/** Codes of a 503 that is an answer: asking again changes nothing soon. */
const FINAL_CODES = ["cancel_only", "post_only_mode", "disk_low"];
/** Longest pause that the page takes from `Retry-After`. */
const MAX_PAUSE_S = 60;
/** A change is sent this often at most. */
const ACT_ATTEMPTS = 5;

/**
 * @typedef {object} Answer
 * @property {any} data
 * @property {number} sequence of header x-sequence, 0 when absent
 * @property {string} cursor of header x-next-cursor, empty on the last page
 */

/**
 * @param {string} method
 * @param {string} path
 * @param {{ body?: string, headers?: Record<string, string>, signal?: AbortSignal }} [options]
 * @returns {Promise<Answer>}
 */
export async function send(method, path, options = {}) {
  const headers = {
    accept: "application/json",
    ...(options.body === undefined ? {} : { "content-type": "application/json" }),
    ...options.headers,
  };
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  const request = {};
  const slow = setTimeout(() => network.begin(request, { kind: "slow", reason: "", until: 0 }), SLOW_MS);
  let response;
  let text;
  try {
    response = await fetch(path, { method, headers, body: options.body, signal, cache: "no-store" });
    text = await response.text();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    set("reachable", false);
    throw new ApiError(t("no_answer"), 0);
  } finally {
    clearTimeout(slow);
    network.end(request);
  }
  const body = parsed(text);
  if (!response.ok) throw failure(response, body, text);
  set("reachable", true);
  const { headers: named } = response;
  return { data: body, sequence: Number(named.get("x-sequence") ?? 0), cursor: named.get("x-next-cursor") ?? "" };
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * @param {Response} response
 * @param {any} body
 * @param {string} text
 */
function failure(response, body, text) {
  const message = body?.errorMsg || body?.error || text.slice(0, 300) || `${response.status} ${response.statusText}`;
  const code = response.headers.get("x-error-code") ?? body?.code ?? "";
  const retryAfter = Number(response.headers.get("retry-after") ?? 0);
  return new ApiError(String(message), response.status, code, retryAfter, body);
}

/**
 * Sends until there is an answer: pauses as `Retry-After` says, else longer each time.
 * @param {() => Promise<Answer>} attempt
 * @param {{ attempts?: number, signal?: AbortSignal }} [limits]
 * @returns {Promise<Answer>}
 */
async function persist(attempt, { attempts = Infinity, signal } = {}) {
  const request = {};
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!isTemporary(error) || tries >= attempts) throw error;
        const seconds = error.retryAfter ? Math.min(error.retryAfter, MAX_PAUSE_S) : Math.min(2 ** (tries - 1), 8);
        network.begin(request, { kind: kindOf(error.status), reason: error.message, until: Date.now() + seconds * 1000 });
        await pause(seconds, signal);
      }
    }
  } finally {
    network.end(request);
  }
}

/**
 * @param {unknown} error
 * @returns {error is ApiError} after which the same request may succeed later
 */
export const isTemporary = (error) => error instanceof ApiError && TEMPORARY.includes(error.status) && !FINAL_CODES.includes(error.code);

/** @param {number} status */
const kindOf = (status) => (status === 0 ? "silent" : status === 429 ? "limited" : "unavailable");

/**
 * @param {number} seconds
 * @param {AbortSignal} [signal]
 */
const pause = (seconds, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/**
 * A read. It waits until the exchange can answer, or until the signal ends it.
 * @param {string} path
 * @param {{ headers?: () => Promise<Record<string, string>>, signal?: AbortSignal }} [options]
 * @returns {Promise<Answer>}
 */
export const read = (path, { headers, signal } = {}) =>
  persist(async () => send("GET", path, { headers: await headers?.(), signal }), { signal });

/**
 * A change that may be sent again: a repeat of an order, an action's reference or a cancel has no second effect
 * (docs/api/overview.md, section 7).
 * @param {string} method
 * @param {string} path
 * @param {string | undefined} body
 * @param {() => Promise<Record<string, string>>} headers of each attempt
 * @returns {Promise<Answer>}
 */
export const change = (method, path, body, headers) =>
  persist(async () => send(method, path, { body, headers: await headers() }), { attempts: ACT_ATTEMPTS });

/**
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export const load = async (path, signal) => (await read(path, { signal })).data;

/** @param {unknown} error */
export const reason = (error) => (error instanceof Error ? error.message : String(error));

/**
 * What to tell the visitor: the page's words for a known code, and the exchange's own text.
 * @param {unknown} error
 * @param {(code: string) => string | undefined} [wordsOf] a code
 * @param {string} [unknown] words for an outcome that is not known
 * @returns {{ words: string, detail: string }}
 */
export function explain(error, wordsOf = rejection, unknown = t("outcome_unknown")) {
  if (!(error instanceof ApiError)) return { words: reason(error), detail: "" };
  const words = wordsOf(error.code) ?? (isTemporary(error) ? unknown : t("refused"));
  return { words, detail: error.message };
}

/**
 * The same in one line, for a notice: the exchange's own text only where the page has no words for the code.
 * @param {unknown} error
 */
export function explainShort(error) {
  const { words, detail } = explain(error);
  return words === t("refused") ? detail : words;
}
