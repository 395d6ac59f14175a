/** "Buy Yes 39¢" and "Buy No 63¢" of a market. */

import { h, setText } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { bestPrice, figuresOf } from "../lib/markets.js";
import { t } from "../lib/messages.js";
import { go, href } from "../lib/router.js";
import { set } from "../lib/store.js";

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
