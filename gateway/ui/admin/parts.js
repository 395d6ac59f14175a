/** Parts that the views share. */

import { h, table } from "../lib/dom.js";
import { t } from "./messages.js";

/**
 * @param {string} label
 * @param {() => void} press
 */
export const button = (label, press) => h("button", { type: "button", onclick: press }, label);

/** @param {unknown} text */
export const cell = (text) => h("td", null, text === undefined || text === null ? "" : String(text));

/**
 * @param {string} title
 * @param {string[]} labels
 * @param {Node[][]} rows
 */
export function list(title, labels, rows) {
  const columns = labels.map((label, i) => ({ label, cell: (/** @type {Node[]} */ cells) => cells[i] }));
  const content = rows.length ? h("div.scroll", null, table(columns, rows, title)) : h("p.dim", null, t("nothing"));
  return h("section.panel", null, h("header", null, h("h2", null, title)), content);
}
