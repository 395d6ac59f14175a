// Quotes both outcomes of one market in signed sets until Ctrl-C, then ends its quotes.
//
//   npm install --no-save --prefix examples
//   examples/node_modules/.bin/tsx examples/quote_maker.ts [--seconds 60] [--market SLUG] [--levels 3] [--size 10]
//
// One signature moves all quotes, with nothing between the old ones and the new ones. A lease ends them when this
// program does not renew it, and limits end them when too much is filled. It learns of its fills on /ws/user, and
// says in each set which it knows: what an unknown fill took is not offered again. It needs collateral and no
// shares. TRADING_URL and PRIVATE_KEY choose the exchange and the wallet; the defaults are those of
// `foretell up --demo`.

import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Chain, ClobClient, createL2Headers } from "@polymarket/clob-client-v2";
import { createWalletClient, http, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import WebSocket from "ws";
import { BUY, NO, NO_BUILDER, YES, sign, word, type Domain, type Quote } from "./quote_set.ts";

const host = process.env.TRADING_URL ?? "http://127.0.0.1:8080";
// A public development key: anybody can use it. Never send anything of value to its address.
const demoKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const chain: Chain = Number(process.env.CHAIN_ID ?? Chain.AMOY); // 80002
const text = (name: string) => ({ [name]: { type: "string" as const } });
const { values: given } = parseArgs({ options: { ...text("seconds"), ...text("market"), ...text("levels"), ...text("size") } });
const [levels, size] = [Number(given.levels ?? 3), Number(given.size ?? 10)];
const ends = given.seconds ? Date.now() + Number(given.seconds) * 1_000 : Infinity;
const [group, leaseMs, windowMs, validMs] = [0, 5_000, 1_000, 3_600_000];
const UNITS = 10_000; // of a price
const halfSpread = 200; // in units
// What a later attempt may change: catching up, rate limit, busy or unavailable. The lease ends the quotes meanwhile.
const TEMPORARY = [425, 429, 503];

let stopping = false;
for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => (stopping = true));

const account = privateKeyToAccount((process.env.PRIVATE_KEY ?? demoKey) as Hex);
const signer = createWalletClient({ account, transport: http(host) });
const anonymous = new ClobClient({ host, chain, signer, throwOnError: true });
const creds = await anonymous.createOrDeriveApiKey();

class Refused extends Error {
  constructor(message: string, readonly status: number, readonly code: string | null) {
    super(message);
  }
}

/** Sends a request that the API key signs. */
async function call(method: string, path: string, content?: object) {
  const body = content && JSON.stringify(content);
  const signed = await createL2Headers(signer, creds, { method, requestPath: path, body });
  const headers = { ...signed, "Content-Type": "application/json" };
  const answer = await fetch(host + path, { method, body, headers, signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Refused(await answer.text(), answer.status, answer.headers.get("x-error-code"));
  return answer.json();
}

/** What the user channel tells: the last own fill that is known, and whether one is new. */
const known = { seen: undefined as bigint | undefined, streamId: "", filled: false };

let link: WebSocket;

/** Subscribes to the own fills; after an earlier connection from what was seen on. */
function follow() {
  link = new WebSocket(host.replace("http", "ws") + "/ws/user");
  const auth = { apiKey: creds.key, secret: creds.secret, passphrase: creds.passphrase };
  const resume = known.seen === undefined ? {} : { resume_from: `${known.seen}`, stream_id: known.streamId };
  link.on("open", () => link.send(JSON.stringify({ type: "user", auth, heartbeat_ms: 1_000, ...resume })));
  link.on("error", (problem) => console.log("waiting   ", problem.message));
  link.on("close", () => stopping || setTimeout(follow, 1_000));
  link.on("message", (data) => {
    const message = JSON.parse(String(data));
    const isFill = message.event_type === "trade" && message.status === "MATCHED";
    for (const order of isFill ? message.maker_orders : [])
      console.log("filled    ", `${order.outcome} ${order.matched_amount} at ${order.price}`);
    const sequence = BigInt(message.sequence);
    const isFirst = message.event_type === "subscribed" && known.seen === undefined;
    // A heartbeat comes after every message up to its sequence; after another one more of its command may follow.
    const seen = isFirst || message.event_type === "heartbeat" ? sequence : sequence - 1n;
    if ((isFirst || known.seen !== undefined) && seen > (known.seen ?? -1n)) known.seen = seen;
    known.streamId = message.stream_id;
    known.filled ||= isFill;
  });
}

let revision = 0n;

/** Replaces the quotes; the answer says what became of each. */
async function quote(domain: Domain, condition: Hex, quotes: Quote[]) {
  const now = BigInt(Date.now());
  // Rises with the clock, so that a maker that starts again needs no memory.
  revision = revision + 1n > now * 1_000n ? revision + 1n : now * 1_000n;
  const { body } = await sign(account, domain, {
    maker: account.address, signer: account.address, signatureType: 0, group, revision, seen: known.seen!,
    timestamp: now, validUntil: now + BigInt(validMs), builder: NO_BUILDER, conditions: [condition], quotes: quotes.map(word),
  });
  return call("POST", "/quotes", body);
}

/** Renews the lease; false when no quote is live. */
async function renew() {
  try {
    await call("POST", "/quotes/heartbeat", { group, revision: `${revision}` });
    return true;
  } catch (problem) {
    if (problem instanceof Refused && problem.code === "no_live_quotes") return false;
    throw problem;
  }
}

/** Bids of both outcomes around the midpoint; none while a side of the book is empty. */
async function ladder(token: string): Promise<Quote[]> {
  const book = await anonymous.getOrderBook(token);
  const [bid, ask] = [book.bids.at(-1), book.asks.at(-1)];
  if (!bid || !ask) return [];
  const tick = Math.round(Number(book.tick_size) * UNITS);
  const middle = ((Number(bid.price) + Number(ask.price)) / 2) * UNITS;
  return [[YES, middle], [NO, UNITS - middle]].flatMap(([outcome, fair]) => {
    const best = Math.floor((fair - halfSpread) / tick) * tick;
    const prices = Array.from({ length: levels }, (_, level) => best - level * tick).filter((price) => price >= tick);
    return prices.map((price) => ({ outcome, side: BUY, price, lots: Math.round(size * 100) }));
  });
}

const { data: markets } = await anonymous.getMarkets();
const suitable = markets.filter((market) => market.accepting_orders && [undefined, market.market_slug].includes(given.market));
const [market] = suitable.sort((a, b) => a.market_slug.localeCompare(b.market_slug));
const condition = market.condition_id as Hex;
console.log("market    ", market.question);

follow();
while (known.seen === undefined) await sleep(10);
const domain: Domain = await call("GET", "/quotes/domain");
const limits = { lease_ms: leaseMs, window_ms: windowMs, shares: `${2 * levels * size}`, reset: true };
await call("PUT", `/quotes/groups/${group}`, limits);
let shown = "";
try {
  while (!stopping && Date.now() < ends) {
    try {
      const wanted = await ladder(market.tokens[0].token_id);
      if (JSON.stringify(wanted) !== shown || (wanted.length > 0 && !(await renew()))) {
        known.filled = false;
        const answer = await quote(domain, condition, wanted);
        const counts = ["kept", "reduced", "placed", "ended"].map((name) => `${answer[name]} ${name}`);
        console.log("quotes    ", counts.join(", "));
        // Such as a quote that would trade, or a fill that is not seen yet: the next round quotes again.
        for (const refused of answer.refused) console.log("refused   ", `quote ${refused.quote}: ${refused.error}`);
        shown = answer.refused.length > 0 ? "" : JSON.stringify(wanted);
      }
    } catch (problem) {
      // A reached limit is for a human to look at.
      if (problem instanceof Refused && !TEMPORARY.includes(problem.status)) throw problem;
      console.log("waiting   ", String(problem));
      shown = "";
    }
    for (let waited = 0; waited < 1_000 && !known.filled && !stopping; waited += 20) await sleep(20);
    if (known.filled) shown = "";
  }
} finally {
  stopping = true;
  console.log("ended     ", (await quote(domain, condition, [])).ended, "quotes");
  link.terminate();
}
console.log("stopped");
