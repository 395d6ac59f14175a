/** A list that goes on with older rows page by page, and is searched while one types. */

import { fill, h, icon } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { newest } from "../lib/pages.js";
import { problem } from "./parts.js";

/** Rows of a page. */
export const PAGE = 50;

/**
 * What is looked for, until the tab closes.
 * @typedef {{ before?: number, rows: number }} Start of a page: the number before which it begins, and the rows before it
 * @typedef {{ search: string, starts: Start[] }} Wanted `starts` of the pages up to the shown one
 */

const FIRST = { rows: 0 };

/** @returns {Wanted} */
export const wantedNow = () => ({ search: "", starts: [FIRST] });

/**
 * @param {Wanted} wanted
 * @param {(before: number | undefined) => Promise<{ next?: number, shown: number, content: HTMLElement }>} page
 */
export function pagedList(wanted, page) {
  const found = h("div.stack");
  const shown = newest(
    (/** @type {Awaited<ReturnType<typeof page>>} */ { next, shown, content }) => fill(found, content, pager(next, shown)),
    (error) => fill(found, problem(error)),
  );
  const load = () => shown(() => page(wanted.starts.at(-1)?.before));
  /** @param {Start[]} starts */
  const go = (starts) => {
    wanted.starts = starts;
    return load();
  };
  const step = (/** @type {string} */ text, /** @type {boolean} */ off, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", disabled: off, onclick }, text);
  const pager = (/** @type {number | undefined} */ next, /** @type {number} */ rows) => {
    const { starts } = wanted;
    const { rows: newer } = starts.at(-1) ?? FIRST;
    return (
      (next !== undefined || starts.length > 1) &&
      h(
        "p.pager",
        null,
        step("Newer", starts.length === 1, () => go(starts.slice(0, -1))),
        h("span.dim", null, `${format.count(newer + 1)} to ${format.count(newer + rows)}`),
        step("Older", next === undefined, () => go([...starts, { before: next, rows: newer + rows }])),
      )
    );
  };
  return { found, load, restart: () => go([FIRST]) };
}

/**
 * @param {Wanted} wanted
 * @param {string} label
 * @param {(before: number | undefined) => Promise<{ next?: number, shown: number, content: HTMLElement }>} page
 * @param {(changed: () => void) => import("../lib/dom.js").Child[]} [more] filters and buttons beside the search
 */
export async function searchList(wanted, label, page, more = () => []) {
  const { found, load, restart } = pagedList(wanted, page);
  const typed = (/** @type {Event} */ event) => {
    wanted.search = /** @type {HTMLInputElement} */ (event.target).value.trim();
    restart();
  };
  const search = h("input", {
    type: "search",
    "aria-label": label,
    placeholder: label,
    value: wanted.search,
    oninput: typed,
    spellcheck: "false",
  });
  await load();
  return h("div.stack", null, h("div.filters", null, h("div.search", { role: "search" }, icon("search"), search), more(restart)), found);
}
