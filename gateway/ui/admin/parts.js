/** Parts that the views share. */

import { micros } from "../lib/decimal.js";
import { h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { card } from "../components/figures.js";
import { told } from "../components/states.js";
import { explained } from "./api.js";

/** @typedef {import("../lib/dom.js").Child} Child */
/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {{ label: string, class?: string }} Column `label` is also read beside the value on a phone */
/** @typedef {{ key?: string, cells: (Child | Child[])[] }} Row */

/**
 * A table that becomes a list of cards on a phone. A row shows the result of its last act.
 * @param {Desk} desk
 * @param {{ title: string, columns: Column[], none: string, key?: string, tools?: Child[] }} of
 * @param {Row[]} rows
 */
export function records(desk, { title, columns, none, key, tools = [] }, rows) {
  const head = h(
    "tr",
    null,
    columns.map((column) => h("th", { scope: "col", class: column.class }, column.label)),
  );
  const body = rows.map((row) =>
    h(
      "tr",
      { "data-key": row.key },
      row.cells.map((cell, i) =>
        h("td", { class: columns[i].class, "data-label": columns[i].label }, cell, i === 0 && desk.result(row.key)),
      ),
    ),
  );
  const content = rows.length
    ? h("table.records", null, h("caption.hidden", null, title), h("thead", null, head), h("tbody", null, body))
    : h("p.empty", null, none);
  return panel(desk, title, [content], key, tools);
}

/**
 * @param {Desk} desk
 * @param {string} title
 * @param {Child[]} content
 * @param {string} [key] of the acts whose result it shows
 * @param {Child[]} [tools]
 */
export const panel = (desk, title, content, key, tools = []) =>
  h(
    "section.panel",
    { "aria-label": title },
    h("header", null, h("h2", null, title), h("span.grow"), h("div.tools", null, tools)),
    desk.result(key),
    content,
  );

/**
 * @param {(readonly [string, string, string?])[]} figures label, value, a line below
 */
export const cards = (figures) =>
  h(
    "div.cards",
    null,
    figures.map(([label, value, note]) => card(label, value, { note })),
  );

/**
 * @param {unknown} error
 * @returns {HTMLElement}
 */
export function problem(error) {
  return h("div.problem", { role: "alert" }, told(explained(error)));
}

/** @param {string} condition @param {string} text */
export const marketLink = (condition, text) => h("a.title-link", { href: `#market/${condition}` }, text || format.address(condition));

/** @param {string} wallet */
export const walletLink = (wallet) => h("a.mono", { href: `#user/${wallet}`, title: wallet }, format.address(wallet));

/** @param {string | number} amount whole units */
export const money = (amount) => format.money(micros(amount));

/** @param {string | number} size whole shares */
export const shares = (size) => format.shares(micros(size));

/** @param {string | number} price */
export const price = (price) => format.price(micros(price), 1_000n);

/** @param {string | undefined} iso @returns {number} milliseconds, 0 without a time */
export const millis = (iso) => (iso ? Date.parse(iso) : 0);

/** @param {string} iso */
export const ago = (iso) => `${format.age(Math.max(0, (Date.now() - millis(iso)) / 1000))} ago`;

/** @param {number} ppm */
export const percent = (ppm) => `${ppm / 10_000}%`;

/**
 * "1 order ends", "2 orders end".
 * @param {number} count
 * @param {string} noun
 * @param {string} does of one
 * @param {string} do_ of many
 */
export const counted = (count, noun, does, do_) => `${format.count(count)} ${count === 1 ? `${noun} ${does}` : `${noun}s ${do_}`}`;
