/** Money of the exchange: withdrawals and what they wait for, limits, fees and rebates. */

import { h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { read } from "./api.js";
import { ago, cards, money, records, walletLink } from "./parts.js";
import { moves } from "./users_view.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./types.js").Withdrawal} Withdrawal */
/** @typedef {{ shut: boolean, waiting: number, withdrawals: Withdrawal[] }} Withdrawals */

/** Ended withdrawals that are shown. */
const ENDED = 50;

/** @param {Desk} desk */
export async function moneyView(desk) {
  const [open, ended, { exchange }] = await Promise.all([
    /** @type {Promise<Withdrawals>} */ (read("/withdrawals")),
    /** @type {Promise<Withdrawals>} */ (read("/withdrawals", { ended: "true", limit: ENDED })),
    /** @type {Promise<import("./types.js").Status>} */ (read("/status")),
  ]);
  const limit = exchange.payments.withdrawal_limit;
  const buttons = [
    ...moves(desk, "money"),
    desk.button("money", {
      name: "Pay rebates",
      path: "/rebates/pay",
      says: "that have accrued: every maker gets them at once",
      done: "The rebates are being paid.",
    }),
    desk.button("money", {
      name: "Withdraw fees",
      path: "/fees/withdraw",
      says: `out of the exchange: ${money(exchange.fees)} are there`,
      fixed: { reference: crypto.randomUUID() },
      fields: [{ name: "amount", label: "Amount", kind: "amount", unit: format.symbol(), required: true }],
      done: "The fees are withdrawn.",
    }),
    desk.button("money", {
      name: "Change the limits",
      path: "/system/payments",
      says: "of payments, from now on",
      fields: [
        {
          name: "withdrawal_limit",
          label: "A second person pays withdrawals above",
          kind: "amount",
          unit: format.symbol(),
          value: limit,
          help: "0: one person pays any.",
        },
        { name: "rebates_daily", label: "Pay rebates every day at 00:00 UTC", kind: "flag", value: exchange.payments.rebates_daily },
      ],
      done: "The limits are changed.",
    }),
  ];
  return h(
    "div.stack",
    null,
    desk.result("money"),
    h("div.buttons.start", null, buttons),
    open.shut && shut(desk),
    cards([
      ["Deposited", money(exchange.collateral), "deposits minus withdrawals"],
      ["Collected fees", money(exchange.fees)],
      ["Two persons above", Number(limit) > 0 ? money(limit) : "no limit"],
      ["Rebates", exchange.payments.rebates_daily ? "daily" : "by command"],
    ]),
    waiting(desk, open),
    past(desk, ended.withdrawals),
  );
}

/** Says that nothing is paid since a restore. @param {Desk} desk */
const shut = (desk) =>
  h(
    "section.panel",
    { "aria-label": "Withdrawals are shut" },
    h("header", null, h("h2", null, "Withdrawals are shut")),
    h(
      "p",
      null,
      "The journal was restored and may lack payments that were made. Compare it with the bank's list (",
      h("code", null, "foretell withdrawals reconcile"),
      "), then let withdrawals go on. Until then no webhook is sent, and nothing is taken from an upstream or an oracle.",
    ),
    desk.button("money", {
      name: "Open withdrawals",
      path: "/withdrawals/open",
      says: "after the restore: what waits can be claimed and paid again, webhooks, sync and oracle go on",
      final: true,
      reasoned: true,
      done: "Withdrawals go on.",
    }),
  );

/** The largest of those that wait. @param {Desk} desk @param {Withdrawals} open */
function waiting(desk, open) {
  const columns = [
    { label: "Wallet" },
    { label: "Amount", class: "num" },
    { label: "To" },
    { label: "Asked" },
    { label: "Claimed by" },
    { label: "Acts", class: "acts" },
  ];
  const rows = open.withdrawals.map((row) => ({
    cells: [
      walletLink(row.wallet),
      money(row.amount),
      row.destination || h("span.dim", null, "by an operator"),
      [ago(row.requested_at), h("small.dim", null, row.asked_by || "the user")],
      row.claimed_by || h("span.dim", null, "nobody"),
      acts(desk, row),
    ],
  }));
  const none = "No withdrawal waits.";
  const title =
    rows.length < open.waiting
      ? `Withdrawals that wait (the largest ${rows.length} of ${open.waiting})`
      : `Withdrawals that wait (${rows.length})`;
  return records(desk, { title, columns, none }, rows);
}

/**
 * Claim, then pay; give up.
 * @param {Desk} desk
 * @param {Withdrawal} row
 */
function acts(desk, row) {
  const fixed = { withdrawal: row.withdrawal };
  const what = `the withdrawal of ${money(row.amount)} from ${format.address(row.wallet)}`;
  const claim = desk.button("money", {
    name: "Claim",
    path: "/withdrawals/claim",
    says: `${what}: from now on its user cannot cancel it, and you pay it`,
    fixed,
    done: "It is claimed. Pay it outside, then say so here.",
  });
  const pay = desk.button("money", {
    name: "Mark paid",
    path: "/withdrawals/pay",
    says: `${what}, which was paid outside of the exchange`,
    final: true,
    fixed,
    fields: [{ name: "payment", label: "Reference of the payment", required: true }],
    done: "It is paid.",
  });
  const fail = desk.button("money", {
    name: "Give up",
    path: "/withdrawals/fail",
    says: `${what}: nothing is paid, the wallet has it free again`,
    final: true,
    reasoned: true,
    fixed,
    done: "It is given up.",
  });
  if (row.status === "requested") return [claim, fail];
  const other = row.needs_second_person && row.claimed_by === desk.me.name;
  return [other ? h("span.dim", null, "another operator than you pays") : pay, fail];
}

/** @param {Desk} desk @param {Withdrawal[]} withdrawals */
function past(desk, withdrawals) {
  const columns = [{ label: "Wallet" }, { label: "Amount", class: "num" }, { label: "To" }, { label: "Ended" }, { label: "Payment" }];
  const rows = withdrawals.map((row) => ({
    cells: [
      walletLink(row.wallet),
      money(row.amount),
      row.destination,
      [`${row.status}${row.ended_by && ` by ${row.ended_by}`}`, h("small.dim", null, format.when(row.changed_at))],
      row.payment,
    ],
  }));
  return records(desk, { title: `Withdrawals that ended, the newest ${ENDED}`, columns, none: "None has ended." }, rows);
}
