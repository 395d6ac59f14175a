// Places one order with the stock TypeScript client, finds it in the book, cancels it.
//
//   npm install --no-save --prefix examples
//   examples/node_modules/.bin/tsx examples/first_order.ts
//
// It trades in the first market, by name, that accepts orders. TRADING_URL and PRIVATE_KEY, as `foretell up --demo`
// prints them, choose the exchange and the wallet; the defaults are those of the demo.

import { Chain, ClobClient, OrderType, Side } from "@polymarket/clob-client-v2";
import { createWalletClient, http, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const host = process.env.TRADING_URL ?? "http://127.0.0.1:8080";
// A public development key: anybody can use it. Never send anything of value to its address.
const demoKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const chain: Chain = Number(process.env.CHAIN_ID ?? Chain.AMOY); // 80002

const account = privateKeyToAccount((process.env.PRIVATE_KEY ?? demoKey) as Hex);
const signer = createWalletClient({ account, transport: http(host) });
const anonymous = new ClobClient({ host, chain, signer, throwOnError: true });
const creds = await anonymous.createOrDeriveApiKey();
const client = new ClobClient({ host, chain, signer, creds, throwOnError: true });
console.log("wallet   ", account.address);

/** The best price of one side of a book. The best level is the last one. */
const best = (levels: { price: string }[]) => levels.at(-1)?.price ?? "none";

const { data: markets } = await client.getMarkets();
const accepting = markets.filter((market) => market.accepting_orders);
const [market] = accepting.sort((a, b) => a.market_slug.localeCompare(b.market_slug));
const { token_id: tokenID, outcome } = market.tokens[0];
const book = await client.getOrderBook(tokenID);
console.log("market   ", market.question);
console.log("book     ", `${outcome}: bid ${best(book.bids)}, ask ${best(book.asks)}`);

// The lowest price of the market. Post-only: the order rests or is rejected, and never trades.
const terms = { tokenID, side: Side.BUY, price: Number(book.tick_size), size: Number(book.min_order_size) };
const placed = await client.postOrder(await client.createOrder(terms), OrderType.GTC, true);
console.log("placed   ", `${placed.orderID} BUY ${terms.size} at ${terms.price}: ${placed.status}`);

const open = async () => (await client.getOpenOrders({ asset_id: tokenID })).map(({ id }) => id).join(" ") || "none";
console.log("open     ", await open());
const [lowest] = (await client.getOrderBook(tokenID)).bids;
console.log("in book  ", `${lowest.size} shares at ${lowest.price}`);

const { canceled } = await client.cancelOrder({ orderID: placed.orderID });
console.log("cancelled", ...canceled);
console.log("open     ", await open());
