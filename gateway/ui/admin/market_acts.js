/** What an operator may do with a market: each act with the sentence that says what it does. */

import { payoutText } from "../lib/life.js";
import { counted, millis, money, percent, when } from "./parts.js";

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
  { name: "clear_book_on_start", label: "End resting orders when the game starts", kind: "flag", value: terms?.clear_book_on_start ?? false },
  { name: "taker_delay_ms", label: "Takers wait", kind: "number", unit: "s", factor: 1000, most: 60, value: terms?.taker_delay_ms ?? 0 },
  { name: "rebate_ppm", label: "Makers get of the fee", kind: "number", unit: "%", factor: 10_000, most: 100, value: terms?.rebate_ppm ?? 0 },
];

/** @type {Spec} */
export const TICK = { name: "tick_size", label: "Tick", kind: "choice", choices: TICKS, value: "0.01", required: true };
/** @type {Spec} */
export const MINIMUM = { name: "minimum_order_size", label: "Smallest resting order", kind: "amount", unit: "shares", value: "5", required: true };

/** @param {Policy} policy @returns {Spec[]} */
export const policyFields = (policy) => [
  { name: "proposers", label: "Roles that propose", kind: "list", value: policy.proposers, help: "With commas." },
  { name: "disputers", label: "Roles that dispute", kind: "list", value: policy.disputers, help: "With commas." },
  { name: "minimum_window_seconds", label: "Shortest window for disputes", kind: "number", unit: "h", factor: 3600, value: policy.minimum_window_seconds },
  { name: "second_person", label: "A second person finalises", kind: "flag", value: policy.second_person },
  { name: "by_time", label: "An undisputed proposal finalises itself after its window", kind: "flag", value: policy.by_time },
];

/** @param {Policy} policy */
export const policyText = (policy) =>
  [
    `${policy.proposers.join(", ") || "nobody"} propose, ${policy.disputers.join(", ") || "nobody"} dispute`,
    policy.minimum_window_seconds > 0 ? `for ${policy.minimum_window_seconds / 3600} h at least` : "without a window",
    policy.second_person ? "a second person finalises" : policy.by_time ? "time finalises" : "one person is enough",
  ].join("; ");

/** @param {Market} market @returns {Act} */
export const open = (market) => ({
  name: "Open",
  path: "/markets/activate",
  says: `${quoted(market.question)}: it trades at once${market.terms?.opens_at ? `, not only from ${when(market.terms.opens_at)} on` : ""}`,
  fixed: { condition_id: market.conditionId },
  done: "It is open.",
});

/** @param {Market} market @returns {Act} */
export const hold = (market) => ({
  name: "Hold",
  path: "/markets/pause",
  says: `${quoted(market.question)}: trading stops until you resume it, ${counted(market.liveOrders, "resting order")} stay`,
  fixed: { condition_id: market.conditionId },
  done: "It is on hold.",
});

/** @param {Market} market @returns {Act} */
export const resume = (market) => ({
  name: "Resume",
  path: "/markets/resume",
  says: `${quoted(market.question)}: ${market.holds?.includes("upstream") ? "your hold ends, that of the upstream stays" : "trading goes on at once"}`,
  fixed: { condition_id: market.conditionId },
  done: "The hold has ended.",
});

/** @param {Market} market @returns {Act} */
export const lift = (market) => ({
  ...resume(market),
  name: "Lift the upstream’s hold",
  says: `on ${quoted(market.question)}: it trades although its upstream holds it`,
  fixed: { condition_id: market.conditionId, hold: "upstream" },
});

/** @param {Market} market @returns {Act} */
export const close = (market) => ({
  name: "Close",
  path: "/markets/close",
  says: `${quoted(market.question)}: ${counted(market.liveOrders, "resting order")} end${market.liveOrders === 1 ? "s" : ""}, trading stops`,
  final: true,
  fixed: { condition_id: market.conditionId },
  done: "It is closed. Propose its payout when the result is known.",
});

/** @param {string} condition @param {string} question @param {string[]} outcomes @param {number} [replaced] @returns {Act} */
export const propose = (condition, question, outcomes, replaced) => ({
  name: replaced ? "Propose again" : "Propose a payout",
  path: "/markets/propose",
  says: `${replaced ? "" : "of "}${quoted(question)}: nothing is paid before it is finalised${replaced ? "; it replaces the disputed proposal" : ""}`,
  fixed: { condition_id: condition, proposal: replaced, reference: crypto.randomUUID() },
  fields: [
    { name: "payout", label: "Outcome that pays $1.00 a share", kind: "choice", choices: payouts(outcomes), required: true },
    { name: "source", label: "Source", help: "A link or words: what decides the answer." },
    { name: "evidence_sha256", label: "Evidence", kind: "file", help: "The page sends the file’s SHA-256 only. Keep the file." },
    { name: "window_seconds", label: "Window for disputes", kind: "number", unit: "h", factor: 3600, most: 720, help: "The policy’s shortest without." },
  ],
  done: "It is proposed.",
});

/** @param {Market} market @returns {Act} */
export const payOut = (market) => ({
  name: "Pay out",
  path: "/markets/resolve",
  says: `${quoted(market.question)} in one step: holders of the outcome get ${money(market.openInterest)} in all`,
  final: true,
  fixed: { condition_id: market.conditionId },
  fields: [{ name: "payout", label: "Outcome that pays $1.00 a share", kind: "choice", choices: payouts(market.outcomes), required: true }],
  done: "The payout is final; holders are being paid.",
});

/** @param {Proposal} row @returns {Act} */
export const finalise = (row) => ({
  name: "Finalise",
  path: "/markets/finalise",
  says: `${quoted(row.question)}: ${payoutText(row.payout, row.outcomes)} is the payout, all holders are paid`,
  final: true,
  fixed: { condition_id: row.condition_id, proposal: row.proposal },
  done: "The payout is final; holders are being paid.",
});

/** @param {Proposal} row @returns {Act} */
export const dispute = (row) => ({
  name: "Dispute",
  path: "/markets/dispute",
  says: `that ${row.outcome} is the payout of ${quoted(row.question)}: it cannot be finalised as it is`,
  fixed: { condition_id: row.condition_id },
  fields: [{ name: "counter", label: "What is right", kind: "choice", choices: [["", "I do not say"], ...payouts(row.outcomes)] }],
  reasoned: true,
  done: "It is disputed.",
});

/** @param {Proposal} row @returns {Act} */
export const withdraw = (row) => ({
  name: "Withdraw",
  path: "/markets/withdraw-proposal",
  says: `the proposal that ${row.outcome} is the payout of ${quoted(row.question)}: the market waits for another one`,
  fixed: { condition_id: row.condition_id },
  done: "The proposal is withdrawn.",
});

/**
 * Acts that change how a market trades or is shown.
 * @param {Market} market
 * @param {import("./types.js").Words} words
 * @param {Policy} policy that is in force
 * @returns {Act[]}
 */
export function changes(market, words, policy) {
  const fixed = { condition_id: market.conditionId };
  const of = quoted(market.question);
  const isOpen = ["registered", "active", "paused"].includes(market.status);
  const fee = feeFields(market.fee).map((spec) => ({ ...spec, group: undefined, required: true }));
  /** @type {(Act | false)[]} */
  const acts = [
    isOpen && {
      name: "Change the clock",
      path: "/markets/terms",
      says: `of ${of}: what falls due by itself`,
      fixed,
      fields: clockFields(market.terms),
      done: "The clock is changed.",
    },
    isOpen && { name: "Change the fee", path: "/markets/fee", says: `of ${of}, from the next trade on`, fixed, fields: fee, done: "The fee is changed." },
    isOpen && {
      name: "Refine the tick",
      path: "/markets/tick",
      says: `of ${of}: prices get finer, resting orders stay`,
      final: true,
      fixed,
      fields: [{ ...TICK, value: market.tick }],
      done: "The tick is finer.",
    },
    isOpen && {
      name: "Change the minimum",
      path: "/markets/minimum",
      says: `of ${of}: smaller new orders do not rest`,
      fixed,
      fields: [{ ...MINIMUM, value: market.minimumSize }],
      done: "The minimum is changed.",
    },
    market.own && {
      name: "Edit the words",
      path: "/markets/describe",
      says: `of ${of}: the catalog shows the new ones`,
      fixed,
      fields: [
        { name: "question", label: "Question", value: market.question, required: true },
        { name: "description", label: "Rules", kind: "long", value: words.description },
        { name: "tags", label: "Topics", kind: "list", value: words.tags ?? [], help: "With commas." },
        { name: "end_date", label: "End date in the catalog", kind: "time", value: market.endDate },
      ],
      done: "The words are changed.",
    },
    {
      name: "Set a policy",
      path: "/policy",
      says: `of its own for ${of}: who proposes and disputes its payout`,
      fixed,
      fields: policyFields(policy),
      done: "The policy is set.",
    },
    !!market.policy && { name: "Clear the policy", path: "/policy/clear", says: `of ${of}: the site’s applies again`, fixed, done: "The site’s policy applies." },
    {
      name: market.archived ? "Show" : "Archive",
      path: "/markets/archive",
      says: market.archived ? `${of} in lists again` : `${of}: lists and search leave it out, holders keep what they have`,
      fixed: { ...fixed, archived: !market.archived },
      done: market.archived ? "Lists show it." : "Lists leave it out.",
    },
  ];
  return acts.filter((act) => act !== false);
}

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

/** @param {Market} market */
export const feeText = ({ fee }) => (fee.ratePpm === 0 ? "none" : `${percent(fee.ratePpm)} of takers`);

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
