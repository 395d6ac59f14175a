/** Money of the exchange: withdrawals that wait for a second person, limits, fees and rebates. */

import { h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { read } from "./api.js";
import { ago, cards, money, records, walletLink } from "./parts.js";
import { moves } from "./users_view.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./types.js").Withdrawal} Withdrawal */

/** @param {Desk} desk */
export async function moneyView(desk) {
  const [{ withdrawals }, { exchange }] = await Promise.all([
    /** @type {Promise<{ withdrawals: Withdrawal[] }>} */ (read("/withdrawals")),
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
          label: "A second person confirms withdrawals above",
          kind: "amount",
          unit: format.symbol(),
          value: limit,
          help: "0: none waits.",
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
    cards([
      ["Deposited", money(exchange.collateral), "deposits minus withdrawals"],
      ["Collected fees", money(exchange.fees)],
      ["Two persons above", Number(limit) > 0 ? money(limit) : "no limit"],
      ["Rebates", exchange.payments.rebates_daily ? "daily" : "by command"],
    ]),
    waiting(desk, withdrawals),
  );
}

/** @param {Desk} desk @param {Withdrawal[]} withdrawals */
function waiting(desk, withdrawals) {
  const rows = withdrawals.map((row) => {
    const fixed = { reference: row.reference };
    const what = `${money(row.amount)} to ${format.address(row.wallet)}`;
    const confirm = desk.button("money", {
      name: "Confirm",
      path: "/withdrawals/confirm",
      says: `the withdrawal of ${what}, which ${row.asked_by} asked for`,
      final: true,
      fixed,
      done: `${what} are paid.`,
    });
    const release = desk.button("money", {
      name: "Release",
      path: "/withdrawals/release",
      says: `the withdrawal of ${what}: nothing is paid, the wallet has it free again`,
      final: true,
      fixed,
      done: "It is given up.",
    });
    return {
      cells: [
        walletLink(row.wallet),
        money(row.amount),
        row.asked_by,
        [ago(row.asked_at), h("small.dim", null, format.when(row.asked_at))],
        [row.asked_by === desk.me.name ? h("span.dim", null, "another operator than you confirms") : confirm, release],
      ],
    };
  });
  const columns = [
    { label: "Wallet" },
    { label: "Amount", class: "num" },
    { label: "Asked by" },
    { label: "Asked" },
    { label: "Acts", class: "acts" },
  ];
  const none = "No withdrawal waits for a second person.";
  return records(desk, { title: `Withdrawals that wait (${rows.length})`, columns, none }, rows);
}
