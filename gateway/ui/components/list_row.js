/** Rows of markets and of outcomes: their cells, the head above them, and "Buy Yes 39¢", "Buy No 63¢". */

import { h, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { bestPrice, figuresOf } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { go, href } from "../lib/router.js";
import { set } from "../lib/store.js";

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

/**
 * @param {import("../lib/markets.js").Market} market
 * @param {(outcome: number) => void} [pick] opens the ticket; without it the market's page does
 */
export function tradeButtons(market, pick) {
  const leave = (/** @type {number} */ outcome) => {
    set("draft", { market: market.id, outcome, side: "BUY" });
    go(href("market", market.slug));
  };
  const prices = market.outcomes.map(() => h("strong.num"));
  const buttons = market.outcomes.map((outcome, i) =>
    h(
      `button.outcome.${i === 0 ? "yes" : "no"}`,
      { type: "button", onclick: () => (pick ?? leave)(i) },
      h("span.label", null, `${t("buy")} ${outcome}`),
      prices[i],
    ),
  );
  const element = h("div.trade-buttons", null, buttons);
  return {
    element,
    /** @param {{ bid: bigint | null, ask: bigint | null } | null} [known] figures of the market, else those of the list */
    update(known = figuresOf(market.id)) {
      prices.forEach((price, i) => setText(price, format.price(bestPrice(known, i), 1_000n).replace(/\.0(?=\D)/, "")));
      element.hidden = Boolean(figuresOf(market.id)?.resolved);
    },
  };
}
