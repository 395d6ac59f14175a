/** What comes next in the life of a market, as the visitor reads it. */

import { ONE } from "./decimal.js";
import * as format from "./format.js";
import { t } from "./messages.js";

/** @typedef {import("./open_market.js").Life} Life */

/**
 * The payout in the words of the market's outcomes.
 * @param {"yes" | "no" | "half"} payout
 * @param {string[]} outcomes
 */
export const payoutText = (payout, outcomes) => (payout === "half" ? t("payout_half") : outcomes[payout === "yes" ? 0 : 1]);

/**
 * What a resolved market paid, in the words of its outcomes.
 * @param {bigint[]} payouts of a share of each outcome
 * @param {string[]} outcomes
 */
export const payoutOf = ([first], outcomes) => payoutText(first === 0n ? "no" : first === ONE ? "yes" : "half", outcomes);

/**
 * The stage as a word.
 * @param {Life} life
 * @param {string[]} outcomes
 */
export function stageText(life, outcomes) {
  const payout = life.proposal ? payoutText(life.proposal.payout, outcomes) : "";
  return t(`status_${/** @type {"proposed"} */ (life.stage)}`, { payout });
}

/**
 * The countdown to the next thing that time does, and the delay of takers.
 * @param {Life} life
 * @param {number} now milliseconds
 */
export function nextText(life, now) {
  const trades = life.stage === "active" || life.stage === "paused";
  const due = [
    life.stage === "registered" && life.opens_at && { key: "opens_in", at: life.opens_at },
    trades && life.clear_book_on_start && life.game_start_time && { key: "clears_in", at: life.game_start_time },
    (trades || life.stage === "registered") && life.closes_at && { key: "closes_in", at: life.closes_at },
    life.stage === "proposed" && life.proposal && { key: "challenge_in", at: life.proposal.challenge_ends },
  ];
  const coming = due.filter((it) => it && it.at > now).map((it) => /** @type {{ key: string, at: number }} */ (it));
  const [next] = coming.sort((one, other) => one.at - other.at);
  const parts = next ? [t(/** @type {"opens_in"} */ (next.key), { time: format.left(next.at - now) })] : [];
  if (trades && life.taker_delay_ms > 0) parts.push(t("takers_wait", { time: format.delay(life.taker_delay_ms) }));
  const { settlement } = life;
  if (settlement && settlement.accounts > 0)
    parts.push(t("settling", { percent: Math.floor((100 * settlement.accounts_done) / settlement.accounts) }));
  return parts.join(" · ");
}
