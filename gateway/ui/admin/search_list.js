/** A list that is searched while one types, page by page. */

import { fill, h, icon } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { problem } from "./parts.js";

/** Rows of a page. */
export const PAGE = 50;

/**
 * @param {{ search: string, offset: number }} wanted what is looked for, until the tab closes
 * @param {string} label
 * @param {() => Promise<{ total: number, shown: number, content: HTMLElement }>} page
 * @param {(changed: () => void) => import("../lib/dom.js").Child[]} [more] filters and buttons beside the search
 */
export async function searchList(wanted, label, page, more = () => []) {
  const found = h("div.stack");
  let asked = 0;
  const load = async () => {
    const turn = (asked += 1);
    try {
      const { total, shown, content } = await page();
      if (turn === asked) fill(found, content, pager(total, shown));
    } catch (error) {
      fill(found, problem(error));
    }
  };
  const go = (/** @type {number} */ offset) => {
    wanted.offset = offset;
    load();
  };
  const typed = (/** @type {Event} */ event) => {
    wanted.search = /** @type {HTMLInputElement} */ (event.target).value.trim();
    go(0);
  };
  const step = (/** @type {string} */ text, /** @type {number} */ to, /** @type {boolean} */ off) =>
    h("button", { type: "button", disabled: off, onclick: () => go(Math.max(0, to)) }, text);
  const pager = (/** @type {number} */ total, /** @type {number} */ shown) => {
    const { offset } = wanted;
    const range = h("span.dim", null, `${offset + 1} to ${offset + shown} of ${format.count(total)}`);
    return (
      total > shown &&
      h("p.pager", null, step("Newer", offset - PAGE, offset === 0), range, step("Older", offset + PAGE, offset + shown >= total))
    );
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
  return h(
    "div.stack",
    null,
    h(
      "div.filters",
      null,
      h("div.search", { role: "search" }, icon("search"), search),
      more(() => go(0)),
    ),
    found,
  );
}
