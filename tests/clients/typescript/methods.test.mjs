// Every public method of the client, called against a running exchange, and the table of outcomes
// in docs/api/client-methods.md. FORETELL_BLESS=1 writes the table.

import { before, test } from "node:test";

import { AssetType, ClobClient, OrderType } from "@polymarket/clob-client-v2";

import { Side, place, quietMarkets, trader } from "./exchange.mjs";
import {
  ANSWERED, LOCAL, answered, assertClassified, assertOutcomes, assertTable, driveAll, notOffered, prepared,
} from "./outcomes.mjs";

const DAY = "2026-01-02";
const HASH = `0x${"12".repeat(32)}`;
const BUILDER = `0x${"00".repeat(12)}${"bb".repeat(20)}`;

const REWARDS = notOffered("the exchange pays no rewards");
const BUILDER_KEYS = notOffered("builders need no keys");

// Private in the client's types; not for its users.
const PRIVATE = [
  "waitForResolvedTrades", "resolveTransactionsHashes", "canL1Auth", "canL2Auth", "isBuilderOrder",
  "getBuilderTakerFeeRate", "adjustBuyAmountForBalance", "_ensureMarketInfoCached",
  "ensureBuilderFeeRateCached", "_resolveTickSize", "_resolveFeeRateBps", "resolveVersion",
  "_retryOnVersionUpdate", "_isOrderVersionMismatch", "throwIfError", "get", "post", "del",
];

let facts;

/** Calls a method of the trader with these arguments. */
const plain = (...args) => (name) => facts.client[name](...args);
const ofToken = (...more) => (name) => facts.client[name](facts.yes, ...more);
const ofMarket = (name) => facts.client[name](facts.market.condition_id);
const ofBooks = (name) =>
  facts.client[name]([
    { token_id: facts.yes, side: Side.BUY },
    { token_id: facts.no, side: Side.SELL },
  ]);
const terms = (price) => ({ tokenID: facts.yes, price, size: 10, side: Side.BUY });
const bought = () => ({ tokenID: facts.yes, amount: 2, side: Side.BUY, price: 0.6 });
// What a call needs first is done by another client.
const signed = () => prepared(() => facts.prepared.createOrder(terms(0.11)));
const rested = () =>
  prepared(async () => {
    const order = await facts.prepared.createOrder(terms(0.11));
    return (await facts.prepared.postOrder(order, OrderType.GTC)).orderID;
  });
const all = (names, call, outcome) => Object.fromEntries(names.map((name) => [name, [call, outcome]]));

const COLLATERAL = { asset_type: AssetType.COLLATERAL };

const METHODS = {
  ...all(
    ["getOk", "getVersion", "getServerTime", "getSamplingSimplifiedMarkets", "getSamplingMarkets",
      "getSimplifiedMarkets", "getMarkets"],
    plain(), ANSWERED,
  ),
  ...all(["getMarket", "getClobMarketInfo", "getMarketTradesEvents"], ofMarket, ANSWERED),
  ...all(
    ["getOrderBook", "getTickSize", "getNegRisk", "getFeeRateBps", "getFeeExponent", "getMidpoint",
      "getSpread", "getLastTradePrice"],
    ofToken(), ANSWERED,
  ),
  getPrice: [ofToken(Side.BUY), answered("the best ask")],
  ...all(
    ["getOrderBooks", "getMidpoints", "getPrices", "getSpreads", "getLastTradesPrices"],
    ofBooks, ANSWERED,
  ),
  getOrderBookHash: [
    async (name) => {
      const { client } = facts;
      return client[name](await client.getOrderBook(facts.yes));
    },
    answered("hashes the book of `getOrderBook`"),
  ],
  getPricesHistory: [(name) => facts.client[name]({ market: facts.yes, interval: "1h" }), ANSWERED],
  calculateMarketPrice: [ofToken(Side.BUY, 2), ANSWERED],
  ...all(
    ["createApiKey", "deriveApiKey", "createOrDeriveApiKey", "getApiKeys", "getClosedOnlyMode",
      "createReadonlyApiKey", "getReadonlyApiKeys"],
    plain(), ANSWERED,
  ),
  deleteApiKey: [
    async (name) => (await prepared(() => trader(1))).client[name](),
    ANSWERED,
  ],
  deleteReadonlyApiKey: [
    async (name) =>
      facts.client[name]((await prepared(() => facts.prepared.createReadonlyApiKey())).apiKey),
    ANSWERED,
  ],
  ...all(["createBuilderApiKey", "getBuilderApiKeys", "revokeBuilderApiKey"], plain(), BUILDER_KEYS),
  createOrder: [(name) => facts.client[name](terms(0.11)), answered("signs; reads the market")],
  createMarketOrder: [
    (name) => facts.client[name](bought()), answered("signs; reads the market"),
  ],
  createExchangeV3OrderFromAmounts: [
    (name) =>
      facts.client[name]({
        tokenID: facts.yes, makerAmount: "1100000", takerAmount: "10000000", side: Side.BUY,
      }),
    LOCAL,
  ],
  postOrder: [async (name) => facts.client[name](await signed(), OrderType.GTC), ANSWERED],
  postOrders: [
    async (name) => facts.client[name]([{ order: await signed(), orderType: OrderType.GTC }]),
    ANSWERED,
  ],
  createAndPostOrder: [(name) => facts.client[name](terms(0.12)), ANSWERED],
  createAndPostMarketOrder: [
    (name) => facts.client[name](bought(), undefined, OrderType.FAK), ANSWERED,
  ],
  getOrder: [async (name) => facts.client[name](await rested()), ANSWERED],
  ...all(["getOpenOrders", "getTrades", "getTradesPaginated"], plain(), ANSWERED),
  getPreMigrationOrders: [plain(), answered("always empty")],
  cancelOrder: [async (name) => facts.client[name]({ orderID: await rested() }), ANSWERED],
  cancelOrders: [async (name) => facts.client[name]([await rested()]), ANSWERED],
  cancelAll: [plain(), ANSWERED],
  cancelMarketOrders: [(name) => facts.client[name]({ market: facts.market.condition_id }), ANSWERED],
  getBuilderTrades: [plain({ builder_code: BUILDER }), ANSWERED],
  getNotifications: [plain(), answered("always empty")],
  dropNotifications: [plain({ ids: ["1"] }), ANSWERED],
  getBalanceAllowance: [plain(COLLATERAL), ANSWERED],
  updateBalanceAllowance: [plain(COLLATERAL), ANSWERED],
  isOrderScoring: [plain({ order_id: HASH }), answered("always false")],
  areOrdersScoring: [plain({ orderIds: [HASH] }), answered("always false")],
  postHeartbeat: [plain(), ANSWERED],
  ...all(["getCurrentRewards", "getRewardPercentages"], plain(), REWARDS),
  getRawRewardsForMarket: [ofMarket, REWARDS],
  ...all(
    ["getEarningsForUserForDay", "getTotalEarningsForUserForDay", "getUserEarningsAndMarketsConfig"],
    plain(DAY), REWARDS,
  ),
};

let runs;

before(async () => {
  const [{ client }, maker] = await Promise.all([trader(10_000), trader(10_000)]);
  const market = (await quietMarkets(false)).at(-1);
  const [yes, no] = market.tokens.map(({ token_id }) => token_id);
  const { host, chainId: chain, signer, creds, throwOnError } = client;
  facts = {
    // A client that has read nothing yet: clients keep what they know of a market.
    get client() {
      return new ClobClient({ host, chain, signer, creds, throwOnError });
    },
    prepared: client, market, yes, no,
  };
  await place(maker.client, yes, Side.BUY, 0.4, 50, OrderType.GTC);
  await place(client, no, Side.BUY, 0.6, 50, OrderType.GTC);
  for (const token of [yes, no]) await place(maker.client, token, Side.BUY, 0.45, 1_000, OrderType.GTC);
  runs = await driveAll(METHODS);
  await Promise.all([client.cancelAll(), maker.client.cancelAll()]);
});

test("every method is classified", () => {
  const found = Object.getOwnPropertyNames(ClobClient.prototype);
  assertClassified(found, [...Object.keys(METHODS), ...PRIVATE, "constructor"]);
});

test("every method does what is said of it", () => assertOutcomes(runs, METHODS));

test("the table of outcomes is in the documentation", () => assertTable("clob-client-v2", runs, METHODS));
