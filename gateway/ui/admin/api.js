/** Requests of the operator's page. The token stays in the tab: it is gone when the tab closes. */

const KEY = "foretell.operator_token";

/** An answer that is no success, in the words of the exchange. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {number} status 0 when there was no answer
   */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export const token = () => sessionStorage.getItem(KEY) ?? "";

/** @param {string} value */
export const setToken = (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY));

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 */
async function send(method, path, body) {
  const headers = { accept: "application/json", authorization: `Bearer ${token()}` };
  if (body) Object.assign(headers, { "content-type": "application/json" });
  let response;
  try {
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body), cache: "no-store" });
  } catch {
    throw new Refused("no answer of the exchange", 0);
  }
  const text = await response.text();
  const answer = parsed(text);
  if (!response.ok) throw new Refused(String(answer?.error ?? text.slice(0, 300)), response.status);
  return answer;
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @param {string} path */
export const read = (path) => send("GET", path);

/**
 * @param {string} path
 * @param {object} body
 */
export const act = (path, body) => send("POST", path, body);
