/** Who did what, on which market, and why: all of the journal. */

import { fill, h } from "../lib/dom.js";
import { skeleton } from "../components/states.js";
import { payoutText } from "../lib/life.js";
import * as format from "../lib/format.js";
import { newest } from "../lib/pages.js";
import { read, readBack } from "./api.js";
import { marketLink, money, percent, problem, records, walletLink } from "./parts.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./types.js").LoggedAct} LoggedAct */
/** @typedef {Record<string, unknown>} Fields */

/** What was done, by the path of the command. @type {Record<string, string>} */
const DID = {
  "/markets": "created the market",
  "/markets/describe": "edited the words",
  "/markets/activate": "opened it",
  "/markets/pause": "held it",
  "/markets/resume": "resumed it",
  "/markets/close": "closed it",
  "/markets/archive": "archived it, or showed it again",
  "/markets/tick": "refined the tick",
  "/markets/minimum": "changed the minimum",
  "/markets/fee": "changed the fee",
  "/markets/terms": "changed the clock",
  "/markets/propose": "proposed a payout",
  "/markets/dispute": "disputed the payout",
  "/markets/withdraw-proposal": "withdrew the proposal",
  "/markets/finalise": "finalised the payout",
  "/markets/resolve": "paid out",
  "/events": "created the event group",
  "/events/describe": "edited its words",
  "/accounts/deposit": "deposited",
  "/accounts/withdraw": "withdrew",
  "/accounts/bind": "bound the wallet",
  "/accounts/unbind": "undid the binding",
  "/accounts/closed-only": "restricted, or let trade",
  "/accounts/describe": "edited the profile",
  "/withdrawals/claim": "claimed a withdrawal",
  "/withdrawals/pay": "paid a withdrawal",
  "/withdrawals/fail": "gave up a withdrawal",
  "/withdrawals/open": "let withdrawals go on",
  "/fees/withdraw": "withdrew fees",
  "/rebates/pay": "paid rebates",
  "/keys/revoke": "revoked a key",
  "/policy": "set the policy of payouts",
  "/policy/clear": "cleared its policy",
  "/policy/wallets": "listed a wallet in the policy",
  "/system/mode": "changed the mode",
  "/system/settings": "changed settings",
  "/system/payments": "changed the limits",
  "/operators": "added an operator",
  "/operators/revoke": "revoked the operator",
};

const wanted = { operator: "", command: "" };
/** Acts that end a search. */
const ENOUGH = 20;

/**
 * @param {Desk} desk
 * @param {string} condition of the market whose acts are looked for; empty: all
 */
export async function logView(desk, condition) {
  const { operators } = await /** @type {Promise<{ operators: import("./types.js").Operator[] }>} */ (read("/operators"));
  const { found, load } = actList(desk, "Acts", () => ({ ...wanted, condition_id: condition, limit: 100 }));
  const names = [...new Set(operators.map((row) => row.name))].map((name) => /** @type {const} */ ([name, name]));
  const choice = (
    /** @type {"operator" | "command"} */ name,
    /** @type {string} */ label,
    /** @type {(readonly [string, string])[]} */ choices,
  ) =>
    h(
      "select",
      {
        "aria-label": label,
        onchange: (/** @type {Event} */ event) => {
          wanted[name] = /** @type {HTMLSelectElement} */ (event.target).value;
          load();
        },
      },
      choices.map(([value, text]) => h("option", { value, selected: value === wanted[name] }, text)),
    );
  await load();
  return h(
    "div.stack",
    null,
    h(
      "div.filters",
      null,
      choice("operator", "Person", [["", "Everybody"], ...names]),
      choice("command", "Act", [["", "Every act"], ...Object.entries(DID)]),
      await marketChoice(condition),
    ),
    found,
  );
}

/** A search that names a market. @param {string} condition */
async function marketChoice(condition) {
  const options = h("datalist", { id: "log-markets" });
  /** @type {Map<string, string>} */
  let known = new Map();
  const input = /** @type {HTMLInputElement} */ (
    h("input", { type: "search", list: "log-markets", "aria-label": "Market", placeholder: "Every market: type its words", oninput: typed })
  );
  /** @param {string} search */
  const find = async (search) => {
    const { rows } = await readBack("/markets/figures", "markets", { search, limit: 20 });
    const markets = /** @type {import("./types.js").Market[]} */ (rows);
    known = new Map(markets.map((market) => [market.question, market.conditionId]));
    fill(
      options,
      [...known.keys()].map((question) => h("option", { value: question })),
    );
    return markets[0]?.question ?? "";
  };
  async function typed() {
    if (!known.has(input.value)) await find(input.value);
    const chosen = known.get(input.value);
    if (chosen && chosen !== condition) location.hash = `log/${chosen}`;
    if (!input.value && condition) location.hash = "log";
  }
  input.value = condition ? await find(condition) : "";
  return h("div.search.wide", null, input, options);
}

/**
 * Acts, the newest first, with a button that goes on with older ones.
 * @param {Desk} desk
 * @param {string} title
 * @param {() => Record<string, string | number> & { limit: number }} query
 * @param {import("../lib/dom.js").Child[]} [tools]
 */
export function actList(desk, title, query, tools) {
  const found = h("div.stack", null, skeleton(6));
  /** @type {LoggedAct[]} */
  let all = [];
  const shown = newest(
    (/** @type {{ before?: number, rows: LoggedAct[], next?: number }} */ { before, rows, next }) => {
      all = before === undefined ? rows : [...all, ...rows];
      fill(found, acts(desk, all, { title, tools, next }), h("p.pager", null, older(next)));
    },
    (error) => fill(found, problem(error)),
  );
  /** @param {number} [before] */
  const load = (before) => shown(async () => ({ before, ...(await readBack("/acts", "acts", query(), before, ENOUGH)) }));
  const older = (/** @type {number | undefined} */ next) =>
    next === undefined
      ? h("p.dim", null, "This is the beginning of the journal.")
      : [
          h("button", { type: "button", onclick: () => load(next) }, "Older acts"),
          h("span.dim", null, `Searched back to no. ${format.count(next)}.`),
        ];
  return { found, load };
}

/**
 * @param {Desk} desk
 * @param {LoggedAct[]} rows
 * @param {{ title: string, tools?: import("../lib/dom.js").Child[], next?: number }} of `next` where the search has not reached the beginning
 */
const acts = (desk, rows, { title, tools, next }) =>
  records(
    desk,
    {
      title: `${title} (${rows.length})`,
      columns: [{ label: "When" }, { label: "Who" }, { label: "What" }, { label: "On" }, { label: "Why" }],
      none: next === undefined ? "Nobody did such a thing." : `Nobody did such a thing since no. ${format.count(next)}.`,
      tools,
    },
    rows.map((row) => ({
      cells: [
        [format.when(row.time), h("small.dim", null, `no. ${row.sequence}`)],
        [h("strong", null, row.name), h("small.dim", null, ` ${row.role}`)],
        `${DID[row.command] ?? row.command}${details(row)}`,
        on(row),
        row.reason || h("span.dim", null, "no reason given"),
      ],
    })),
  );

/** @param {LoggedAct} row */
function on({ condition_id: condition, subject, fields }) {
  if (condition) return marketLink(condition, subject ?? "");
  if (typeof fields.wallet === "string") return walletLink(fields.wallet);
  return subject ?? h("span.dim", null, "the exchange");
}

/** @param {LoggedAct} row @returns {string} */
function details({ command, fields, outcomes }) {
  // A registration has every term: the market's page shows them.
  if (command === "/markets") return "";
  const payout = fields.payout ?? fields.counter;
  const parts = [
    typeof payout === "string" && outcomes && payoutText(/** @type {"yes" | "no" | "half"} */ (payout), outcomes),
    typeof fields.amount === "string" && money(fields.amount),
    typeof fields.mode === "string" && fields.mode.replaceAll("-", " "),
    typeof fields.name === "string" && fields.name,
    typeof fields.role === "string" && fields.role,
    fields.archived === true && "archived",
    fields.archived === false && "shown",
    fields.closed_only === true && "restricted",
    fields.closed_only === false && "free to trade",
    ...["fee", "terms", "policy", "payments", "settings"].map((name) => fields[name] && update(/** @type {Fields} */ (fields[name]))),
  ];
  const said = parts.filter(Boolean).join(", ");
  return said && `: ${said}`;
}

/** The fields of an update in their units. @param {Fields} fields */
const update = (fields) =>
  Object.entries(fields)
    .map(([name, value]) => {
      const words = name.replaceAll("_", " ").replace(/ (ppm|ms|seconds)$/, "");
      if (name.endsWith("_limit") || name.endsWith("_minimum")) return `${words} ${money(String(value))}`;
      if (name.endsWith("ppm")) return `${words} ${percent(Number(value))}`;
      if (name.endsWith("_ms")) return `${words} ${format.delay(Number(value))}`;
      if (name.endsWith("_at") || name.endsWith("_time"))
        return `${words} ${typeof value === "string" ? format.when(value) : value ? format.when(Number(value)) : "by command"}`;
      return `${words} ${Array.isArray(value) ? value.join(", ") : String(value)}`;
    })
    .join(", ");
