/** Withdrawals: asked for by the wallet's signature, cancelled (docs/api/withdrawals.md). */

import { refreshSoon } from "./account.js";
import { isTemporary, load } from "./rest.js";
import { act, session } from "./session.js";
import { signedWithdrawal } from "./typed_data.js";
import { signTypedData } from "./wallet.js";

/**
 * @typedef {object} Withdrawal a row of `/withdrawals`
 * @property {number} withdrawal its number
 * @property {string} destination
 * @property {string} amount
 * @property {"requested" | "claimed" | "paid" | "failed" | "cancelled"} status
 * @property {string} requested_at
 * @property {string} payment
 */

/** A signed request counts this long. */
const VALID_MS = 600_000;

/** The signed request without an answer that counts: sent again it asks for nothing twice. @type {Record<string, any> | null} */
let unanswered = null;

/**
 * Has the wallet sign a request and sends it.
 * @param {bigint} amount micros
 * @param {string} destination
 */
export async function askWithdrawal(amount, destination) {
  const current = session();
  if (!current) throw new Error("no session");
  const asked = { wallet: current.address, destination, amount: String(amount) };
  const isSame = unanswered && Object.entries(asked).every(([name, value]) => unanswered?.[name] === value);
  unanswered = isSame ? unanswered : await signed(current, asked);
  try {
    await act("POST", "/withdrawals", /** @type {object} */ (unanswered));
  } catch (error) {
    if (!isTemporary(error)) unanswered = null;
    throw error;
  }
  unanswered = null;
  refreshSoon();
}

/**
 * @param {import("./session.js").Session} current
 * @param {{ wallet: string, destination: string, amount: string }} asked
 */
async function signed(current, asked) {
  const reference = `page ${crypto.randomUUID()}`;
  const validUntil = Date.now() + VALID_MS;
  const request = { ...asked, reference };
  const data = signedWithdrawal({ ...request, validUntil: String(validUntil) }, await load("/withdrawals/domain"));
  return { ...request, validUntil, signature: await signTypedData(current.wallet, current.address, data) };
}

/** @param {number} number */
export async function cancelWithdrawal(number) {
  await act("DELETE", `/withdrawals/${number}`);
  refreshSoon();
}
