/** Requests to the exchange, and its errors in its own words. */

import { set } from "./store.js";
import { t } from "./messages.js";

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

const TIMEOUT_MS = 10_000;
/** Reads that say 429 or 503 are sent again this often, after what `Retry-After` says. */
const RETRIES = 3;

/**
 * @typedef {object} Answer
 * @property {any} data
 * @property {number} sequence of header x-sequence, 0 when absent
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
  let response;
  let text;
  try {
    response = await fetch(path, { method, headers, body: options.body, signal, cache: "no-store" });
    text = await response.text();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    set("reachable", false);
    throw new ApiError(t("no_answer"), 0);
  }
  const body = parsed(text);
  if (!response.ok) throw failure(response, body, text);
  set("reachable", true);
  return { data: body, sequence: Number(response.headers.get("x-sequence") ?? 0) };
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
 * A read. Waits and repeats when the exchange says so.
 * @param {string} path
 * @param {{ headers?: () => Promise<Record<string, string>>, signal?: AbortSignal }} [options]
 * @returns {Promise<Answer>}
 */
export async function read(path, options = {}) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await send("GET", path, { headers: await options.headers?.(), signal: options.signal });
    } catch (error) {
      const wait = error instanceof ApiError && [425, 429, 503].includes(error.status);
      if (!wait || attempt >= RETRIES) throw error;
      const seconds = Math.min(Math.max(error.retryAfter, 1), 10);
      if (error.status === 429) set("notice", t("rate_limited", { seconds }));
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }
}

/**
 * @param {string} path
 * @returns {Promise<any>}
 */
export const load = async (path) => (await read(path)).data;

/** @param {unknown} error */
export const reason = (error) => (error instanceof Error ? error.message : String(error));
