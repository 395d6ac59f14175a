/** Rows of markets and of outcomes: their cells, and the head above them. */

import { h } from "../lib/dom.js";
import { t } from "../lib/messages.js";

/**
 * @param {string} name of the column
 * @param {...Node} content
 */
export const cell = (name, ...content) => h(`span.num.c-${name}`, { role: "cell" }, content);

/**
 * @param {string} look of a row
 * @param {readonly import("../lib/messages.js").Key[]} names of the columns
 */
export function listHead(look, names) {
  const cells = names.map((name) => h(`span.c-${name}`, { role: "columnheader" }, t(name)));
  return h("div.list-head", { role: "rowgroup" }, h(look, { role: "row" }, cells));
}
