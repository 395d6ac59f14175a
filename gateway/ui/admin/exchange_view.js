/** The exchange as a whole: mode, figures, each process, policy. */

import { h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { read } from "./api.js";
import { policyFields, policyText } from "./market_acts.js";
import { cards, money, panel, records } from "./parts.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./types.js").Status} Status */

const MODES = /** @type {Record<string, string>} */ ({
  running: "Running: everything is accepted",
  post_only: "Post only: new orders may only rest",
  cancel_only: "Cancel only: no new orders",
  paused: "Paused: nothing of clients is accepted",
});

/** What processes without figures of their own do. */
const OTHERS = /** @type {Record<string, string>} */ ({
  supervisor: "starts the others, and again when one ends",
  "catalog-sync": "no upstream is followed",
  "demo-bots": "trade in the demo",
});

/** @param {Desk} desk */
export async function exchangeView(desk) {
  const status = await /** @type {Promise<Status>} */ (read("/status"));
  const { exchange } = status;
  return h(
    "div.stack",
    null,
    panel(desk, "State", [h("p.says", null, MODES[exchange.mode]), h("div.buttons.start", null, stateButtons(desk, exchange))], "system"),
    cards([
      ["Commands", format.count(exchange.sequence), `durable on ${exchange.durability}`],
      [
        "Markets",
        format.count(exchange.markets),
        exchange.unpaid_markets
          ? `${exchange.unpaid_markets} closed and unpaid, since ${format.age(exchange.oldest_unpaid_seconds)}`
          : "all closed ones are paid",
      ],
      ["Accounts", format.count(exchange.accounts)],
      ["Resting orders", format.count(exchange.live_orders)],
      ["Deposited", money(exchange.collateral)],
      ["Collected fees", money(exchange.fees)],
      exchange.outward_closed
        ? ["Outward", "closed", "since a restore: no withdrawal, webhook, sync or oracle until withdrawals are opened"]
        : ["Outward", "open", "withdrawals, webhooks, sync, oracle"],
    ]),
    processRecords(desk, status),
    panel(
      desk,
      "Payouts",
      [h("p.says", null, `${policyText(exchange.policy)}.`), h("div.buttons.start", null, policyButton(desk, exchange))],
      "policy",
    ),
  );
}

/** @param {Desk} desk @param {Status["exchange"]} exchange */
const stateButtons = (desk, exchange) => [
  desk.button("system", {
    name: "Change the mode",
    path: "/system/mode",
    says: "of the whole exchange, for every market and client at once",
    fields: [{ name: "mode", label: "Mode", kind: "choice", choices: Object.entries(MODES), value: exchange.mode, required: true }],
    done: "The mode is changed.",
  }),
  desk.button("system", {
    name: "Write a snapshot",
    path: "/snapshot",
    says: "of everything that is durable now: the next start is faster",
    done: "The snapshot is written.",
  }),
];

/** @param {Desk} desk @param {Status["exchange"]} exchange */
const policyButton = (desk, { policy }) =>
  desk.button("policy", {
    name: "Change the policy",
    path: "/policy",
    says: "of the site: who proposes and disputes payouts, and who finalises them",
    fields: policyFields(policy),
    done: "The policy is changed.",
  });

/** @param {Desk} desk @param {Status} status */
function processRecords(desk, { processes, engine, gateway, catalog }) {
  /** @param {string} name */
  const own = (name) => {
    if (name === "engine") return engine ? engineText(engine) : "it does not answer";
    if (name === "gateway-1") return `${gateway.connections} connections, ${gateway.inFlight} commands on their way`;
    if (name === "catalog-sync" && catalog) return catalogText(catalog);
    return OTHERS[name] ?? format.NONE;
  };
  const rows = processes.map((process) => ({
    cells: [
      h("strong", null, process.name),
      format.age(process.ageSeconds),
      `${process.cpuSeconds.toFixed(1)} s`,
      `${process.ageSeconds ? ((100 * process.cpuSeconds) / process.ageSeconds).toFixed(1) : "0"}%`,
      format.bytes(process.memoryBytes),
      format.count(process.threads),
      own(process.name),
      String(process.pid),
    ],
  }));
  const num = (/** @type {string} */ label) => ({ label, class: "num" });
  const columns = [
    { label: "Process" },
    num("Runs for"),
    num("CPU time"),
    num("Of a core"),
    num("Memory"),
    num("Threads"),
    { label: "What it does" },
    num("Process id"),
  ];
  return records(desk, { title: `Processes of this host (${rows.length})`, columns, none: "The kernel lists none." }, rows);
}

/** @param {NonNullable<Status["engine"]>} engine */
const engineText = (engine) =>
  [
    `queue ${engine.ring}`,
    engine.busy > 0 && `${format.count(engine.busy)} refused because it was full`,
    engine.publisherLag > 0 && `publisher ${format.count(engine.publisherLag)} commands behind`,
    engine.snapshotFailed && "the last snapshot failed",
    engine.diskLow && "the disk is nearly full: new orders are rejected",
  ]
    .filter(Boolean)
    .join(", ");

/** @param {NonNullable<Status["catalog"]>} catalog */
const catalogText = (catalog) =>
  [
    catalog.upstream || "no upstream",
    catalog.ageSeconds !== null && `last round ${format.age(catalog.ageSeconds)} ago`,
    ...catalog.findings.slice(0, 2),
  ]
    .filter(Boolean)
    .join(", ");
