/** One market: its figures, its terms, what comes next, and everything that can be changed. */

import { h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { payoutText } from "../lib/life.js";
import { read } from "./api.js";
import { actList } from "./log_view.js";
import * as acts from "./market_acts.js";
import { dueText, stateTag } from "./markets_view.js";
import { facts } from "../components/figures.js";
import { cards, money, panel, percent, price, shares } from "./parts.js";
import { proposalRecords } from "./review_view.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./types.js").Market} Market */

/**
 * @param {Desk} desk
 * @param {string} condition
 */
export async function marketView(desk, condition) {
  const latest = actList(desk, "Latest acts on it", () => ({ condition_id: condition, limit: 20 }), [
    h("a", { href: `#log/${condition}` }, "All acts"),
  ]);
  // The search of a large journal takes its time, which the market does not wait for.
  latest.load();
  const [market, words, review, status] = await Promise.all([
    acts.readMarket(condition),
    /** @type {Promise<import("./types.js").Words>} */ (read(`/markets/${condition}`)),
    /** @type {Promise<import("./types.js").Review>} */ (read("/review")),
    /** @type {Promise<import("./types.js").Status>} */ (read("/status")),
  ]);
  if (!market) return h("p.empty", null, "There is no such market.");
  const proposals = review.proposals.filter((row) => row.condition_id === condition);
  const next = [...acts.nextActs(market), ...payoutActs(market, proposals.length)];
  const lifted = market.holds?.includes("upstream") && desk.me.role === "admin" && [acts.lift(market)];
  const policy = market.policy ?? status.exchange.policy;
  const buttons = (/** @type {acts.Act[]} */ list) =>
    h(
      "div.buttons.start",
      null,
      list.map((act) => desk.button(condition, act)),
    );
  return h(
    "div.stack",
    null,
    h("p", null, h("a", { href: "#markets" }, "← Markets")),
    h("div.market-title", null, h("h1", null, market.question || market.slug), stateTag(market)),
    cards([
      [
        `Price of ${market.outcomes[0]}`,
        price(market.price),
        `${market.bestBid ? `bid ${price(market.bestBid)}` : "no bid"}, ${market.bestAsk ? `ask ${price(market.bestAsk)}` : "no ask"}`,
      ],
      ["Volume", money(market.volume), "since the beginning"],
      ["Open interest", money(market.openInterest), "locked by its shares"],
      ["Resting orders", format.count(market.liveOrders), ""],
    ]),
    panel(
      desk,
      "What comes next",
      [
        h(
          "p.says",
          null,
          market.payout
            ? `${payoutText(market.payout, market.outcomes)} is the payout.`
            : dueText(market, review) || "Nothing is due by itself.",
        ),
        buttons([...(lifted || []), ...next]),
      ],
      condition,
    ),
    proposals.length > 0 && proposalRecords(desk, proposals),
    panel(desk, "How it trades", [terms(market, policy), buttons(acts.changes(market, words, policy))]),
    panel(desk, "Words", [wordFacts(market, words)]),
    latest.found,
  );
}

/** @param {Market} market @param {number} proposals @returns {acts.Act[]} */
const payoutActs = (market, proposals) =>
  market.status === "closed" && proposals === 0
    ? [acts.propose(market.conditionId, market.question, market.outcomes), acts.payOut(market)]
    : [];

/** @param {Market} market @param {acts.Policy} policy */
const terms = ({ terms: clock, ...market }, policy) =>
  facts([
    ["Opens", format.when(clock?.opens_at)],
    ["Closes", format.when(clock?.closes_at)],
    clock?.game_start_time && [
      "Game starts",
      `${format.when(clock.game_start_time)}${clock.clear_book_on_start ? ", resting orders end" : ""}`,
    ],
    ["Takers wait", clock?.taker_delay_ms ? format.delay(clock.taker_delay_ms) : "no"],
    ["Taker fee", acts.feeText(market.fee)],
    ["Makers get", clock?.rebate_ppm ? `${percent(clock.rebate_ppm)} of each fee` : "nothing of it"],
    ["Tick", `${Number(market.tick) * 100}¢`],
    ["Smallest resting order", `${shares(market.minimumSize)} shares`],
    ["Payout", `${acts.policyText(policy)}${market.policy ? "" : " (the site’s policy)"}`],
    market.holds && ["Held by", market.holds.join(" and ")],
  ]);

/** @param {Market} market @param {import("./types.js").Words} words */
const wordFacts = (market, words) =>
  facts([
    ["Outcomes", market.outcomes.join(" and ")],
    ["Rules", h("span.rules", null, words.description || "No rules are written.")],
    ["Topics", (words.tags ?? []).join(", ") || format.NONE],
    ["Address", h("span.mono", null, market.slug)],
    ["Condition", h("span.mono", null, market.conditionId)],
    ["Whose words", market.own ? "yours" : "the upstream’s"],
  ]);
