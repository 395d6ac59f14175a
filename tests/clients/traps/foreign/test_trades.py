"""Equal fills of one order, as ccxt and NautilusTrader count them: here, as in the family, they are one trade."""

import asyncio
import json

import msgspec
import pytest
from nautilus_trader.adapters.polymarket.common.parsing import parse_polymarket_instrument
from nautilus_trader.adapters.polymarket.schemas.book import PolymarketTrade
from nautilus_trader.adapters.polymarket.schemas.trade import PolymarketTradeReport
from nautilus_trader.adapters.polymarket.schemas.user import PolymarketUserTrade
from nautilus_trader.model.identifiers import AccountId

import venue
from sandbox import read


def parsed(event, kind):
    """A message as NautilusTrader reads it."""
    return msgspec.json.decode(json.dumps(event), type=kind)


async def newest(watch, is_last):
    """The trades that a stream has after the last of them."""
    while True:
        trades = await asyncio.wait_for(watch(), 20)
        if is_last(trades[-1]):
            return list(trades)


@pytest.fixture(scope="module")
def traded(sandbox):
    """Three asks of 10 at 0.50 of one wallet, which an order for 30 takes, and what both parties read."""
    book, taker = sandbox.market(), sandbox.wallet()
    maker = sandbox.wallet(amount="100000")
    orders = [sandbox.place(maker, book.no, "BUY", "0.5", "10")["orderID"] for _ in range(3)]
    found = {"book": book, "orders": orders, "maker": maker}
    is_confirmed = lambda trade: trade["info"].get("status") == "CONFIRMED"

    async def use():
        async with venue.client(sandbox, taker) as own, venue.client(sandbox, maker) as other:
            await asyncio.gather(own.load_outcome(book.yes), other.load_outcome(book.no))
            watching = [
                asyncio.create_task(newest(lambda: own.watch_my_trades(), is_confirmed)),
                asyncio.create_task(newest(lambda: other.watch_my_trades(), is_confirmed)),
                asyncio.create_task(newest(lambda: own.watch_trades(book.yes), lambda trade: True)),
            ]
            await asyncio.sleep(3)  # ccxt does not say when it is subscribed
            found["placed"] = await own.create_order(book.yes, "limit", "buy", 30, 0.5)
            found["taker"], found["made"], found["public"] = await asyncio.gather(*watching)
            found["fetched"] = await own.fetch_my_trades()
            found["listed"] = await own.fetch_trades(book.yes)

    asyncio.run(use())
    return found


def test_ccxt_counts_the_whole_trade(traded):
    for name in ("taker", "fetched"):
        assert [(trade["amount"], trade["price"]) for trade in traded[name]] == [(30, 0.5)], name
    assert [(trade["amount"], trade["price"]) for trade in traded["public"]] == [(30, 0.5)]
    ids = {trade["info"]["id"] for name in ("taker", "made", "fetched") for trade in traded[name]}
    assert list(ids) == traded["placed"]["info"]["tradeIDs"]


def test_a_public_row_is_the_whole_trade(traded):
    [row] = traded["listed"]
    assert (row["amount"], row["price"]) == (30, 0.5)
    assert [row["info"]["id"]] == traded["placed"]["info"]["tradeIDs"]


def test_nautilus_counts_one_tick_and_every_fill_once(sandbox, traded):
    book = traded["book"]
    listed = [row for row in read(f"{sandbox.trading}/markets")["data"] if row["condition_id"] == book.condition]
    instrument = {
        token["token_id"]: parse_polymarket_instrument(listed[0], token["token_id"], token["outcome"])
        for token in listed[0]["tokens"]
    }
    ticks = [
        parsed(trade["info"], PolymarketTrade).parse_to_trade_tick(instrument[book.yes], 0)
        for trade in traded["public"]
    ]
    assert [float(tick.size) for tick in ticks] == [30]
    account = AccountId("POLYMARKET-001")
    taken = parsed(traded["taker"][-1]["info"], PolymarketUserTrade)
    [order] = taken.get_filled_user_order_ids("", "")
    report = taken.parse_to_fill_report(account, instrument[book.yes], None, 0, order)
    assert (order, float(report.last_qty), float(report.last_px)) == (traded["placed"]["id"], 30, 0.5)

    made = parsed(traded["made"][-1]["info"], PolymarketUserTrade)
    maker = traded["maker"]
    orders = made.get_filled_user_order_ids(maker.funder, maker.api_key)
    assert orders == traded["orders"]
    reports = [made.parse_to_fill_report(account, instrument[book.no], None, 0, order) for order in orders]
    assert [float(report.last_qty) for report in reports] == [10, 10, 10]
    assert len({report.trade_id for report in reports}) == 3
    row = parsed(traded["fetched"][-1]["info"], PolymarketTradeReport)
    assert row.last_qty(order) == 30
