/** Requests of the operator's page, and its errors in words. The token stays in the tab: it is gone when the tab closes. */

import { readOn } from "../lib/pages.js";
import { explain, send } from "../lib/rest.js";

/** @typedef {import("./types.js").Answer} Answer */

const KEY = "foretell.operator_token";
/** Requests of one search. */
const MOST_REQUESTS = 20;

export const token = () => sessionStorage.getItem(KEY) ?? "";

/** @param {string} value */
export const setToken = (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY));

/**
 * @template T
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<T>}
 */
async function ask(method, path, body) {
  const headers = { authorization: `Bearer ${token()}` };
  return (await send(method, path, { headers, body: body && JSON.stringify(body) })).data;
}

/**
 * @template T
 * @param {string} path
 * @param {Record<string, string | number | undefined>} [query] values that are left out when empty
 * @returns {Promise<T>}
 */
export function read(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return ask("GET", text ? `${path}?${text}` : path);
}

/**
 * Rows of a list before a number, the newest first. Where few rows fit an answer may have none: the search goes on, for a while.
 * @param {string} path
 * @param {string} name of the rows
 * @param {Record<string, string | number | undefined> & { limit: number }} query
 * @param {number} [before]
 * @param {number} [least] rows that are enough
 * @returns {Promise<import("../lib/pages.js").Page<any, number>>}
 */
export const readBack = (path, name, query, before, least = query.limit) =>
  readOn(
    async (/** @type {number | undefined} */ from) => {
      const page = await /** @type {Promise<any>} */ (read(path, { ...query, before: from }));
      return { rows: page[name], next: page.next };
    },
    { from: before, enough: (rows, requests) => rows.length >= least || requests >= MOST_REQUESTS },
  );

/**
 * @param {string} path
 * @param {object} body
 * @returns {Promise<Answer>}
 */
export const act = (path, body) => ask("POST", path, body);

export const TOKEN_PLACE =
  "The first admin’s token is in the file operator.token of the data directory. An admin adds other persons under “Operators”; each gets a token then.";

/** What the operator may do about it. @type {Record<string, string>} */
const WORDS = {
  operator_unauthorized: `The exchange does not know this token, or it was revoked. ${TOKEN_PLACE}`,
  operator_role: "Your role does not include this. “Operators” says who has which role.",
  same_person: "This needs another operator: who proposed or asked may not confirm.",
  new_operator: "You were added too recently to count as the second person. “Operators” says from when you count.",
  second_person_required: "The policy asks for two persons: propose the payout, then another operator finalises it.",
  proposal_disputed: "Somebody has disputed the proposal. Refresh the queue, then propose again or withdraw it.",
  already_proposed: "There is a proposal already. It is in the queue under “Review”.",
  no_proposal: "The proposal is not there any more. Refresh the queue.",
  challenge_open: "The window for disputes has not ended yet.",
  book_not_empty: "Its resting orders are still being cancelled. Try again in a moment.",
  invalid_transition: "The market is in another state by now. Refresh to see it.",
  market_not_found: "There is no such market.",
  account_not_found: "No account has this address. A first deposit opens one.",
  insufficient_balance: "There is not that much free.",
  reference_reused: "This was sent before with another amount. Close the dialog and start again.",
  operator_name_taken: "A live operator has this name. Choose another one.",
  last_admin: "This is the last admin. Add another admin first.",
  slug_taken: "Another market has this address. Choose another one.",
  market_differs: "A market with this address exists and differs. Choose another address.",
  closes_in_past: "It would close in the past.",
  clock_contradicts: "It would close before it opens.",
  ends_in_past: "Its end date is over.",
  nothing_accrued: "No rebate has accrued since the last payment.",
  engine_unavailable: "The engine does not answer at the moment. Nothing was changed. Try again.",
  recovering: "The exchange is starting. Try again in a moment.",
};

/** @param {unknown} error */
export const explained = (error) => explain(error, (code) => WORDS[code], "The exchange does not answer. Is it running?");
