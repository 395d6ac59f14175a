/** Why an order cannot be signed, by the rules that a page can check (docs/verify/rules.md, sections 3, 4 and 9). */

import { ONE } from "./decimal.js";
import * as format from "./format.js";
import { t } from "./messages.js";
import { CENT, LOT, amounts } from "./quote.js";

/** A GTD order ends a minute before it expires (section 14), so it expires later than that. */
const GTD_LEAST_MS = 90_000;

/**
 * @param {import("./quote.js").Draft} draft
 * @param {import("./quote.js").Quote} found
 * @param {object} known
 * @param {bigint} known.tick
 * @param {bigint} known.minimum
 * @param {boolean} known.market the price is what the book gives
 * @param {number} known.expires milliseconds, NaN when there is none
 * @param {boolean} known.postOnly
 * @param {bigint | null} known.free cash or shares of the account, null while they are not known
 * @param {bigint} known.needed by a buy
 * @param {bigint} known.marketable what a buy that trades at once spends at least
 * @returns {string} empty when nothing speaks against it
 */
export function problemOf(draft, found, known) {
  return (
    (known.market ? "" : priceProblem(draft, known)) ||
    sizeProblem(draft, known) ||
    termsProblem(draft, found, known) ||
    marketableProblem(draft, found, known.marketable) ||
    (known.free === null ? "" : fundsProblem(draft, known.free, known.needed))
  );
}

/**
 * @param {import("./quote.js").Draft} draft
 * @param {{ tick: bigint }} known
 */
function priceProblem({ price }, { tick }) {
  if (price === 0n) return t("bad_price");
  if (price < tick || price > ONE - tick) return t("b_range", { low: format.price(tick, tick), high: format.price(ONE - tick, tick) });
  return price % tick === 0n ? "" : t("b_tick", { tick: format.price(tick, tick) });
}

/**
 * @param {import("./quote.js").Draft} draft
 * @param {{ minimum: bigint }} known
 */
function sizeProblem({ shares, budget, type }, { minimum }) {
  if (budget !== undefined) return budget <= 0n ? t("bad_amount") : budget % CENT ? t("b_cents") : "";
  if (shares <= 0n) return t("bad_shares");
  if (shares % LOT) return t("b_lots");
  return shares < minimum && (type === "GTC" || type === "GTD") ? t("b_minimum", { shares: format.shares(minimum) }) : "";
}

/**
 * @param {import("./quote.js").Draft} draft
 * @param {import("./quote.js").Quote} found
 * @param {{ expires: number, postOnly: boolean }} known
 */
function termsProblem({ type }, found, { expires, postOnly }) {
  if (type === "GTD" && Number.isNaN(expires)) return t("bad_expiry");
  if (type === "GTD" && expires < Date.now() + GTD_LEAST_MS) return t("b_expiry", { time: format.left(GTD_LEAST_MS) });
  if (postOnly && found.now.shares > 0n) return t("b_crosses");
  return found.kills ? t("b_kills") : "";
}

/**
 * @param {import("./quote.js").Draft} draft
 * @param {import("./quote.js").Quote} found
 * @param {bigint} least
 */
function marketableProblem(draft, found, least) {
  const trades = found.now.shares > 0n;
  const isSmall = draft.side === "BUY" && trades && amounts(draft).makerAmount < least;
  return isSmall ? t("b_marketable", { amount: format.money(least) }) : "";
}

/**
 * @param {import("./quote.js").Draft} draft
 * @param {bigint} free
 * @param {bigint} needed
 */
function fundsProblem({ side, shares }, free, needed) {
  if (side === "BUY") return needed > free ? t("b_cash", { amount: format.money(free) }) : "";
  return shares > free ? t("b_shares", { shares: format.shares(free) }) : "";
}
