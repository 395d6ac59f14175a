/** Labelled inputs of the ticket. */

import { h } from "../lib/dom.js";

/**
 * @param {string} id
 * @param {() => void} changed
 * @param {string} [value]
 * @returns {HTMLInputElement}
 */
export const number = (id, changed, value = "") =>
  /** @type {HTMLInputElement} */ (
    h("input.num", { id, value, type: "text", inputmode: "decimal", autocomplete: "off", oninput: changed })
  );

/**
 * @param {string} id
 * @param {string} label
 * @param {Node} input
 * @param {Node} [suffix]
 */
export const field = (id, label, input, suffix) =>
  h("div.field", null, h("label", { for: id }, label), h("div.input", null, input, suffix));
