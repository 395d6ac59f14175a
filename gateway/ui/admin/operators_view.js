/** Persons and programs with a token, and their roles. */

import { fill, h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { read } from "./api.js";
import { ask } from "./ask.js";
import { ROLES } from "./market_acts.js";
import { millis, records } from "./parts.js";

/** @typedef {import("./desk.js").Desk} Desk */

/** What a role is for. */
const FOR = /** @type {Record<string, string>} */ ({
  admin: "everything",
  markets: "markets, their clocks and words, the mode",
  resolver: "payouts",
  cashier: "deposits, withdrawals, rebates",
  support: "wallets and keys",
  "read-only": "reads alone",
  sync: "the catalog’s program",
});

/** @param {Desk} desk */
export async function operatorsView(desk) {
  const { operators } = await /** @type {Promise<{ operators: import("./types.js").Operator[] }>} */ (read("/operators"));
  const shown = h("div");
  const add = desk.may("/operators") && h("button.primary", { type: "button", onclick: () => hire(shown) }, "Add an operator");
  const columns = [
    { label: "Name" },
    { label: "Role" },
    { label: "May send" },
    { label: "Added" },
    { label: "State" },
    { label: "Acts", class: "acts" },
  ];
  const rows = operators.map((row) => ({
    key: `operator ${row.number}`,
    cells: [
      h("strong", null, row.name),
      row.role,
      FOR[row.role] ?? "",
      millis(row.added) ? format.when(row.added) : "with the exchange",
      row.revoked
        ? `revoked ${format.when(row.revoked)}`
        : millis(row.counts_from) > Date.now()
          ? `second person from ${format.when(row.counts_from)}`
          : "live",
      !row.revoked &&
        desk.button(`operator ${row.number}`, {
          name: "Revoke",
          path: "/operators/revoke",
          says: `the token of ${row.name} (${row.role}): it ends at once; a new token needs a new addition`,
          final: true,
          fixed: { name: row.name },
          done: "The token has ended.",
        }),
    ],
  }));
  return h(
    "div.stack",
    null,
    shown,
    records(desk, { title: `Operators (${rows.length})`, columns, none: "There is none.", tools: [add] }, rows),
  );
}

/** @param {HTMLElement} shown where the token is read, once */
function hire(shown) {
  const act = {
    name: "Add an operator",
    path: "/operators",
    says: "who gets a token of their own: the page shows it once",
    fields: [
      { name: "name", label: "Name", required: true, help: "Small letters, digits and hyphens; it is in the log." },
      {
        name: "role",
        label: "Role",
        kind: /** @type {const} */ ("choice"),
        choices: ROLES.map((role) => /** @type {const} */ ([role, `${role}: ${FOR[role]}`])),
        required: true,
      },
    ],
    done: "",
  };
  ask(act, (_, answer) => {
    const token = answer.token ?? "";
    const copy = () => navigator.clipboard.writeText(token);
    fill(
      shown,
      h(
        "section.panel.token-panel",
        { "aria-label": "New token" },
        h("header", null, h("h2", null, "The new token. Copy it now: nobody can show it again.")),
        h("p.copyline", null, h("code.token", null, token), h("button", { type: "button", onclick: copy }, "Copy")),
        h("p.dim", null, "The person signs in with it on this page. The list below shows them after a refresh."),
      ),
    );
  });
}
