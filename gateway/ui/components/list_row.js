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

/** A button has room for "Buy" and an outcome of this many characters, else for the outcome alone. */
const WITH_BUY = 8;
/** A button has room for an outcome of this many characters, over two lines. */
const MOST = 12;

/**
 * Buttons that buy each outcome. Where a name has no room, one button opens the market, which shows it whole:
 * nobody buys an outcome whose name is cut off.
 * @param {import("../lib/markets.js").Market} market
 * @param {(outcome: number) => void} [pick] opens the ticket; without it the market's page does
 */
export function tradeButtons(market, pick) {
  const leave = (/** @type {number} */ outcome) => {
    set("draft", { market: market.id, outcome, side: "BUY" });
    go(href("market", market.slug));
  };
  const longest = Math.max(...market.outcomes.map((outcome) => outcome.length));
  const prices = market.outcomes.map(() => h("strong.num"));
  const buttons = market.outcomes.map((outcome, i) =>
    h(
      `button.outcome.${i === 0 ? "yes" : "no"}`,
      { type: "button", onclick: () => (pick ?? leave)(i) },
      h("span.label", null, longest > WITH_BUY ? outcome : `${t("buy")} ${outcome}`),
      // Without a space the name and its price are one word.
      " ",
      prices[i],
    ),
  );
  const choice = h("button.choose", { type: "button", onclick: () => (pick ?? leave)(0) }, t("choose_outcome"));
  const element = h("div.trade-buttons", null, longest > MOST ? choice : buttons);
  return {
    element,
    /** @param {{ bid: bigint | null, ask: bigint | null } | null} [known] figures of the market, else those of the list */
    update(known = figuresOf(market.id)) {
      market.outcomes.forEach((outcome, i) => {
        const price = format.price(bestPrice(known, i), 1_000n).replace(/\.0(?=\D)/, "");
        setText(prices[i], price);
        const label = t("act_at", { side: t("buy"), outcome, price });
        if (longest > WITH_BUY && buttons[i].ariaLabel !== label) buttons[i].ariaLabel = label;
      });
      element.hidden = Boolean(figuresOf(market.id)?.resolved);
    },
  };
}
