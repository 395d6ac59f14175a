/** Requests of the operator's page, and its errors in words. The token stays in the tab: it is gone when the tab closes. */

/** @typedef {import("./types.js").Answer} Answer */

const KEY = "foretell.operator_token";

/** An answer that is no success. `message` is the exchange's text. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {number} status 0 when there was no answer
   * @param {string} code
   */
  constructor(message, status, code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

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
async function send(method, path, body) {
  const headers = { accept: "application/json", authorization: `Bearer ${token()}` };
  if (body) Object.assign(headers, { "content-type": "application/json" });
  let response;
  try {
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body), cache: "no-store" });
  } catch {
    throw new Refused("", 0, "");
  }
  const text = await response.text();
  const answer = parsed(text);
  if (!response.ok) throw new Refused(String(answer?.error ?? text.slice(0, 300)), response.status, String(answer?.code ?? ""));
  return /** @type {T} */ (answer);
}

/**
 * @param {string} text
 * @returns {Record<string, unknown> | null}
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
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
  return send("GET", text ? `${path}?${text}` : path);
}

/**
 * @param {string} path
 * @param {object} body
 * @returns {Promise<Answer>}
 */
export const act = (path, body) => send("POST", path, body);

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

/**
 * The words for an error; what the exchange said, where it says more.
 * @param {unknown} error
 * @returns {{ text: string, detail: string }}
 */
export function explained(error) {
  if (!(error instanceof Refused)) return { text: "The page failed.", detail: String(error) };
  if (error.status === 0) return { text: "The exchange does not answer. Is it running?", detail: "" };
  return { text: WORDS[error.code] ?? "The exchange refused this.", detail: error.message };
}
