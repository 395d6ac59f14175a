/** What an operator may do with a market: each act with the sentence that says what it does. */

import * as format from "../lib/format.js";
import { payoutText } from "../lib/life.js";
import { readBack } from "./api.js";
import { counted, millis, money, percent } from "./parts.js";

/** @typedef {import("./types.js").Market} Market */
/** @typedef {import("./types.js").Proposal} Proposal */
/** @typedef {import("./types.js").Policy} Policy */
/** @typedef {import("./ask.js").Act} Act */
/** @typedef {import("./fields.js").Spec} Spec */

/** States as an operator reads them. */
export const STATES = /** @type {const} */ ({
  registered: "not open yet",
  active: "trading",
  paused: "on hold",
  closed: "closed",
  resolved: "paid out",
});

export const ROLES = ["admin", "markets", "resolver", "cashier", "support", "read-only"];
const TICKS = ["0.1", "0.01", "0.005", "0.0025", "0.001", "0.0001"].map((tick) => /** @type {const} */ ([tick, `${Number(tick) * 100}¢`]));

const PAID = "The payout is final; holders are being paid.";

/** @param {string} question */
export const quoted = (question) => `‘${question}’`;

/** @param {string[]} outcomes @returns {(readonly [string, string])[]} */
const payouts = (outcomes) => [
  ["first", outcomes[0]],
  ["second", outcomes[1]],
  ["half", `Half each: ${outcomes[0]} and ${outcomes[1]} pay 50¢`],
];

/** @param {Market["fee"]} [fee] @returns {Spec[]} */
export const feeFields = (fee) => [
  {
    name: "rate_ppm",
    group: "fee",
    label: "Taker fee",
    kind: "number",
    unit: "%",
    factor: 10_000,
    most: 100,
    value: fee?.ratePpm,
    help: "Makers pay none.",
  },
  {
    name: "exponent",
    group: "fee",
    label: "Where the fee is highest",
    kind: "choice",
    numeric: true,
    value: fee?.exponent ?? 1,
    choices: [
      ["0", "Nowhere: the same share at every price"],
      ["1", "At 50¢: rate × p × (1 − p)"],
      ["2", "At 50¢, little at the ends: rate × (p × (1 − p))²"],
    ],
  },
];

/** @param {Market["terms"]} [terms] @returns {Spec[]} */
export const clockFields = (terms) => [
  { name: "opens_at", label: "Opens", kind: "time", value: terms?.opens_at, help: "Without a time it opens by command." },
  { name: "closes_at", label: "Closes", kind: "time", value: terms?.closes_at, help: "Without a time it closes by command." },
  { name: "game_start_time", label: "The game starts", kind: "time", value: terms?.game_start_time },
  {
    name: "clear_book_on_start",
    label: "End resting orders when the game starts",
    kind: "flag",
    value: terms?.clear_book_on_start ?? false,
  },
  { name: "taker_delay_ms", label: "Takers wait", kind: "number", unit: "s", factor: 1000, most: 60, value: terms?.taker_delay_ms ?? 0 },
  {
    name: "rebate_ppm",
    label: "Makers get of the fee",
    kind: "number",
    unit: "%",
    factor: 10_000,
    most: 100,
    value: terms?.rebate_ppm ?? 0,
  },
];

/** @type {Spec} */
export const TICK = { name: "tick_size", label: "Tick", kind: "choice", choices: TICKS, value: "0.01", required: true };
/** @type {Spec} */
export const MINIMUM = {
  name: "minimum_order_size",
  label: "Smallest resting order",
  kind: "amount",
  unit: "shares",
  value: "5",
  required: true,
};

/** @param {Policy} policy @returns {Spec[]} */
export const policyFields = (policy) => [
  { name: "proposers", label: "Roles that propose", kind: "list", value: policy.proposers, help: "With commas." },
  { name: "disputers", label: "Roles that dispute", kind: "list", value: policy.disputers, help: "With commas." },
  {
    name: "minimum_window_seconds",
    label: "Shortest window for disputes",
    kind: "number",
    unit: "h",
    factor: 3600,
    value: policy.minimum_window_seconds,
  },
  { name: "second_person", label: "A second person finalises", kind: "flag", value: policy.second_person },
  { name: "by_time", label: "An undisputed proposal finalises itself after its window", kind: "flag", value: policy.by_time },
];

/** @param {Policy} policy */
export const policyText = (policy) =>
  [
    `Proposed by ${policy.proposers.join(", ") || "nobody"}`,
    `disputed by ${policy.disputers.join(", ") || "nobody"}`,
    policy.minimum_window_seconds > 0 ? `for ${policy.minimum_window_seconds / 3600} h at least` : "without a window",
    policy.second_person ? "a second person finalises" : policy.by_time ? "time finalises" : "one person is enough",
  ].join("; ");

/**
 * An act on a market; `more` are its other properties.
 * @param {{ condition: string, question: string }} market
 * @param {string} name
 * @param {string} path
 * @param {Act["says"]} says
 * @param {string} done
 * @param {Partial<Act>} [more]
 * @returns {Act}
 */
const on = ({ condition }, name, path, says, done, more = {}) => ({
  name,
  path: `/markets/${path}`,
  says,
  done,
  ...more,
  fixed: { condition_id: condition, ...more.fixed },
});

/**
 * A market as it is now.
 * @param {string} condition
 * @returns {Promise<Market | undefined>}
 */
export async function readMarket(condition) {
  const found = ["false", "true"].map((archived) => readBack("/markets/figures", "markets", { search: condition, archived, limit: 1 }));
  const pages = await Promise.all(found);
  return pages.flatMap(({ rows }) => rows)[0];
}

/**
 * A sentence with the figures of the moment in which it is read.
 * @param {Market} market
 * @param {(now: Market) => string} text
 */
const fresh = (market, text) => async () => `${quoted(market.question)}: ${text((await readMarket(market.conditionId)) ?? market)}`;

/** @param {Market} market */
const named = ({ conditionId: condition, question }) => ({ condition, question });

/** @param {Proposal} row */
const proposed = ({ condition_id: condition, question }) => ({ condition, question });

/** @param {Market} market */
const open = (market) => {
  const from = market.terms?.opens_at ? `, not only from ${format.when(market.terms.opens_at)} on` : "";
  return on(named(market), "Open", "activate", `${quoted(market.question)}: it trades at once${from}`, "It is open.");
};

/** @param {Market} market */
const hold = (market) => {
  const says = fresh(
    market,
    ({ liveOrders }) => `trading stops until you resume it, ${counted(liveOrders, "resting order", "stays", "stay")}`,
  );
  return on(named(market), "Hold", "pause", says, "It is on hold.");
};

/** @param {Market} market */
const resume = (market) => {
  const says = market.holds?.includes("upstream") ? "your hold ends, that of the upstream stays" : "trading goes on at once";
  return on(named(market), "Resume", "resume", `${quoted(market.question)}: ${says}`, "The hold has ended.");
};

/** @param {Market} market */
export const lift = (market) => {
  const says = `on ${quoted(market.question)}: it trades although its upstream holds it`;
  return on(named(market), "Lift the upstream’s hold", "resume", says, "The hold has ended.", { fixed: { hold: "upstream" } });
};

/** @param {Market} market */
const close = (market) => {
  const says = fresh(market, ({ liveOrders }) => `${counted(liveOrders, "resting order", "ends", "end")}, trading stops`);
  return on(named(market), "Close", "close", says, "It is closed. Propose its payout when the result is known.", { final: true });
};

/** @param {string[]} outcomes @returns {Spec} */
const payoutField = (outcomes) => ({
  name: "payout",
  label: "Outcome that pays $1.00 a share",
  kind: "choice",
  choices: payouts(outcomes),
  required: true,
});

/** @param {string} condition @param {string} question @param {string[]} outcomes @param {number} [replaced] number of a disputed proposal */
export const propose = (condition, question, outcomes, replaced) => {
  const of = `${replaced ? "" : "of "}${quoted(question)}: nothing is paid before it is finalised`;
  const says = replaced ? `${of}; it replaces the disputed proposal` : of;
  return on({ condition, question }, replaced ? "Propose again" : "Propose a payout", "propose", says, "It is proposed.", {
    fixed: { proposal: replaced, reference: crypto.randomUUID() },
    fields: [
      payoutField(outcomes),
      { name: "source", label: "Source", help: "A link or words: what decides the answer." },
      { name: "evidence_sha256", label: "Evidence", kind: "file", help: "The page sends the file’s SHA-256 only. Keep the file." },
      {
        name: "window_seconds",
        label: "Window for disputes",
        kind: "number",
        unit: "h",
        factor: 3600,
        most: 720,
        help: "The policy’s shortest without.",
      },
    ],
  });
};

/** @param {Market} market */
export const payOut = (market) => {
  const says = fresh(market, ({ openInterest }) => `holders of the outcome get ${money(openInterest)} in all, in one step`);
  return on(named(market), "Pay out", "resolve", says, PAID, { final: true, fields: [payoutField(market.outcomes)] });
};

/** @param {Proposal} row */
export const finalise = (row) => {
  const says = `${quoted(row.question)}: ${payoutText(row.payout, row.outcomes)} is the payout, all holders are paid`;
  return on(proposed(row), "Finalise", "finalise", says, PAID, { final: true, fixed: { proposal: row.proposal } });
};

/** @param {Proposal} row */
export const dispute = (row) => {
  const says = `that ${row.outcome} is the payout of ${quoted(row.question)}: it cannot be finalised as it is`;
  const counter = {
    name: "counter",
    label: "What is right",
    kind: /** @type {const} */ ("choice"),
    choices: [["", "I do not say"], ...payouts(row.outcomes)],
  };
  return on(proposed(row), "Dispute", "dispute", says, "It is disputed.", { fields: [/** @type {Spec} */ (counter)], reasoned: true });
};

/** @param {Proposal} row */
export const withdraw = (row) => {
  const says = `the proposal that ${row.outcome} is the payout of ${quoted(row.question)}: the market waits for another one`;
  return on(proposed(row), "Withdraw", "withdraw-proposal", says, "The proposal is withdrawn.");
};

/**
 * Acts that change how a market trades or is shown.
 * @param {Market} market
 * @param {import("./types.js").Words} words
 * @param {Policy} policy that is in force
 * @returns {Act[]}
 */
export function changes(market, words, policy) {
  const of = `of ${quoted(market.question)}`;
  const it = named(market);
  const fee = feeFields(market.fee).map((spec) => ({ ...spec, group: undefined, required: true }));
  const archived = `${quoted(market.question)}${market.archived ? " in lists again" : ": lists and search leave it out, holders keep what they have"}`;
  const own = { path: "/policy", fields: policyFields(policy) };
  const open = [
    on(it, "Change the clock", "terms", `${of}: what falls due by itself`, "The clock is changed.", { fields: clockFields(market.terms) }),
    on(it, "Change the fee", "fee", `${of}, from the next trade on`, "The fee is changed.", { fields: fee }),
    on(it, "Refine the tick", "tick", `${of}: prices get finer, resting orders stay`, "The tick is finer.", {
      final: true,
      fields: [{ ...TICK, value: market.tick }],
    }),
    on(it, "Change the minimum", "minimum", `${of}: smaller new orders do not rest`, "The minimum is changed.", {
      fields: [{ ...MINIMUM, value: market.minimumSize }],
    }),
  ];
  return [
    ...(["registered", "active", "paused"].includes(market.status) ? open : []),
    ...(market.own
      ? [
          on(it, "Edit the words", "describe", `${of}: the catalog shows the new ones`, "The words are changed.", {
            fields: wordFields(market, words),
          }),
        ]
      : []),
    on(it, "Set a policy", "", `${of}: who proposes and disputes its payout, in place of the site’s`, "The policy is set.", own),
    ...(market.policy
      ? [on(it, "Clear the policy", "", `${of}: the site’s applies again`, "The site’s policy applies.", { path: "/policy/clear" })]
      : []),
    on(it, market.archived ? "Show" : "Archive", "archive", archived, market.archived ? "Lists show it." : "Lists leave it out.", {
      fixed: { archived: !market.archived },
    }),
  ];
}

/** @param {Market} market @param {import("./types.js").Words} words @returns {Spec[]} */
const wordFields = (market, words) => [
  { name: "question", label: "Question", value: market.question, required: true },
  { name: "description", label: "Rules", kind: "long", value: words.description },
  { name: "tags", label: "Topics", kind: "list", value: words.tags ?? [], help: "With commas." },
  { name: "end_date", label: "When the result is expected", kind: "time", value: market.endDate },
];

/**
 * What comes next in the life of a market.
 * @param {Market} market
 * @returns {Act[]}
 */
export function nextActs(market) {
  switch (market.status) {
    case "registered":
      return [open(market), close(market)];
    case "active":
      return [hold(market), close(market)];
    case "paused":
      return [...((market.holds ?? ["operator"]).includes("operator") ? [resume(market)] : []), close(market)];
    default:
      return [];
  }
}

/** @param {Market["fee"]} fee */
export const feeText = (fee) => (fee.ratePpm === 0 ? "none" : `${percent(fee.ratePpm)} of takers`);

/**
 * The stage of a market for the page's own words of what is due.
 * @param {Market} market
 * @param {Proposal} [proposal]
 * @returns {import("../lib/life.js").Life}
 */
export const lifeOf = ({ status, terms }, proposal) => ({
  stage: proposal ? "proposed" : status,
  opens_at: millis(terms?.opens_at),
  closes_at: millis(terms?.closes_at),
  game_start_time: millis(terms?.game_start_time),
  clear_book_on_start: terms?.clear_book_on_start ?? false,
  taker_delay_ms: terms?.taker_delay_ms ?? 0,
  rebate_rate: (terms?.rebate_ppm ?? 0) / 1_000_000,
  proposal: proposal && {
    payout: proposal.payout,
    challenge_ends: millis(proposal.challenge_ends),
    by_time: proposal.by_time,
    source: proposal.source,
    disputed: !!proposal.dispute,
  },
});
