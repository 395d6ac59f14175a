/** The visitor's session: wallet, API key, signed requests. The key's secret stays in memory unless wanted otherwise. */

import { get, set } from "./store.js";
import { ApiError, change, read } from "./rest.js";
import { t } from "./messages.js";
import { clobAuth, signedOrder, ZERO32 } from "./typed_data.js";
import { browserWallets, developmentWallet, ensureChain, requestAddress, signTypedData } from "./wallet.js";

/**
 * @typedef {object} Session
 * @property {import("./wallet.js").Wallet} wallet
 * @property {string} address
 * @property {{ apiKey: string, secret: string, passphrase: string }} key
 */

const STORED = "foretell.session";

/** @returns {Session | null} */
export const session = () => get("session") ?? null;

const prefix = () => get("site")?.header_prefix ?? "POLY";

/**
 * Makes the key of a wallet. That of a development wallet, whose own key is public, is always kept.
 * @param {import("./wallet.js").Wallet} wallet
 * @param {boolean} remember keeps the key in the storage of this tab
 */
export async function connect(wallet, remember) {
  const chain = get("site")?.chain_id ?? 0;
  const address = await requestAddress(wallet);
  await ensureChain(wallet, chain);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = await signTypedData(wallet, address, clobAuth(address, timestamp, 0, chain));
  const name = prefix();
  const headers = {
    [`${name}_ADDRESS`]: address,
    [`${name}_SIGNATURE`]: signature,
    [`${name}_TIMESTAMP`]: timestamp,
    [`${name}_NONCE`]: "0",
  };
  const { data } = await change("POST", "/auth/api-key", undefined, async () => headers);
  if (remember || wallet.development)
    sessionStorage.setItem(STORED, JSON.stringify({ id: wallet.id, name: wallet.name, address, key: data }));
  set("session", { wallet, address, key: data });
}

/** Takes up the session that this tab kept, if its wallet is still there: that of a demo is while the site names its wallets. */
export function resume() {
  let kept;
  try {
    kept = JSON.parse(sessionStorage.getItem(STORED) ?? "null");
  } catch {
    return;
  }
  if (!kept) return;
  const development = get("site")?.wallet ? [developmentWallet(kept.address, kept.name)] : [];
  const wallet = [...development, ...browserWallets()].find((candidate) => candidate.id === kept.id);
  if (wallet) set("session", { wallet, address: kept.address, key: kept.key });
}

/** Ends the session. */
export function disconnect() {
  sessionStorage.removeItem(STORED);
  set("session", null);
}

/** @param {string} text padded base64url */
function bytesOf(text) {
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/**
 * Headers of a signed request (L2): HMAC over timestamp, method, path without query, and body.
 * @param {string} method
 * @param {string} path
 * @param {string} [body]
 * @returns {Promise<Record<string, string>>}
 */
export async function signedHeaders(method, path, body = "") {
  const current = session();
  if (!current) throw new Error("no session");
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = await crypto.subtle.importKey("raw", bytesOf(current.key.secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const message = new TextEncoder().encode(timestamp + method + path.split("?")[0] + body);
  const digest = new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
  const signature = btoa(String.fromCharCode(...digest))
    .replace(/\+/g, "-")
    .replace(/\//g, "_");
  const name = prefix();
  return {
    [`${name}_ADDRESS`]: current.address,
    [`${name}_API_KEY`]: current.key.apiKey,
    [`${name}_PASSPHRASE`]: current.key.passphrase,
    [`${name}_TIMESTAMP`]: timestamp,
    [`${name}_SIGNATURE`]: signature,
  };
}

/**
 * A signed read of one's own records.
 * @param {string} path
 * @param {AbortSignal} signal
 */
export const readOwn = (path, signal) => endingStale(read(path, { headers: () => signedHeaders("GET", path), signal }));

/**
 * A signed change. Each attempt is signed anew: signatures age.
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
export function act(method, path, body) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return endingStale(change(method, path, text, () => signedHeaders(method, path, text)));
}

/**
 * Ends a session whose key the exchange does not know, such as one of another journal.
 * @template T
 * @param {Promise<T>} answer
 * @returns {Promise<T>}
 */
async function endingStale(answer) {
  const asked = session();
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401 && session() === asked) {
      disconnect();
      set("notice", t("key_unknown", { reason: error.message }));
    }
    throw error;
  }
}

/**
 * The first domain that fits the kind of market.
 * @param {boolean} negRisk
 */
function orderDomain(negRisk) {
  const fits = ["both", negRisk ? "neg-risk" : "plain"];
  const domain = get("site")?.order_domains.find((each) => fits.includes(each.markets));
  if (!domain) throw new Error(t("no_domain"));
  return domain;
}

/**
 * Has the wallet sign an order and sends it.
 * @param {object} terms
 * @param {string} terms.token
 * @param {boolean} terms.negRisk
 * @param {"BUY" | "SELL"} terms.side
 * @param {bigint} terms.makerAmount micros
 * @param {bigint} terms.takerAmount micros
 * @param {string} terms.type GTC, GTD, FOK or FAK
 * @param {boolean} terms.postOnly
 * @param {number} [terms.expiration] unix seconds, GTD only
 * @param {() => void} [terms.signed] called when the wallet has signed
 */
export async function placeOrder(terms) {
  const current = session();
  if (!current) throw new Error("no session");
  const salt = crypto.getRandomValues(new Uint32Array(2)).reduce((sum, part) => sum * 0x100000 + (part & 0xfffff), 0);
  const order = {
    salt: String(salt),
    maker: current.address,
    signer: current.address,
    tokenId: terms.token,
    makerAmount: String(terms.makerAmount),
    takerAmount: String(terms.takerAmount),
    side: terms.side === "BUY" ? 0 : 1,
    signatureType: 0,
    timestamp: String(Date.now()),
    metadata: ZERO32,
    builder: ZERO32,
  };
  const data = signedOrder(order, orderDomain(terms.negRisk));
  const signature = await signTypedData(current.wallet, current.address, data);
  terms.signed?.();
  const body = {
    order: { ...order, side: terms.side, signature, ...(terms.expiration ? { expiration: String(terms.expiration) } : {}) },
    owner: current.key.apiKey,
    orderType: terms.type,
    ...(terms.postOnly ? { postOnly: true } : {}),
  };
  const { data: result } = await act("POST", "/order", body);
  return result;
}
