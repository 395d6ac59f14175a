/** The queue of payouts: proposals with their age, evidence and persons; closed markets that wait for one. */

import { h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { read } from "./api.js";
import { dispute, finalise, propose, withdraw } from "./market_acts.js";
import { ago, marketLink, millis, records } from "./parts.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./types.js").Proposal} Proposal */

/** @param {Desk} desk */
export async function reviewView(desk) {
  const { proposals, closed } = await /** @type {Promise<import("./types.js").Review>} */ (read("/review"));
  const columns = [{ label: "Market" }, { label: "Closed" }, { label: "Waits for" }, { label: "Acts", class: "acts" }];
  const rows = closed.map((row) => ({
    key: row.condition_id,
    cells: [
      marketLink(row.condition_id, row.question),
      `${format.when(row.closed_at)}, ${format.age(row.closed_seconds)} ago`,
      "a proposal",
      desk.button(row.condition_id, propose(row.condition_id, row.question, row.outcomes)),
    ],
  }));
  return h(
    "div.stack",
    null,
    proposalRecords(desk, proposals),
    records(
      desk,
      { title: `Closed, without a proposal (${closed.length})`, columns, none: "No closed market waits for a proposal." },
      rows,
    ),
  );
}

/**
 * @param {Desk} desk
 * @param {Proposal[]} proposals
 */
export function proposalRecords(desk, proposals) {
  const columns = [
    { label: "Market" },
    { label: "Payout" },
    { label: "Proposed by" },
    { label: "Evidence" },
    { label: "Second person" },
    { label: "Acts", class: "acts" },
  ];
  const rows = proposals.map((row) => ({
    key: row.condition_id,
    cells: [
      marketLink(row.condition_id, row.question),
      h("strong", null, row.outcome),
      [h("strong", null, row.proposed_by), h("small.dim", null, `${ago(row.proposed_at)}, ${format.when(row.proposed_at)}`)],
      evidence(row),
      second(row, desk),
      actsOf(desk, row).map((act) => desk.button(row.condition_id, act)),
    ],
  }));
  return records(desk, { title: `Proposals and disputes (${proposals.length})`, columns, none: "No payout is proposed." }, rows);
}

/** @param {Proposal} row */
function evidence(row) {
  const isLink = /^https?:\/\//.test(row.source);
  const source = isLink ? h("a.link", { href: row.source, rel: "noreferrer noopener", target: "_blank" }, row.source) : row.source;
  const hash =
    /[1-9a-f]/.test(row.evidence_sha256.slice(2)) &&
    h("small.mono", { title: row.evidence_sha256 }, `SHA-256 ${row.evidence_sha256.slice(0, 12)}…`);
  return row.source || hash ? [source || null, hash] : [h("span.dim", null, "none given")];
}

/**
 * Who the second person is, or what is asked of one.
 * @param {Proposal} row
 * @param {Desk} desk
 */
function second(row, desk) {
  const { dispute: disputed } = row;
  if (disputed) {
    const counter = disputed.counter_outcome ? `: ${disputed.counter_outcome}, ` : ": ";
    return [
      h("strong", null, disputed.disputed_by),
      h("span", null, ` disputes${counter}${disputed.reason}`),
      h("small.dim", null, ago(disputed.disputed_at)),
    ];
  }
  const left = row.challenge_over ? "the window has ended" : `window ends in ${format.left(millis(row.challenge_ends) - Date.now())}`;
  const isMine = row.proposed_by === desk.me.name;
  const mayI = desk.may("/markets/finalise") && !(row.second_person && isMine);
  const whom = row.by_time
    ? "time finalises"
    : mayI
      ? "you may finalise"
      : isMine
        ? "another operator than you finalises"
        : "another operator finalises";
  return [whom, h("small.dim", null, left)];
}

/**
 * @param {Desk} desk
 * @param {Proposal} row
 */
function actsOf(desk, row) {
  const isMine = row.proposed_by === desk.me.name;
  const mayWithdraw = row.dispute ? !isMine && desk.me.role === "admin" : isMine || desk.me.role === "admin";
  const back = mayWithdraw ? [withdraw(row)] : [];
  if (row.dispute) return [propose(row.condition_id, row.question, row.outcomes, row.proposal), ...back];
  const mayEnd = row.challenge_over && !(row.second_person && isMine);
  return [...(mayEnd ? [finalise(row)] : []), ...(isMine ? [] : [dispute(row)]), ...back];
}
