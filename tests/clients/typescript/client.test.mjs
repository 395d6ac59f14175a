// Every public method of the unified client, called against a running exchange that lists own markets, imported ones
// and questions of an event, and the table of outcomes in docs/api/client-methods.md. Its schemas refuse an answer, and
// with it a whole list, for one field that is missing; what is parsed is compared with what was done.

import assert from "node:assert/strict";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";

import { createPublicClient, createSecureClient, forkEnvironmentConfig } from "@polymarket/client";
import { privateKey } from "@polymarket/client/viem";
import { http } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

import { eventually, operate } from "./exchange.mjs";
import {
  ANSWERED, LOCAL, answered, assertClassified, assertOutcomes, assertTable, driveAll, local, notOffered,
  prepared, stream,
} from "./outcomes.mjs";

const DAY = "2026-01-02";
const HASH = `0x${"12".repeat(32)}`;
const BUILDER = `0x${"00".repeat(12)}${"bc".repeat(20)}`;
const NUMBER = Date.now();

// Hosts of the family that are not here: a path of the exchange that nobody serves, and no socket.
const ABSENT = `${process.env.EXCHANGE_TRADING}/absent`;
const absent = { rest: ABSENT, ws: "ws://127.0.0.1:1" };
const environment = forkEnvironmentConfig({
  name: "foretell",
  rpc: ABSENT,
  clob: { rest: process.env.EXCHANGE_TRADING, market: absent, user: absent },
  gamma: { rest: process.env.EXCHANGE_CATALOG },
  data: { rest: process.env.EXCHANGE_DATA_SURFACE },
  relayer: absent,
  combos: { ...absent, collateralReturn: absent },
  perps: absent,
  rtds: absent,
  sports: absent,
});

const ALWAYS_EMPTY = answered("always empty");
const ALWAYS_FALSE = answered("always false");
const APPROVALS = notOffered("a ledger needs no approval");
const COMBOS = notOffered("there are no combos");
const COMMENTS = notOffered("there are no comments");
const OPERATOR = notOffered("deposits and withdrawals are the operator's");
const PERPS = notOffered("there are no perpetuals");
const SIGNS = answered("signs; reads the market");
const REWARDS = notOffered("the exchange pays no rewards");
const ON_CHAIN = notOffered("transactions of a chain; `/positions/*` does this here");

let facts;

/** The result of a method: awaited, and of a list the items of all its pages. */
async function settled(result) {
  if (typeof result?.firstPage !== "function") return result;
  const items = [];
  for await (const page of result) items.push(...page.items);
  return items;
}

/** Calls a method with a request; what it returns is what is said of it. */
const call =
  (request, holds = () => true) =>
  async (name) => {
    const result = await settled(facts.client[name](request?.(facts)));
    assert.ok(holds(result, facts), `${name} returned ${JSON.stringify(result, (_, it) => it?.toString?.() ?? it)}`);
  };
const all = (names, made, outcome) =>
  Object.fromEntries(names.split(" ").map((name) => [name, [made, outcome]]));

const token = ({ yes }) => ({ tokenId: yes });
const tokens = ({ yes, no }) => [{ tokenId: yes }, { tokenId: no }];
const ofUser = ({ wallet }) => ({ user: wallet });
const ofMarket = ({ condition }) => ({ market: [condition] });
const ofInstrument = () => ({ instrumentId: 1 });
const terms = (price) => ({ tokenId: facts.yes, price, size: 10, side: "BUY" });
const purchase = () => ({ tokenId: facts.yes, side: "BUY", amount: 2, maxPrice: 0.6 });
const ids = (items) => items.map(({ id }) => id);
const holdsAll = (items, expected) => expected.every((id) => ids(items).includes(id));
const one = (items, name, value) => items.find((item) => item[name] === value);

// What a call needs first is done by another client, which has read the market.
const signed = () => prepared(() => facts.prepared.createLimitOrder(terms(0.11)));
const rested = () => prepared(async () => (await facts.prepared.placeLimitOrder(terms(0.11))).orderId);
const ofOrder = (request, holds) => async (name) => {
  const order = await rested();
  const result = await facts.client[name](request(order));
  assert.ok(holds(result, order), `${name} returned ${JSON.stringify(result)}`);
};
const isCancelled = ({ canceled, notCanceled }, order) =>
  canceled.includes(order) && Object.keys(notCanceled ?? {}).length === 0;

const BOOKS = {
  fetchMidpoint: [call(token, (middle) => Number(middle) === 0.5), ANSWERED],
  fetchMidpoints: [call(tokens, (of, { yes, no }) => Number(of[yes]) === 0.5 && Number(of[no]) === 0.5), ANSWERED],
  fetchPrice: [
    call(({ yes }) => ({ tokenId: yes, side: "BUY" }), (price) => Number(price) === 0.45), answered("the best bid"),
  ],
  fetchPrices: [
    call(
      ({ yes, no }) => [{ tokenId: yes, side: "BUY" }, { tokenId: no, side: "SELL" }],
      (of, { yes, no }) => Number(of[yes].BUY) === 0.45 && Number(of[no].SELL) === 0.55,
    ),
    ANSWERED,
  ],
  fetchOrderBook: [
    call(token, ({ conditionId, bids }, { condition }) => conditionId === condition && bids.at(-1).price === "0.45"),
    ANSWERED,
  ],
  fetchOrderBooks: [call(tokens, (books, { no }) => one(books, "tokenId", no).asks.at(-1).price === "0.55"), ANSWERED],
  fetchSpread: [call(token, (spread) => Number(spread) === 0.1), ANSWERED],
  fetchSpreads: [call(tokens, (of, { no }) => Number(of[no]) === 0.1), ANSWERED],
  fetchLastTradePrice: [call(token, ({ price }) => Number(price) === 0.4), ANSWERED],
  fetchLastTradePrices: [
    call(tokens, (prices, { yes }) => Number(one(prices, "tokenId", yes).price) === 0.4), ANSWERED,
  ],
  fetchPriceHistory: [
    call(({ yes }) => ({ tokenId: yes, interval: "1h" }), (points) => points.at(-1).p > 0 && points.at(-1).p < 1),
    ANSWERED,
  ],
  estimateMarketPrice: [
    call(({ yes }) => ({ tokenId: yes, side: "BUY", amount: 2 }), (price) => price === 0.55), ANSWERED,
  ],
};

const TRADING = {
  createLimitOrder: [call(() => terms(0.11), ({ makerAmount }) => makerAmount === "1100000"), SIGNS],
  createMarketOrder: [call(purchase, ({ makerAmount }) => makerAmount === "2000000"), SIGNS],
  placeLimitOrder: [call(() => terms(0.12), ({ ok, status }) => ok && status === "live"), ANSWERED],
  placeMarketOrder: [
    call(purchase, ({ ok, status, takingAmount }) => ok && status === "matched" && Number(takingAmount) > 3), ANSWERED,
  ],
  postOrder: [
    async (name) => assert.equal((await facts.client[name](await signed())).status, "live"), ANSWERED,
  ],
  postOrders: [
    async (name) => {
      const orders = await facts.client[name]([await signed(), await signed()]);
      assert.deepEqual(orders.map(({ status }) => status), ["live", "live"]);
    },
    ANSWERED,
  ],
  waitForOrderFillSettlement: [
    async (name) => {
      const order = await prepared(() => facts.prepared.placeMarketOrder(purchase()));
      assert.deepEqual(await facts.client[name](order), order.transactionsHashes);
    },
    answered("settled with the answer"),
  ],
  cancelOrder: [ofOrder((orderId) => ({ orderId }), isCancelled), ANSWERED],
  cancelOrders: [ofOrder((order) => ({ orderIds: [order] }), isCancelled), ANSWERED],
  cancelMarketOrders: [ofOrder(() => ({ market: facts.condition }), isCancelled), ANSWERED],
  cancelAll: [ofOrder(() => undefined, isCancelled), ANSWERED],
  fetchOrder: [
    ofOrder((orderId) => ({ orderId }), (found, order) => found.id === order && found.conditionId === facts.condition),
    ANSWERED,
  ],
  listOpenOrders: [
    async (name) => {
      const order = await rested();
      assert.ok(ids(await settled(facts.client[name]({ tokenId: facts.yes }))).includes(order));
    },
    ANSWERED,
  ],
  fetchOrderScoring: [call(() => ({ orderId: HASH }), (scoring) => scoring === false), ALWAYS_FALSE],
  fetchOrdersScoring: [call(() => ({ orderIds: [HASH] }), (scoring) => scoring[HASH] === false), ALWAYS_FALSE],
  listAccountTrades: [
    call(({ condition }) => ({ market: condition }), (trades, { yes, no }) =>
      trades.length > 0 && trades.every(({ tokenId }) => [yes, no].includes(tokenId))),
    ANSWERED,
  ],
  listBuilderTrades: [
    call(() => ({ builderCode: BUILDER }), ([trade], { condition }) => trade.conditionId === condition), ANSWERED,
  ],
  fetchNotifications: [call(undefined, (rows) => rows.length === 0), ALWAYS_EMPTY],
  dropNotifications: [call(() => ({ ids: ["1"] })), ANSWERED],
  fetchClosedOnlyMode: [call(undefined, (only) => only === false), ANSWERED],
};

const isTheMarket = (market, { market: own }) =>
  market.id === own.id && market.conditionId === own.conditionId && market.outcomes.yes.tokenId === facts.yes;
const CATALOG = {
  listEvents: [
    call(() => ({ pageSize: 20 }), (events, { eventIds, group }) => {
      const questions = one(events, "id", group.id).markets;
      return holdsAll(events, eventIds) && questions.length === 2 && questions.every(({ state }) => state.negRisk);
    }),
    ANSWERED,
  ],
  listMarkets: [
    call(() => ({ pageSize: 20, closed: false }), (markets, { marketIds }) => holdsAll(markets, marketIds)), ANSWERED,
  ],
  fetchMarket: [call(({ market }) => ({ id: market.id }), isTheMarket), ANSWERED],
  fetchMarketTags: [
    call(({ record }) => ({ id: record.market }), ([tag], { record }) => tag.id === record.tag), ANSWERED,
  ],
  fetchEvent: [
    call(({ record }) => ({ slug: record.slug }), ({ id, series }, { record }) =>
      id === record.event && series[0].id === record.series),
    ANSWERED,
  ],
  fetchEventTags: [
    call(({ record }) => ({ id: record.event }), ([tag], { record }) => tag.id === record.tag), ANSWERED,
  ],
  listSeries: [call(undefined, (series, { record }) => ids(series).includes(record.series)), ANSWERED],
  fetchSeries: [
    call(({ record }) => ({ id: record.series }), ({ events }, { record }) => events[0].id === record.event), ANSWERED,
  ],
  listTags: [call(undefined, (tags, { record }) => ids(tags).includes(record.tag)), ANSWERED],
  fetchTag: [call(({ record }) => ({ id: record.tag }), ({ slug }) => slug === "schema-test"), ANSWERED],
  ...all(
    "fetchRelatedTags fetchRelatedTagResources",
    call(({ record }) => ({ id: record.tag }), (tags) => tags.length === 0), ANSWERED,
  ),
  search: [
    async (name) => {
      const { items } = await facts.client[name]({ q: facts.group.title }).firstPage();
      assert.equal(items.events[0].id, facts.group.id);
    },
    ANSWERED,
  ],
  listSports: [call(undefined, (sports) => sports.length === 0), ALWAYS_EMPTY],
  fetchSportsMarketTypes: [call(undefined, ({ marketTypes }) => marketTypes.length === 0), ALWAYS_EMPTY],
  listTeams: [call(undefined, (teams) => teams.length === 0), ALWAYS_EMPTY],
  fetchPublicProfile: [
    call(({ wallet }) => ({ address: wallet }), ({ name }) => name === `Client ${NUMBER}`), ANSWERED,
  ],
  ...all(
    "listComments",
    call(({ record }) => ({ parentEntityId: record.event, parentEntityType: "Event" }), (rows) => rows.length === 0),
    ALWAYS_EMPTY,
  ),
  listCommentsByUserAddress: [call(({ wallet }) => ({ address: wallet }), (rows) => rows.length === 0), ALWAYS_EMPTY],
  fetchCommentsById: [call(() => ({ id: "1" })), COMMENTS],
  listMarketClarifications: [call(), notOffered("there are no clarifications of rules")],
};

const DATA = {
  listTrades: [
    call(({ condition }) => ({ market: [condition], takerOnly: false }), (trades, { condition }) =>
      trades.length > 0 && trades.every(({ conditionId }) => conditionId === condition)),
    ANSWERED,
  ],
  listPositions: [
    call(ofUser, (positions, { no }) => Number(one(positions, "tokenId", no).size) === 50), ANSWERED,
  ],
  listClosedPositions: [call(ofUser, (positions) => positions.length === 0), ANSWERED],
  listActivity: [
    call(ofUser, (rows, { condition }) => rows.some((row) => row.type === "TRADE" && row.conditionId === condition)),
    ANSWERED,
  ],
  fetchPortfolioValue: [
    call(ofUser, ([{ user, value }], { wallet }) => user.toLowerCase() === wallet && Number(value) > 0), ANSWERED,
  ],
  fetchTradedMarketCount: [call(ofUser, ({ traded }) => traded === 1), ANSWERED],
  listMarketPositions: [
    call(({ condition }) => ({ market: condition })), notOffered("`GET /v2/positions` has the positions of a market"),
  ],
  listMarketHolders: [
    call(ofMarket, (groups, { no, wallet }) =>
      one(groups, "token", no).holders.some((holder) => holder.wallet.toLowerCase() === wallet)),
    ANSWERED,
  ],
  listOpenInterest: [
    call(ofMarket, ([{ market, value }], { condition }) => market === condition && Number(value) >= 50), ANSWERED,
  ],
  fetchEventLiveVolume: [
    call(({ market }) => ({ id: market.events[0].id }), ([{ total }]) => Number(total) > 0), ANSWERED,
  ],
  listTraderLeaderboard: [
    call(() => ({ orderBy: "VOL", timePeriod: "ALL" }), (rows) => Number(rows[0].vol) > 0), ANSWERED,
  ],
  listBuilderLeaderboard: [call(undefined, (rows) => Number(rows[0].volume) > 0), ANSWERED],
  fetchBuilderVolume: [call(undefined, (rows) => Number(rows[0].volume) > 0), ANSWERED],
  downloadAccountingSnapshot: [call(ofUser), notOffered("use the reads of the data surface")],
};

const NOT_HERE = {
  ...all("listCurrentRewards fetchRewardPercentages", call(), REWARDS),
  listMarketRewards: [call(({ condition }) => ({ conditionId: condition })), REWARDS],
  ...all(
    "listUserEarningsForDay fetchTotalEarningsForUserForDay listUserEarningsAndMarketsConfig",
    call(() => ({ date: DAY })), REWARDS,
  ),
  ...all("listComboPositions listComboActivity", call(ofUser), COMBOS),
  ...all("listComboMarkets openRfqSession planCollateralReturn", call(), COMBOS),
  executeCollateralReturnPlan: [call(() => ({ plan: {} })), COMBOS],
  ...all("fetchPerpsFees fetchPerpsInstruments fetchPerpsTickers", call(() => ({})), PERPS),
  ...all("fetchPerpsTicker fetchPerpsBook listPerpsTrades listPerpsFundingHistory", call(ofInstrument), PERPS),
  listPerpsCandles: [call(() => ({ instrumentId: 1, interval: "1m" })), PERPS],
  openPerpsSession: [call(() => ({ expiresIn: 3_600 })), PERPS],
  revokePerpsCredentials: [call(({ wallet }) => ({ proxy: wallet })), PERPS],
  ...all("depositToPerps withdrawFromPerps", call(() => ({ amount: 1n })), PERPS),
  setupTradingApprovals: [call(), APPROVALS],
  approveErc20: [call(({ wallet }) => ({ tokenAddress: wallet, spenderAddress: wallet, amount: 1n })), APPROVALS],
  approveErc1155ForAll: [call(({ wallet }) => ({ tokenAddress: wallet, operatorAddress: wallet })), APPROVALS],
  transferErc20: [call(({ wallet }) => ({ tokenAddress: wallet, recipientAddress: wallet, amount: 1n })), OPERATOR],
  ...all("splitPosition mergePositions", call(({ condition }) => ({ conditionId: condition, amount: 1n })), ON_CHAIN),
  redeemPositions: [call(({ over }) => ({ conditionId: over.conditionId })), ON_CHAIN],
};

const OWN = {
  beginAuthentication: [
    async (name) => {
      const key = generatePrivateKey();
      const { address } = privateKeyToAccount(key);
      const flow = await createPublicClient({ environment })[name]({ wallet: address }, signer(key));
      assert.equal((await flow.next()).value.kind, "requestAddress");
      assert.equal((await flow.next(address)).value.payload.message.address, address);
    },
    local("an object that says what to sign"),
  ],
  endAuthentication: [
    async (name) => {
      const { client } = await prepared(() => trader(1));
      assert.ok((await client[name]()).isPublicClient());
    },
    ANSWERED,
  ],
  closeSubscriptions: [call(), LOCAL],
  extend: [async (name) => assert.equal(facts.client[name](() => ({ own: 1 })).own, 1), LOCAL],
  isPublicClient: [call(undefined, (is) => is === false), LOCAL],
  isSecureClient: [call(undefined, (is) => is === true), LOCAL],
  ...Object.fromEntries(
    ["credentials", "account", "signer"].map((name) => [name, [async () => assert.ok(facts.client[name]), LOCAL]]),
  ),
  subscribe: [undefined, stream("a WebSocket; `test_streams.py` drives it in Python")],
};

const METHODS = { ...BOOKS, ...TRADING, ...CATALOG, ...DATA, ...NOT_HERE, ...OWN };
// Internal in the client's types; not for its users.
const INTERNAL = [
  "constructor", "context", "secureClob", "combos", "webSockets", "endAuthenticationLifecycle", "decorators",
  "environment", "clob", "relayer", "rpc", "gamma", "data", "rfq", "perps", "supportsGasless", "resolveClobHeaders",
  "resolveRelayerHeaders", "rememberDecorator",
];

/** A signer whose node is a host that is not here: its default is a public one. */
const signer = (key) => privateKey(key, { transport: http(ABSENT, { retryCount: 0 }) });

/** A client with a wallet that nobody else has and this much collateral. */
async function trader(collateral) {
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  const client = await createSecureClient({ environment, signer: signer(key), wallet: address });
  await operate("account", "deposit", address, String(collateral));
  return { client, wallet: address.toLowerCase() };
}

/** Runs an operator's command with a file of this content. */
async function operateFile(command, content, folder) {
  const path = join(folder, "content.json");
  await writeFile(path, JSON.stringify(content));
  return operate(...command, path);
}

/** Own markets, of which one is over, two questions of an event, and the record of the tests' fixtures. */
async function register() {
  const folder = await mkdtemp(join(tmpdir(), "foretell-client-"));
  const words = (slug) => ({
    slug: `${slug}-${NUMBER}`, question: `Is ${slug} parsed?`, end_date: "2030-01-01T00:00:00Z",
  });
  const title = `Which question of ${NUMBER} is parsed?`;
  await operate("market", "event", String(NUMBER), title);
  const [own, over] = ["own", "over"].map(words);
  for (const market of [own, over]) await operateFile(["market", "register"], { ...market, tags: ["Parsed"] }, folder);
  await operate("market", "close", over.slug);
  await operate("market", "resolve", over.slug, "Yes");
  const questions = ["first", "second"].map(words);
  for (const question of questions) {
    await operateFile(["market", "register"], { ...question, event_id: NUMBER }, folder);
  }
  for (const { slug } of questions) await operate("market", "activate", slug);
  await operate("catalog", "import", process.env.EXCHANGE_RECORDS);
  const [event] = JSON.parse(await readFile(process.env.EXCHANGE_RECORDS, "utf8"));
  const record = {
    event: event.id, slug: event.slug, market: event.markets[0].id, tag: event.tags[0].id, series: event.series[0].id,
  };
  return { title, record, over: over.slug, slugs: [own, ...questions].map(({ slug }) => slug) };
}

/** The market with this slug, when the exchange lists it in this state. */
const listed = (client, slug, name = "acceptingOrders") =>
  eventually(() => client.fetchMarket({ slug }).catch((error) => error), ({ state }) => state?.[name] === true);

/** A book with both sides, a trade of a builder's order, and what calls need to know. */
async function prepare() {
  const { title, record, over, slugs } = await register();
  const [maker, { client, wallet }] = await Promise.all([trader(10_000), trader(10_000)]);
  const markets = [];
  for (const slug of slugs) markets.push(await listed(client, slug));
  const [market, question] = markets;
  const group = { id: question.events[0].id, title };
  const { yes, no } = { yes: market.outcomes.yes.tokenId, no: market.outcomes.no.tokenId };
  await operate("profile", "set", wallet, "--name", `Client ${NUMBER}`);
  const buy = async (client, tokenId, price, size) => {
    const order = await client.placeLimitOrder({ tokenId, price, size, side: "BUY", builderCode: BUILDER });
    assert.ok(order.ok, JSON.stringify(order));
  };
  // The second meets the first, so that there is a trade; the others rest.
  await buy(maker.client, yes, 0.4, 50);
  await buy(client, no, 0.6, 50);
  for (const token of [yes, no]) await buy(maker.client, token, 0.45, 1_000);
  await eventually(() => settled(client.listPositions({ user: wallet })), (rows) => rows.length === 1);
  facts = {
    client, prepared: client, maker: maker.client, wallet, market, yes, no, group, record,
    over: await listed(client, over, "closed"),
    condition: market.conditionId,
    marketIds: [...ids(markets), record.market],
    eventIds: [market.events[0].id, group.id, record.event],
  };
}

let runs;

before(async () => {
  await prepare();
  runs = await driveAll(METHODS);
  await Promise.all([facts.client.cancelAll(), facts.maker.cancelAll()]);
});

test("every method is classified", () => {
  const names = new Set();
  for (let of of [facts.client, createPublicClient({ environment })]) {
    for (; of !== Object.prototype; of = Object.getPrototypeOf(of)) {
      Object.getOwnPropertyNames(of).forEach((name) => names.add(name));
    }
  }
  const found = [...names].filter((name) => name !== "own");
  assertClassified(found, [...Object.keys(METHODS), ...INTERNAL]);
});

test("every method does what is said of it", () => assertOutcomes(runs, METHODS));

test("the table of outcomes is in the documentation", () => assertTable("client", runs, METHODS));
