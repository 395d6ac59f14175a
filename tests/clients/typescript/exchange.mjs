// The running exchange and wallets of its own: what clients cannot do (deposits) goes through the
// operator's command line, everything else through the stock client.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { Chain, ClobClient, Side } from "@polymarket/clob-client-v2";
import { createWalletClient, http } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const HOST = process.env.EXCHANGE_TRADING;
const CHAIN = Chain.AMOY;
export const NOBODY = "00000000-0000-0000-0000-000000000000";

/** Runs an operator's command and returns its JSON answer. */
export async function operate(...command) {
  const { stdout } = await promisify(execFile)(
    process.env.EXCHANGE_BINARY,
    ["--json", "--data", process.env.EXCHANGE_DATA, ...command],
    {
      cwd: process.env.EXCHANGE_DATA,
      env: {
        ...process.env,
        FORETELL_OPERATOR_LISTEN: process.env.EXCHANGE_OPERATOR.replace("http://", ""),
      },
    },
  );
  return JSON.parse(stdout);
}

/** A client without a wallet: public reads. */
export const visitor = () => new ClobClient({ host: HOST, chain: CHAIN, throwOnError: true });

/** A client with a wallet nobody else has, an API key, and this much collateral. */
export async function trader(collateral) {
  const account = privateKeyToAccount(generatePrivateKey());
  const signer = createWalletClient({ account, transport: http(HOST) });
  const unnamed = new ClobClient({ host: HOST, chain: CHAIN, signer, throwOnError: true });
  const creds = await unnamed.createOrDeriveApiKey();
  await operate("account", "deposit", account.address, String(collateral));
  const client = new ClobClient({ host: HOST, chain: CHAIN, signer, creds, throwOnError: true });
  return { client, creds, address: account.address.toLowerCase() };
}

/** Every item of a paged list, through the client's own method. */
export async function pages(list) {
  const found = [];
  for (let cursor = "MA=="; cursor !== "LTE="; ) {
    const page = await list(cursor);
    found.push(...page.data);
    cursor = page.next_cursor;
  }
  return found;
}

/** Markets that take orders, plain or neg-risk, without fees and delay, and whose books are empty. */
export async function quietMarkets(negRisk) {
  const client = visitor();
  const listed = await pages((cursor) => client.getMarkets(cursor));
  const quiet = [];
  for (const market of listed) {
    if (market.neg_risk !== negRisk || !market.accepting_orders) continue;
    if (market.taker_base_fee > 0 || market.seconds_delay > 0) continue;
    const book = await client.getOrderBook(market.tokens[0].token_id);
    if (book.bids.length + book.asks.length === 0) quiet.push(market);
  }
  return quiet;
}

/** Signs and posts a limit order. */
export async function place(client, tokenID, side, price, size, orderType, postOnly = false) {
  const order = await client.createOrder({ tokenID, price, size, side });
  return client.postOrder(order, orderType, postOnly);
}

/** Looks until what is seen holds. */
export async function eventually(look, holds) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export { Side };
