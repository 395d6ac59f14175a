/** Wallets: EIP-1193 providers of the browser (EIP-6963), and the development wallets of a demo. */

import { t } from "./messages.js";

/**
 * @typedef {object} Provider
 * @property {(call: { method: string, params?: unknown[] }) => Promise<any>} request
 *
 * @typedef {object} Wallet
 * @property {string} id
 * @property {string} name
 * @property {string} [address] known before connecting (development wallets)
 * @property {Provider} provider
 * @property {boolean} development
 */

/** @type {Map<string, Wallet>} */
const announced = new Map();

/** Collects the wallets that announce themselves, then asks for them. */
export function discover() {
  window.addEventListener("eip6963:announceProvider", (event) => {
    const detail = /** @type {any} */ (event).detail;
    if (!detail?.info?.uuid || !detail.provider) return;
    announced.set(detail.info.uuid, {
      id: detail.info.uuid,
      name: String(detail.info.name ?? "Wallet"),
      provider: detail.provider,
      development: false,
    });
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
}

/** @returns {Wallet[]} */
export function browserWallets() {
  const old = /** @type {any} */ (window).ethereum;
  if (announced.size === 0 && old?.request) {
    return [{ id: "window.ethereum", name: "window.ethereum", provider: old, development: false }];
  }
  return [...announced.values()];
}

let calls = 0;

/** The signing endpoint of `up --demo`, as a provider. */
const development = {
  /** @param {{ method: string, params?: unknown[] }} call */
  async request({ method, params = [] }) {
    calls += 1;
    const response = await fetch("/ui/wallet", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: calls, method, params }),
    });
    const answer = await response.json().catch(() => null);
    if (!response.ok || answer?.error) {
      throw new Error(answer?.error?.message ?? answer?.error ?? `${response.status} ${response.statusText}`);
    }
    return answer.result;
  },
};

/** @returns {Promise<Wallet[]>} none outside of a demo */
export async function developmentWallets() {
  const addresses = await development.request({ method: "eth_accounts" }).catch(() => []);
  return addresses.map((/** @type {string} */ address, /** @type {number} */ index) =>
    developmentWallet(address, t("dev_wallet", { n: index + 1 })),
  );
}

/**
 * @param {string} address
 * @param {string} name
 * @returns {Wallet}
 */
export const developmentWallet = (address, name) => ({
  id: `development:${address}`,
  name,
  address,
  provider: development,
  development: true,
});

/**
 * @param {Wallet} wallet
 * @returns {Promise<string>} the address that signs
 */
export async function requestAddress(wallet) {
  if (wallet.address) return wallet.address;
  const [address] = await wallet.provider.request({ method: "eth_requestAccounts" });
  if (!address) throw new Error(t("no_account"));
  return address;
}

/**
 * Brings the wallet to the exchange's chain: wallets refuse typed data of another one.
 * @param {Wallet} wallet
 * @param {number} chain
 */
export async function ensureChain(wallet, chain) {
  const theirs = Number(await wallet.provider.request({ method: "eth_chainId" }));
  if (theirs === chain) return;
  try {
    await wallet.provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId: `0x${chain.toString(16)}` }] });
  } catch {
    // Not on the list of the wallet, or refused: the same to the visitor.
    throw new Error(t("wrong_chain", { theirs, ours: chain }));
  }
}

/**
 * @param {Wallet} wallet
 * @param {string} address
 * @param {object} data EIP-712 typed data
 * @returns {Promise<string>}
 */
export function signTypedData(wallet, address, data) {
  return wallet.provider.request({ method: "eth_signTypedData_v4", params: [address, JSON.stringify(data)] });
}
