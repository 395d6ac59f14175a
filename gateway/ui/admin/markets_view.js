/** All markets: search, state, what is traded, what is due; and event groups. */

import { h } from "../lib/dom.js";
import * as format from "../lib/format.js";
import { nextText, payoutText } from "../lib/life.js";
import { read, readBack } from "./api.js";
import { STATES, lifeOf, nextActs, quoted } from "./market_acts.js";
import { marketLink, money, price, records } from "./parts.js";
import { PAGE, pagedList, searchList, wantedNow } from "./search_list.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./types.js").Market} Market */
/** @typedef {import("./types.js").Review} Review */

/** What is looked for, until the tab closes. */
const wanted = { ...wantedNow(), status: "" };
const wantedGroups = wantedNow();

/** @param {Desk} desk */
export async function marketsView(desk) {
  const states = [["", "All states"], ...Object.entries(STATES), ["archived", "archived"]];
  const filters = (/** @type {() => void} */ changed) => [
    h(
      "select",
      {
        "aria-label": "State",
        onchange: (/** @type {Event} */ event) => {
          wanted.status = /** @type {HTMLSelectElement} */ (event.target).value;
          changed();
        },
      },
      states.map(([value, text]) => h("option", { value, selected: value === wanted.status }, text)),
    ),
    h("span.grow"),
    desk.may("/markets") && h("a.button.primary", { href: "#new" }, "New market"),
  ];
  return h("div.stack", null, await searchList(wanted, "Search markets", (before) => page(desk, before), filters), await groups(desk));
}

const COLUMNS = [
  { label: "Market" },
  { label: "State" },
  ...["Price", "Volume", "Open interest", "Orders"].map((label) => ({ label, class: "num" })),
  { label: "Due" },
  { label: "Acts", class: "acts" },
];

/** @param {Desk} desk @param {number} [before] */
async function page(desk, before) {
  const { search, status } = wanted;
  const archived = status === "archived";
  const query = { search, limit: PAGE, status: archived ? "" : status, archived: String(archived) };
  const [markets, review] = await Promise.all([
    readBack("/markets/figures", "markets", query, before),
    /** @type {Promise<Review>} */ (read("/review")),
  ]);
  const rows = markets.rows.map((/** @type {Market} */ market) => ({
    key: market.conditionId,
    cells: [
      marketLink(market.conditionId, market.question || market.slug),
      stateTag(market),
      market.payout ? `${payoutText(market.payout, market.outcomes)} paid` : `${market.outcomes[0]} ${price(market.price)}`,
      money(market.volume),
      money(market.openInterest),
      format.count(market.liveOrders),
      dueText(market, review) || format.NONE,
      nextActs(market).map((act) => desk.button(market.conditionId, act)),
    ],
  }));
  const none = search || status ? "No market matches. Try other words or another state." : "There is no market yet. Create the first one.";
  return { next: markets.next, shown: rows.length, content: records(desk, { title: "Markets", columns: COLUMNS, none }, rows) };
}

/** @param {Market} market */
export const stateTag = (market) =>
  h(
    "span.state-tag",
    { "data-state": market.status },
    market.status === "resolved" && !market.settled ? "paying out" : STATES[market.status],
    market.archived && ", archived",
  );

/**
 * What is due of a market, and whose turn it is.
 * @param {Market} market
 * @param {Review} review
 */
export function dueText(market, review) {
  const proposal = review.proposals.find((row) => row.condition_id === market.conditionId);
  const closed = review.closed.find((row) => row.condition_id === market.conditionId);
  if (proposal?.dispute) return `disputed by ${proposal.dispute.disputed_by}`;
  if (proposal?.challenge_over) return proposal.by_time ? "finalises itself" : "to be finalised";
  if (closed) return `payout due since ${format.age(closed.closed_seconds)}`;
  return nextText(lifeOf(market, proposal), Date.now());
}

/** @param {import("./types.js").Group} [group] @returns {import("./fields.js").Spec[]} */
const words = (group) => [
  { name: "title", label: "Title", value: group?.title, required: true },
  { name: "description", label: "Description", kind: "long", value: group?.description },
  { name: "tags", label: "Topics", kind: "list", value: group?.tags, help: "With commas." },
];

/** @param {Desk} desk */
async function groups(desk) {
  const { found, load } = pagedList(wantedGroups, (before) => groupPage(desk, before));
  await load();
  return found;
}

/** @param {Desk} desk @param {number} [before] */
async function groupPage(desk, before) {
  const groups = await readBack("/events", "events", { limit: PAGE }, before);
  const rows = groups.rows.map((/** @type {import("./types.js").Group} */ group) => ({
    key: `event ${group.event_id}`,
    cells: [
      h("strong", null, group.title || String(group.event_id)),
      group.tags.join(", ") || format.NONE,
      format.count(group.questions.length),
      group.own ? "yours" : "an upstream’s",
      group.own &&
        desk.button(`event ${group.event_id}`, {
          name: "Edit the words",
          path: "/events/describe",
          says: `of ${quoted(group.title)}: the catalog shows the new ones`,
          fixed: { event_id: group.event_id },
          fields: words(group),
          done: "The words are changed.",
        }),
    ],
  }));
  const add = desk.button("events", {
    name: "New event group",
    path: "/events",
    says: "for questions of which one comes true: then add its markets and open them together",
    fields: words(),
    done: "The event group is there. Choose it in the markets that are its questions.",
  });
  const columns = [
    { label: "Event group" },
    { label: "Topics" },
    { label: "Questions", class: "num" },
    { label: "Words" },
    { label: "Acts", class: "acts" },
  ];
  const of = { title: "Event groups", columns, none: "There is no event group.", key: "events", tools: [add] };
  return { next: groups.next, shown: rows.length, content: records(desk, of, rows) };
}
