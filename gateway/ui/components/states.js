/** Empty, loading, failed and refused look the same everywhere. */

import { fill, h } from "../lib/dom.js";
import { explain, reason } from "../lib/rest.js";
import { t } from "../lib/messages.js";

/**
 * Grey bars where figures will be.
 * @param {number} count
 * @param {"lines" | "rows" | "chart" | "levels"} [layout] that they will have
 */
export const skeleton = (count, layout = "lines") =>
  h(
    `div.skeleton.${layout}`,
    { role: "status", "aria-label": t("loading") },
    Array.from({ length: count }, () => h("div.bar", null)),
  );

/**
 * @param {string} text
 * @param {Node | null} [action]
 */
export const empty = (text, action = null) => h("div.empty", null, h("p", null, text), action);

/**
 * @param {HTMLElement} place
 * @param {unknown} error
 * @param {() => void} retry
 */
export function failed(place, error, retry) {
  const words = h("p", null, t("failed", { reason: reason(error) }));
  fill(place, h("div.empty.failed", { role: "alert" }, words, h("button", { type: "button", onclick: retry }, t("retry"))));
}

/**
 * An error in the page's words, and below them the exchange's own text.
 * @param {{ words: string, detail: string }} explained
 */
export const told = ({ words, detail }) => [
  h("p", null, words),
  detail && detail !== words && h("p.answer", null, `${t("answer_of_exchange")}: `, h("code", null, detail)),
];

/**
 * Says why something was refused.
 * @param {HTMLElement} place
 * @param {unknown} error
 */
export const refuse = (place, error) => fill(place, told(explain(error)));
