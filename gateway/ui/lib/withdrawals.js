/** Withdrawals: asked for by the wallet's signature, cancelled (docs/api/withdrawals.md). */

import { refreshSoon } from "./account.js";
import { load } from "./rest.js";
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

/**
 * Has the wallet sign a request and sends it.
 * @param {bigint} amount micros
 * @param {string} destination
 */
export async function askWithdrawal(amount, destination) {
  const current = session();
  if (!current) throw new Error("no session");
  const reference = `page ${crypto.randomUUID()}`;
  const validUntil = Date.now() + VALID_MS;
  const request = { wallet: current.address, destination, amount: String(amount), reference };
  const data = signedWithdrawal({ ...request, validUntil: String(validUntil) }, await load("/withdrawals/domain"));
  const signature = await signTypedData(current.wallet, current.address, data);
  await act("POST", "/withdrawals", { ...request, validUntil, signature });
  refreshSoon();
}

/** @param {number} number */
export async function cancelWithdrawal(number) {
  await act("DELETE", `/withdrawals/${number}`);
  refreshSoon();
}
