// The life of an order, and everything the stock client reads for its owner.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { AssetType, OrderType } from "@polymarket/clob-client-v2";

import { NOBODY, Side, eventually, operate, place, quietMarkets, trader, visitor } from "./exchange.mjs";

let maker, taker, plain, negRisk;

before(async () => {
  [maker, taker] = await Promise.all([trader(1_000), trader(1_000)]);
  // The prices below have two decimals. Orders that other clients left end with their heartbeats.
  const fine = (markets) => markets.filter((market) => market.minimum_tick_size === 0.01);
  [, plain] = await eventually(
    async () => fine(await quietMarkets(false)),
    (quiet) => quiet.length > 1,
  );
  [negRisk] = await quietMarkets(true);
});

const token = (market, outcome = 0) => market.tokens[outcome].token_id;

test("an order rests, is listed, shown and cancelled", async () => {
  const placed = await place(maker.client, token(plain), Side.BUY, 0.31, 12, OrderType.GTC, true);
  assert.equal(placed.success, true);
  assert.equal(placed.status, "live");

  const [listed] = await maker.client.getOpenOrders({ asset_id: token(plain) });
  assert.equal(listed.id, placed.orderID);
  assert.equal(listed.original_size, "12");
  assert.equal(listed.size_matched, "0");
  assert.equal(listed.price, "0.31");
  assert.equal(listed.owner, maker.creds.key);

  const shown = await maker.client.getOrder(placed.orderID);
  assert.equal(shown.status, "LIVE");
  assert.equal(shown.maker_address.toLowerCase(), maker.address);

  const gone = await maker.client.cancelOrder({ orderID: placed.orderID });
  assert.deepEqual(gone.canceled, [placed.orderID]);
  assert.deepEqual(gone.not_canceled, {});
  assert.deepEqual(await maker.client.getOpenOrders({ asset_id: token(plain) }), []);
  assert.equal((await maker.client.getOrder(placed.orderID)).status, "CANCELED");
});

for (const kind of ["plain", "neg-risk"]) {
  test(`orders of a ${kind} market meet, and both sides see the trade`, async () => {
    const market = kind === "plain" ? plain : negRisk;
    const [yes, no] = [token(market), token(market, 1)];
    const rested = await place(maker.client, no, Side.BUY, 0.35, 20, OrderType.GTC);
    const taken = await place(taker.client, yes, Side.BUY, 0.7, 20, OrderType.GTC);
    assert.equal(taken.status, "matched");
    assert.equal(taken.takingAmount, "20");
    assert.equal(taken.makingAmount, "13");
    assert.match(taken.transactionsHashes[0], /^0x[0-9a-f]{64}$/);

    const trades = await taker.client.getTrades({ market: market.condition_id });
    assert.equal(trades.length, 1);
    const [trade] = trades;
    assert.equal(trade.taker_order_id, taken.orderID);
    assert.equal(trade.price, "0.65");
    assert.equal(trade.trader_side, "TAKER");
    assert.equal(trade.status, "CONFIRMED");
    assert.equal(trade.transaction_hash, taken.transactionsHashes[0]);
    const [made] = trade.maker_orders;
    assert.equal(made.order_id, rested.orderID);
    assert.equal(made.asset_id, no);
    assert.equal(made.price, "0.35");
    assert.equal(made.owner, NOBODY);

    const seen = await maker.client.getTradesPaginated({ market: market.condition_id });
    assert.equal(seen.trades[0].id, trade.id);
    assert.equal(seen.trades[0].trader_side, "MAKER");
    assert.equal(seen.next_cursor, "LTE=");

    const held = await taker.client.getBalanceAllowance({ asset_type: AssetType.CONDITIONAL, token_id: yes });
    assert.equal(held.balance, "20000000");
    const last = await visitor().getLastTradePrice(yes);
    assert.deepEqual({ price: last.price, side: last.side }, { price: "0.65", side: "BUY" });
    const [both] = await visitor().getLastTradesPrices([{ token_id: yes, side: Side.BUY }]);
    assert.equal(both.price, "0.65");
  });
}

test("a market order spends an amount of collateral", async () => {
  await place(maker.client, token(plain, 1), Side.BUY, 0.5, 10, OrderType.GTC);
  const spent = await taker.client.createAndPostMarketOrder(
    { tokenID: token(plain), amount: 5, side: Side.BUY },
    undefined,
    OrderType.FAK,
  );
  assert.equal(spent.status, "matched");
  assert.equal(spent.takingAmount, "10");
});

test("several orders at once, cancelled by name, by market and all together", async () => {
  const { client } = await trader(500);
  const order = (price) => client.createOrder({ tokenID: token(plain), price, size: 10, side: Side.BUY });
  const orders = await Promise.all([0.1, 0.11, 0.12, 0.13].map(order));
  const results = await client.postOrders(orders.map((order) => ({ order, orderType: OrderType.GTC })));
  const ids = results.map((result) => result.orderID);
  assert.equal(new Set(ids).size, 4);

  assert.deepEqual((await client.cancelOrders([ids[0]])).canceled, [ids[0]]);
  const elsewhere = await place(client, token(negRisk), Side.BUY, 0.1, 10, OrderType.GTC);
  const ofMarket = await client.cancelMarketOrders({ market: plain.condition_id });
  assert.deepEqual(new Set(ofMarket.canceled), new Set(ids.slice(1)));
  assert.deepEqual((await client.cancelAll()).canceled, [elsewhere.orderID]);
  assert.deepEqual(await client.getOpenOrders(), []);
});

test("what the book refuses is told in the family's words", async () => {
  const nothing = place(taker.client, token(negRisk), Side.BUY, 0.05, 30, OrderType.FOK);
  await assert.rejects(nothing, {
    status: 400,
    message: "order couldn't be fully filled. FOK orders are fully filled or killed.",
  });
  const { client: poor } = await trader(1);
  const unpaid = place(poor, token(plain), Side.BUY, 0.3, 100, OrderType.GTC);
  await assert.rejects(unpaid, { status: 400, message: /^not enough balance \/ allowance/ });
});

test("balances are micros, reserved ones included", async () => {
  const { client } = await trader(100);
  await place(client, token(plain), Side.BUY, 0.2, 50, OrderType.GTC);
  for (const read of ["getBalanceAllowance", "updateBalanceAllowance"]) {
    const answer = await client[read]({ asset_type: AssetType.COLLATERAL });
    assert.equal(answer.balance, "100000000");
    assert.equal(answer.available, "90000000");
  }
});

test("keys are listed, derived again and revoked; read-only ones too", async () => {
  const { client, creds } = await trader(1);
  assert.deepEqual(await client.deriveApiKey(), creds);
  assert.deepEqual((await client.getApiKeys()).apiKeys, [creds.key]);
  assert.equal((await client.getClosedOnlyMode()).closed_only, false);
  const { apiKey } = await client.createReadonlyApiKey();
  assert.deepEqual(await client.getReadonlyApiKeys(), [apiKey]);
  assert.deepEqual(await client.deleteReadonlyApiKey(apiKey), { deleted: true });
  assert.deepEqual(await client.deleteApiKey(), { revoked: true });
  await assert.rejects(client.getOpenOrders(), { status: 401 });
});

test("a heartbeat goes on under the id it was given", async () => {
  const { client } = await trader(1);
  const { heartbeat_id: first } = await client.postHeartbeat();
  assert.ok(first);
  assert.ok((await client.postHeartbeat(first)).heartbeat_id);
});

test("what is not built yet answers as empty", async () => {
  assert.deepEqual(await maker.client.getPreMigrationOrders(), []);
  assert.deepEqual(await maker.client.getNotifications(), []);
  assert.equal(await maker.client.dropNotifications({ ids: ["1"] }), "OK");
  assert.deepEqual(await maker.client.isOrderScoring({ order_id: "0x01" }), { scoring: false });
  assert.deepEqual(await maker.client.areOrdersScoring({ orderIds: ["0x01"] }), { "0x01": false });
});

test("a builder's trades are paged for its code", async () => {
  const builderCode = `0x${"00".repeat(12)}${"ab".repeat(20)}`;
  await place(maker.client, token(negRisk, 1), Side.BUY, 0.4, 10, OrderType.GTC);
  const order = await taker.client.createOrder({
    tokenID: token(negRisk),
    price: 0.6,
    size: 10,
    side: Side.BUY,
    builderCode,
  });
  const placed = await taker.client.postOrder(order, OrderType.FOK);
  const { trades, next_cursor } = await eventually(
    () => visitor().getBuilderTrades({ builder_code: builderCode }),
    ({ trades }) => trades.length > 0,
  );
  assert.equal(next_cursor, "LTE=");
  assert.equal(trades[0].id, placed.tradeIDs[0]);
});

test("a closed-only account is told so", async () => {
  const { client, address } = await trader(10);
  await operate("account", "closed-only", address);
  assert.equal((await client.getClosedOnlyMode()).closed_only, true);
});
