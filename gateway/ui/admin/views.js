/** The views of the operator's page. Each reads what it shows and offers what the role may do. */

import { h } from "../lib/dom.js";
import { read } from "./api.js";
import { eventGroups } from "./event_groups.js";
import { ask } from "./form.js";
import { t } from "./messages.js";
import { button, cell, list } from "./parts.js";

/** @typedef {import("./admin.js").Desk} Desk */

/**
 * Asks for a payout by the labels of a market; the body names it by its place.
 * @param {string} name
 * @param {string[]} outcomes
 * @param {boolean} [required]
 * @returns {import("./form.js").Field}
 */
const payoutField = (name, outcomes, required = true) => {
  const choices = [
    ["first", outcomes[0]],
    ["second", outcomes[1]],
    ["half", "half"],
  ];
  return { name, kind: "choice", choices: required ? choices : ["", ...choices], required };
};
const ROLES = ["admin", "markets", "resolver", "cashier", "support", "read-only"];
/** Rows of a list of markets. */
const MAX_MARKETS = 500;

/** @param {any} terms */
const clock = (terms) =>
  [
    terms?.opens_at && `opens ${terms.opens_at}`,
    terms?.closes_at && `closes ${terms.closes_at}`,
    terms?.clear_book_on_start && `clears ${terms.game_start_time}`,
    terms?.taker_delay_ms > 0 && `delay ${terms.taker_delay_ms} ms`,
    terms?.rebate_ppm > 0 && `rebate ${terms.rebate_ppm / 10_000}%`,
  ]
    .filter(Boolean)
    .join(", ");

/** @param {any} terms */
const termFields = (terms) => [
  { name: "opens_at", kind: "time", value: terms?.opens_at },
  { name: "closes_at", kind: "time", value: terms?.closes_at },
  { name: "game_start_time", kind: "time", value: terms?.game_start_time },
  { name: "clear_book_on_start", kind: "flag", value: terms?.clear_book_on_start },
  { name: "taker_delay_ms", kind: "number", value: terms?.taker_delay_ms },
  { name: "rebate_ppm", kind: "number", value: terms?.rebate_ppm },
];

/**
 * Buttons of a market for what its state and the role allow.
 * @param {Desk} desk
 * @param {any} market
 */
function marketActs(desk, market) {
  const fixed = { condition_id: market.conditionId };
  const simple = (/** @type {string} */ path) => () => ask(`${path} ${market.slug}`, path, fixed, [], desk.done);
  const open = ["registered", "active", "paused"].includes(market.status);
  /** @type {[string, string, boolean, () => void][]} */
  const acts = [
    ["Activate", "/markets/activate", market.status === "registered", simple("/markets/activate")],
    ["Pause", "/markets/pause", market.status === "active", simple("/markets/pause")],
    ["Resume", "/markets/resume", market.status === "paused", simple("/markets/resume")],
    ["Close", "/markets/close", open, simple("/markets/close")],
    [
      "Clock",
      "/markets/terms",
      open,
      () => ask("Clock, delay, rebate", "/markets/terms", fixed, /** @type {any} */ (termFields(market.terms)), desk.done),
    ],
    [
      "Fee",
      "/markets/fee",
      open,
      () =>
        ask(
          "Fee",
          "/markets/fee",
          fixed,
          [
            { name: "rate_ppm", kind: "number", value: market.fee?.ratePpm, required: true },
            { name: "exponent", kind: "number", value: market.fee?.exponent, required: true },
          ],
          desk.done,
        ),
    ],
    ["Words", "/markets/describe", market.own, () => describe(desk, market)],
    ["Propose", "/markets/propose", market.status === "closed", () => propose(desk, market.conditionId, market.outcomes)],
    [
      "Resolve",
      "/markets/resolve",
      market.status === "closed",
      () =>
        ask(
          "Resolve in one step",
          "/markets/resolve",
          fixed,
          [payoutField("payout", market.outcomes), { name: "proposal", kind: "number", label: t("replaces") }],
          desk.done,
        ),
    ],
    [
      market.archived ? "Show" : "Archive",
      "/markets/archive",
      true,
      () => ask("Archive", "/markets/archive", { ...fixed, archived: !market.archived }, [], desk.done),
    ],
  ];
  const offered = acts.filter(([, path, fits]) => fits && desk.may(path));
  return h(
    "td.acts",
    null,
    offered.map(([label, , , press]) => button(label, press)),
  );
}

/**
 * The record has the words that the list lacks.
 * @param {Desk} desk
 * @param {any} market
 */
async function describe(desk, market) {
  try {
    const words = await read(`/markets/${market.conditionId}`);
    ask(
      "Words",
      "/markets/describe",
      { condition_id: market.conditionId },
      [
        { name: "question", value: market.question },
        { name: "description", kind: "long", value: words.description },
        { name: "tags", kind: "list", label: t("with_commas"), value: (words.tags ?? []).join(", ") },
        { name: "end_date", kind: "time", value: market.endDate },
        { name: "resolution_source" },
      ],
      desk.done,
    );
  } catch (error) {
    desk.say(error instanceof Error ? error.message : String(error), "error");
  }
}

/**
 * @param {Desk} desk
 * @param {string} condition
 * @param {string[]} outcomes
 * @param {number} [proposal] the disputed one that it replaces
 */
function propose(desk, condition, outcomes, proposal) {
  ask(
    "Propose a payout",
    "/markets/propose",
    { condition_id: condition, proposal, reference: crypto.randomUUID() },
    [payoutField("payout", outcomes), { name: "source" }, { name: "evidence_sha256" }, { name: "window_seconds", kind: "number" }],
    desk.done,
  );
}

/** @param {Desk} desk */
function newMarket(desk) {
  ask(
    t("new_market"),
    "/markets",
    {},
    [
      { name: "question", required: true },
      { name: "slug", required: true },
      { name: "description", kind: "long" },
      { name: "tags", kind: "list", label: t("with_commas") },
      { name: "event_id", kind: "number", label: "event_id of its event group" },
      { name: "end_date", kind: "time" },
      { name: "tick_size", kind: "choice", choices: ["", "0.1", "0.01", "0.005", "0.0025", "0.001", "0.0001"] },
      { name: "minimum_order_size" },
      { name: "rate_ppm", group: "fee", kind: "number", label: t("fee_rate") },
      { name: "exponent", group: "fee", kind: "number", label: t("fee_exponent") },
      .../** @type {any} */ (termFields(null)),
    ],
    (answer) => {
      desk.say(t("market_made", { id: answer.condition_id, status: answer.status }));
      desk.again();
    },
  );
}

/** @param {Desk} desk */
async function drawMarkets(desk) {
  // The list begins with the oldest; the page shows the newest.
  const { exchange } = await read("/status");
  const offset = Math.max(0, exchange.markets - MAX_MARKETS);
  const { markets } = await read(`/markets?limit=${MAX_MARKETS}&offset=${offset}`);
  const rows = markets
    .reverse()
    .map((/** @type {any} */ market) => [
      cell(market.question || market.slug),
      cell(market.archived ? `${market.status}, archived` : market.settled ? "settled" : market.status),
      cell(clock(market.terms)),
      cell(`${market.fee.ratePpm / 10_000}%`),
      cell(market.eventId),
      cell(market.own ? "own" : "upstream"),
      marketActs(desk, market),
    ]);
  return h(
    "div",
    null,
    h("p.line", null, desk.may("/markets") && button(t("new_market"), () => newMarket(desk))),
    list(t("markets"), ["Question", "State", "Clock", "Fee", "Event group", "Words", ""], rows),
    await eventGroups(desk),
  );
}

/** @param {Desk} desk */
async function drawReview(desk) {
  const { proposals, closed } = await read("/review");
  const offer = (/** @type {string} */ path, /** @type {string} */ label, /** @type {() => void} */ press) =>
    desk.may(path) && button(label, press);
  const rows = proposals.map((/** @type {any} */ row) => {
    const fixed = { condition_id: row.condition_id };
    const dispute = row.dispute;
    return [
      cell(row.question),
      cell(t("challenge", { payout: row.outcome, ends: row.challenge_ends })),
      cell(row.proposed_by),
      cell(row.source),
      cell(dispute && t("disputed", { by: dispute.disputed_by, reason: dispute.reason })),
      h(
        "td.acts",
        null,
        !dispute &&
          offer("/markets/finalise", "Finalise", () =>
            ask("Finalise: the payout is final", "/markets/finalise", { ...fixed, proposal: row.proposal }, [], desk.done),
          ),
        !dispute &&
          offer("/markets/dispute", "Dispute", () =>
            ask("Dispute", "/markets/dispute", fixed, [payoutField("counter", row.outcomes, false)], desk.done),
          ),
        dispute && offer("/markets/propose", "Propose again", () => propose(desk, row.condition_id, row.outcomes, row.proposal)),
        offer("/markets/withdraw-proposal", "Withdraw", () =>
          ask("Withdraw the proposal", "/markets/withdraw-proposal", fixed, [], desk.done),
        ),
      ),
    ];
  });
  const waiting = closed.map((/** @type {any} */ row) => [
    cell(row.question),
    cell(row.closed_at),
    h(
      "td.acts",
      null,
      offer("/markets/propose", "Propose", () => propose(desk, row.condition_id, row.outcomes)),
    ),
  ]);
  return h(
    "div",
    null,
    list(t("proposals"), ["Question", "Payout", "By", "Source", "Dispute", ""], rows),
    list(t("waiting"), ["Question", "Closed", ""], waiting),
  );
}

/** @param {Desk} desk */
async function drawUsers(desk) {
  const found = h("div");
  const input = /** @type {HTMLInputElement} */ (h("input", { name: "wallet", placeholder: "0x…", "aria-label": t("wallet"), size: "44" }));
  const find = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    try {
      const account = await read(`/accounts/${encodeURIComponent(input.value.trim())}`);
      found.replaceChildren(user(desk, account));
    } catch (error) {
      desk.say(error instanceof Error ? error.message : String(error), "error");
    }
  };
  return h("div", null, h("form.line", { onsubmit: find }, input, h("button.primary", { type: "submit" }, t("find_user"))), found);
}

/**
 * @param {Desk} desk
 * @param {any} account
 */
function user(desk, account) {
  const money = (/** @type {string} */ path, /** @type {string} */ label) =>
    desk.may(path) &&
    button(label, () =>
      ask(label, path, { wallet: account.wallet, reference: crypto.randomUUID() }, [{ name: "amount", required: true }], desk.done),
    );
  const facts = ["wallet", "owner", "kind", "free", "reserved", "accrued", "live_orders", "closed_only"];
  const positions = account.positions.map((/** @type {any} */ held) => [
    cell(held.condition_id),
    cell(held.outcome_index),
    cell(held.free),
    cell(held.reserved),
  ]);
  return h(
    "div",
    null,
    h(
      "p.line",
      null,
      money("/accounts/deposit", t("deposit")),
      money("/accounts/withdraw", t("withdraw")),
      desk.may("/accounts/closed-only") &&
        button(account.closed_only ? "Lift closed-only" : "Closed-only", () =>
          ask("Closed-only", "/accounts/closed-only", { wallet: account.wallet, closed_only: !account.closed_only }, [], desk.done),
        ),
    ),
    list(
      t("wallet"),
      ["", ""],
      facts.map((name) => [cell(name), cell(account[name])]),
    ),
    list("Positions", ["Market", "Outcome", "Free", "Reserved"], positions),
  );
}

/** @param {Desk} desk */
async function drawMoney(desk) {
  const [{ withdrawals }, status] = await Promise.all([read("/withdrawals"), read("/status")]);
  const decide = (/** @type {string} */ path, /** @type {string} */ label, /** @type {any} */ row) =>
    desk.may(path) && button(label, () => ask(`${label} ${row.amount}`, path, { reference: row.reference }, [], desk.done));
  const rows = withdrawals.map((/** @type {any} */ row) => [
    cell(row.wallet),
    cell(row.amount),
    cell(row.asked_by),
    cell(row.asked_at),
    h(
      "td.acts",
      null,
      row.asked_by !== desk.me.name && decide("/withdrawals/confirm", "Confirm", row),
      decide("/withdrawals/release", "Release", row),
    ),
  ]);
  const { payments, collateral, fees } = status.exchange;
  const wallet = { name: "wallet", required: true };
  const amount = { name: "amount", required: true };
  const move = (/** @type {string} */ path, /** @type {string} */ label) =>
    desk.may(path) && button(label, () => ask(label, path, { reference: crypto.randomUUID() }, [wallet, amount], desk.done));
  return h(
    "div",
    null,
    h(
      "p.line",
      null,
      move("/accounts/deposit", t("deposit")),
      move("/accounts/withdraw", t("withdraw")),
      desk.may("/rebates/pay") && button(t("pay_rebates"), () => ask(t("pay_rebates"), "/rebates/pay", {}, [], desk.done)),
      desk.may("/system/payments") &&
        button(t("payments"), () =>
          ask(
            t("payments"),
            "/system/payments",
            {},
            [
              { name: "withdrawal_limit", value: payments.withdrawal_limit },
              { name: "rebates_daily", kind: "flag" },
            ],
            desk.done,
          ),
        ),
    ),
    list(t("held_withdrawals"), ["Wallet", "Amount", "Asked by", "Asked", ""], rows),
    list(
      t("money"),
      ["", ""],
      [
        [cell("collateral"), cell(collateral)],
        [cell("fees"), cell(fees)],
        [cell("withdrawal_limit"), cell(payments.withdrawal_limit)],
        [cell("rebates_daily"), cell(payments.rebates_daily)],
      ],
    ),
  );
}

/** @param {Desk} desk */
async function drawSystem(desk) {
  const { exchange } = await read("/status");
  const { policy } = exchange;
  return h(
    "div",
    null,
    h(
      "p.line",
      null,
      desk.may("/system/mode") &&
        button(t("mode"), () =>
          ask(
            t("mode"),
            "/system/mode",
            {},
            [
              {
                name: "mode",
                kind: "choice",
                choices: ["running", "post_only", "cancel_only", "paused"],
                value: exchange.mode,
                required: true,
              },
            ],
            desk.done,
          ),
        ),
      desk.may("/policy") &&
        button(t("policy"), () =>
          ask(
            t("policy"),
            "/policy",
            {},
            [
              { name: "proposers", kind: "list", value: policy.proposers.join(", ") },
              { name: "disputers", kind: "list", value: policy.disputers.join(", ") },
              { name: "minimum_window_seconds", kind: "number", value: policy.minimum_window_seconds },
              { name: "second_person", kind: "flag", value: policy.second_person },
              { name: "by_time", kind: "flag", value: policy.by_time },
            ],
            desk.done,
          ),
        ),
    ),
    list(
      t("system"),
      ["", ""],
      ["mode", "rules", "durability", "sequence", "markets", "accounts", "live_orders"].map((name) => [cell(name), cell(exchange[name])]),
    ),
    list(
      t("policy"),
      ["", ""],
      Object.entries(policy).map(([name, value]) => [cell(name), cell(value)]),
    ),
  );
}

/** @param {Desk} desk */
async function drawPeople(desk) {
  const { operators } = await read("/operators");
  const rows = operators.map((/** @type {any} */ row) => [
    cell(row.name),
    cell(row.role),
    cell(row.added),
    cell(row.revoked ?? ""),
    h(
      "td.acts",
      null,
      !row.revoked &&
        desk.may("/operators/revoke") &&
        button(t("revoke"), () => ask(`${t("revoke")} ${row.name}`, "/operators/revoke", { name: row.name }, [], desk.done)),
    ),
  ]);
  const shown = h("div");
  const add = () =>
    ask(
      t("add_operator"),
      "/operators",
      {},
      [
        { name: "name", required: true },
        { name: "role", kind: "choice", choices: ROLES, required: true },
      ],
      (answer) => {
        shown.replaceChildren(h("p", null, t("token_once", { name: `operator ${answer.number}` })), h("p.token", null, answer.token));
      },
    );
  return h(
    "div",
    null,
    h("p.line", null, desk.may("/operators") && button(t("add_operator"), add)),
    shown,
    list(t("people"), ["Name", "Role", "Added", "Revoked", ""], rows),
  );
}

async function drawLog() {
  const { acts } = await read("/acts");
  const rows = acts.map((/** @type {any} */ row) => [
    cell(row.time),
    cell(`${row.name} (${row.role})`),
    cell(row.path),
    cell(row.request),
    cell(row.reason),
    cell(row.sequence),
  ]);
  return h(
    "div",
    null,
    h("p.dim", null, t("log_since")),
    list(t("log"), ["Time", "Who", "Command", "Request", "Reason", "Sequence"], rows),
  );
}

const always = () => true;

/** @type {{ key: any, offered: (may: (path: string) => boolean) => boolean, draw: (desk: Desk) => Promise<HTMLElement> }[]} */
export const VIEWS = [
  { key: "markets", offered: always, draw: drawMarkets },
  { key: "review", offered: always, draw: drawReview },
  { key: "users", offered: always, draw: drawUsers },
  { key: "money", offered: always, draw: drawMoney },
  { key: "system", offered: always, draw: drawSystem },
  { key: "people", offered: always, draw: drawPeople },
  { key: "log", offered: always, draw: drawLog },
];
