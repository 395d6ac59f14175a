/** Empty, loading and failed panels look the same everywhere. */

import { h } from "../lib/dom.js";
import { reason } from "../lib/rest.js";
import { t } from "../lib/messages.js";

/**
 * Grey bars where rows will be.
 * @param {number} rows
 */
export function skeleton(rows) {
  return h(
    "div.skeleton",
    { role: "status", "aria-label": t("loading") },
    Array.from({ length: rows }, () => h("div.bar", null)),
  );
}

/**
 * @param {string} text
 * @param {Node | null} [action]
 */
export const empty = (text, action = null) => h("div.empty", null, h("p", null, text), action);

/**
 * @param {unknown} error
 * @param {() => void} retry
 */
export function failed(error, retry) {
  return h(
    "div.empty.failed",
    { role: "alert" },
    h("p", null, t("failed", { reason: reason(error) })),
    h("button", { type: "button", onclick: retry }, t("retry")),
  );
}
