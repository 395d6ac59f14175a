/** Names and their values: cards, lists of facts, lines of figures. */

import { h } from "../lib/dom.js";

/** @typedef {import("../lib/dom.js").Child} Child */

/**
 * @param {string} label
 * @param {string} value
 * @param {{ note?: string, tone?: string }} [more] a line below, a colour
 */
export const card = (label, value, { note, tone = "" } = {}) =>
  h(
    "div.card",
    null,
    h("span.dim", null, label),
    h("strong", { class: `num ${tone}` }, value),
    note !== undefined && h("small.dim", null, note),
  );

/**
 * Names and values, the values selectable and breaking anywhere.
 * @param {(readonly [string, Child | Child[]] | false | undefined | 0 | "")[]} rows what a thing does not have is left out
 */
export const facts = (rows) =>
  h(
    "dl.fact-list",
    null,
    rows.map((row) => (row ? h("div", null, h("dt", null, row[0]), h("dd", null, row[1])) : null)),
  );

/**
 * A line of `dl.figures`.
 * @param {string} name
 * @param {string} value
 * @param {string} [look]
 */
export const figure = (name, value, look = "") => h("div", { class: look }, h("dt", null, name), h("dd.num", null, value));
