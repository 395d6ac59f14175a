/** Rules of the market, or what proves its figures. */

import { micros } from "../lib/decimal.js";
import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { payoutText } from "../lib/life.js";
import { t } from "../lib/messages.js";
import { View, get, open } from "../lib/store.js";
import { facts } from "./figures.js";
import { receiptLink } from "./receipt_link.js";

const PROOFS = 8;

class MarketFacts extends View {
  body = h("div.facts");
  drawn = "";

  connectedCallback() {
    fill(this, this.body);
    if (this.getAttribute("show") === "proof") this.follow(["book", "trades"], () => this.proof());
    else this.follow("terms", () => this.rules());
  }

  rules() {
    const market = open("market");
    const terms = get("terms");
    const book = open("book");
    const fee = terms?.fee;
    const feeText = !fee ? format.NONE : fee.rate === 0n ? t("fee_none") : `${format.percent(fee.rate)} × (p(1−p))^${fee.exponent}`;
    fill(
      this.body,
      h("p.rules", null, terms?.description || market.description || t("no_description")),
      facts([
        [t("closes"), format.date(market.ends)],
        [t("tick"), book.ready ? format.price(book.tick, book.tick) : format.NONE],
        [t("minimum"), book.ready ? `${format.shares(book.minimum)} ${t("shares").toLowerCase()}` : format.NONE],
        [t("taker_fee"), feeText],
        ...(terms ? lifeFacts(terms.life, market.outcomes) : []),
        [t("market_type"), terms ? t(terms.negRisk ? "negative_risk" : "plain_market") : format.NONE],
        [t("condition"), market.id],
        ...market.tokens.map((token, i) => /** @type {const} */ ([t("token_of", { outcome: market.outcomes[i] }), token])),
      ]),
    );
  }

  proof() {
    const book = open("book");
    const trades = (get("trades") ?? []).slice(0, PROOFS);
    const signature = `${book.hash}${trades[0]?.receipt}${book.sequence}`;
    if (signature === this.drawn) return;
    this.drawn = signature;
    fill(
      this.body,
      facts([
        [t("newest"), format.count(book.sequence)],
        [t("book_hash"), book.hash],
      ]),
      h("p.dim", null, t("book_hash_help")),
      h("p", null, t("proof_of_book")),
      h(
        "ul.receipts",
        null,
        trades.map((trade) =>
          h("li", null, h("span.dim.num", null, format.tradeTime(trade.time)), receiptLink(trade.receipt, trade.receipt, trade.receipt)),
        ),
      ),
    );
  }
}

/**
 * Clock, delay, rebate and proposal.
 * @param {import("../lib/open_market.js").Life} life
 * @param {string[]} outcomes
 * @returns {(readonly [string, string] | false | undefined | 0 | "")[]}
 */
function lifeFacts(life, outcomes) {
  const rebate = micros(life.rebate_rate);
  const start = life.game_start_time && format.dateTime(life.game_start_time);
  return [
    life.opens_at && [t("opens"), format.dateTime(life.opens_at)],
    life.closes_at && [t("closes"), format.dateTime(life.closes_at)],
    start && [t("game_start"), life.clear_book_on_start ? t("game_start_clears", { time: start }) : start],
    life.taker_delay_ms > 0 && [t("taker_delay"), format.delay(life.taker_delay_ms)],
    rebate > 0n && [t("maker_rebate"), t("rebate_of_fee", { percent: format.percent(rebate) })],
    life.proposal && [t("proposal"), payoutText(life.proposal.payout, outcomes)],
    life.proposal?.source ? [t("proposal_source"), life.proposal.source] : false,
    life.proposal && [t("challenge_ends"), format.dateTime(life.proposal.challenge_ends)],
  ];
}

customElements.define("market-facts", MarketFacts);
