/** Labelled inputs of the ticket. */

import { h } from "../lib/dom.js";
import { t } from "../lib/messages.js";

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
 * @param {{ suffix?: Node, step?: (sign: 1 | -1) => void }} [parts] `step` adds buttons for less and more
 */
export function field(id, label, input, { suffix, step } = {}) {
  const button = (/** @type {1 | -1} */ sign, /** @type {string} */ text) =>
    h("button.step", { type: "button", "aria-label": t(sign > 0 ? "more" : "less", { name: label }), onclick: () => step?.(sign) }, text);
  return h(
    "div.field",
    null,
    h("label", { for: id }, label),
    h(step ? "div.input.stepped" : "div.input", null, step && button(-1, "−"), input, suffix, step && button(1, "+")),
  );
}
