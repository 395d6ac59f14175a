// Everything the stock client reads without a wallet.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { OrderType } from "@polymarket/clob-client-v2";

import { Side, pages, place, quietMarkets, trader, visitor } from "./exchange.mjs";

const client = visitor();
let market, yes, no;

before(async () => {
  [market] = await quietMarkets(false);
  [yes, no] = market.tokens.map((token) => token.token_id);
  const { client: maker } = await trader(1_000);
  await place(maker, yes, Side.BUY, 0.4, 50, OrderType.GTC);
  await place(maker, yes, Side.BUY, 0.39, 20, OrderType.GTC);
  await place(maker, no, Side.BUY, 0.5, 30, OrderType.GTC);
});

test("health, time and version", async () => {
  assert.equal(await client.getOk(), "OK");
  assert.equal(await client.getVersion(), 2);
  const ahead = (await client.getServerTime()) - Date.now() / 1000;
  assert.ok(Math.abs(ahead) < 60, `the clocks differ by ${ahead} s`);
});

test("a book has its best levels last, and both outcomes mirror", async () => {
  const [book, mirror] = await Promise.all([yes, no].map((token) => client.getOrderBook(token)));
  assert.deepEqual(book.bids, [
    { price: "0.39", size: "20" },
    { price: "0.4", size: "50" },
  ]);
  assert.deepEqual(book.asks, [{ price: "0.5", size: "30" }]);
  assert.deepEqual(mirror.bids, [{ price: "0.5", size: "30" }]);
  assert.deepEqual(mirror.asks, [
    { price: "0.61", size: "20" },
    { price: "0.6", size: "50" },
  ]);
});

test("the client computes the hash a book carries", async () => {
  for (const token of [yes, no]) {
    const book = await client.getOrderBook(token);
    const sent = book.hash;
    assert.equal(await client.getOrderBookHash(book), sent);
  }
});

test("many books keep the order asked", async () => {
  const books = await client.getOrderBooks([
    { token_id: no, side: Side.SELL },
    { token_id: yes, side: Side.BUY },
  ]);
  assert.deepEqual(books.map((book) => book.asset_id), [no, yes]);
});

test("prices, midpoints and spreads, alone and in a batch", async () => {
  assert.equal((await client.getPrice(yes, Side.BUY)).price, "0.5");
  assert.equal((await client.getPrice(yes, Side.SELL)).price, "0.4");
  assert.equal((await client.getMidpoint(yes)).mid, "0.45");
  assert.equal((await client.getSpread(no)).spread, "0.1");
  const both = [
    { token_id: yes, side: Side.BUY },
    { token_id: yes, side: Side.SELL },
    { token_id: no, side: Side.BUY },
  ];
  assert.deepEqual(await client.getPrices(both), {
    [yes]: { BUY: "0.5", SELL: "0.4" },
    [no]: { BUY: "0.6" },
  });
  assert.deepEqual(await client.getMidpoints(both), { [yes]: "0.45", [no]: "0.55" });
  assert.deepEqual(await client.getSpreads(both), { [yes]: "0.1", [no]: "0.1" });
});

test("a market by its condition, and what its orders need", async () => {
  const detail = await client.getMarket(market.condition_id);
  assert.equal(detail.condition_id, market.condition_id);
  assert.deepEqual(detail.tokens.map((token) => token.token_id), [yes, no]);
  assert.equal(await client.getTickSize(yes), String(market.minimum_tick_size));
  assert.equal(await client.getNegRisk(yes), false);
  assert.equal(await client.getFeeRateBps(yes), market.taker_base_fee);
  const info = await visitor().getClobMarketInfo(market.condition_id);
  assert.deepEqual(info.t.map((token) => token.t), [yes, no]);
  assert.equal(typeof (await visitor().getFeeExponent(yes)), "number");
});

test("every list of markets ends", async () => {
  const lists = ["getMarkets", "getSimplifiedMarkets", "getSamplingMarkets", "getSamplingSimplifiedMarkets"];
  for (const list of lists) {
    const found = await pages((cursor) => client[list](cursor));
    const named = found.map((item) => item.condition_id);
    assert.ok(named.includes(market.condition_id), `${list} lists the market`);
    assert.equal(new Set(named).size, named.length, `${list} lists each market once`);
  }
});

test("price history of an hour ends at the midpoint", async () => {
  const { history } = await client.getPricesHistory({ market: yes, interval: "1h", fidelity: 1 });
  assert.ok(history.length > 0);
  assert.equal(history.at(-1).p, 0.45);
  assert.equal(history.at(-1).t % 60, 0);
});

test("an unknown token is 404, and what the exchange does not offer says so", async () => {
  await assert.rejects(client.getOrderBook("12345"), { status: 404 });
  await assert.rejects(client.getCurrentRewards(), { status: 404, message: /not supported/ });
});
