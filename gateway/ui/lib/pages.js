/** Lists that come in pages, and answers that come in another order than their questions. */

import { load, read } from "./rest.js";

/** Says in `next_cursor` that no page follows (docs/api/overview.md). */
export const LAST_PAGE = "LTE=";

/**
 * @template R, N
 * @typedef {{ rows: R[], next?: N }} Page `next` asks for the page after it; absent on the last
 */

/**
 * Reads page after page.
 * @template R, N
 * @param {(from: N | undefined) => Promise<Page<R, N>>} page
 * @param {{ from?: N, enough?: (rows: R[], pages: number) => boolean }} [bounds] by default to the last page
 * @returns {Promise<Page<R, N>>}
 */
export async function readOn(page, { from, enough = () => false } = {}) {
  /** @type {R[]} */
  const rows = [];
  let next = from;
  for (let pages = 1; ; pages += 1) {
    const answer = await page(next);
    for (const row of answer.rows) rows.push(row);
    next = answer.next;
    if (next === undefined || enough(rows, pages)) return { rows, next };
  }
}

/**
 * Pages of a list that names the next one in a header.
 * @param {string} path with a query
 * @param {AbortSignal} signal
 * @returns {(cursor: string | undefined) => Promise<Page<any, string>>}
 */
export const byCursor =
  (path, signal) =>
  async (cursor = "") => {
    const answer = await read(`${path}${cursor && `&cursor=${cursor}`}`, { signal });
    return { rows: answer.data, next: answer.cursor || undefined };
  };

/**
 * Pages of a list that skips rows: a short one is the last.
 * @param {string} path with a query
 * @param {number} limit rows of a page
 * @param {AbortSignal} signal
 * @returns {(offset: number | undefined) => Promise<Page<any, number>>}
 */
export const byOffset =
  (path, limit, signal) =>
  async (offset = 0) => {
    const rows = await load(`${path}&limit=${limit}&offset=${offset}`, signal);
    return { rows, next: rows.length < limit ? undefined : offset + limit };
  };

/**
 * Calls whose answers may come in another order: only that of the newest call is shown.
 * @template T
 * @param {(answer: T) => void} show
 * @param {(error: unknown) => void} failed
 * @returns {(call: () => Promise<T>) => Promise<void>}
 */
export function newest(show, failed) {
  let turn = 0;
  return async (call) => {
    const mine = (turn += 1);
    try {
      const answer = await call();
      if (mine === turn) show(answer);
    } catch (error) {
      if (mine === turn) failed(error);
    }
  };
}
