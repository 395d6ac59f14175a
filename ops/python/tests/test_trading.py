"""Books, trades, fills and orders."""

import json
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

import foretell
from foretell import Level
from foretell.api import Surface


def level(price: str, size: str) -> Level:
    return Level(Decimal(price), Decimal(size))


def test_a_book_is_what_was_set(foretell_exchange: foretell.Exchange) -> None:
    rain = foretell_exchange.market("Will it rain?")
    book = foretell_exchange.set_book(rain.yes, bids=[("0.5", 10), ("0.55", "20.5")], asks=[("0.57", 20), ("0.6", 5)])
    assert book.bids == (level("0.55", "20.5"), level("0.5", "10"))
    assert book.asks == (level("0.57", "20"), level("0.6", "5"))
    assert (book.best_bid, book.best_ask) == (book.bids[0], book.asks[0])
    assert (book.tick_size, book.min_size, book.last_trade_price) == (Decimal("0.01"), 5, None)
    other = foretell_exchange.book(rain.no)
    assert other.bids == (level("0.43", "20"), level("0.4", "5"))


def test_setting_a_book_again_replaces_it(foretell_exchange: foretell.Exchange) -> None:
    rain, snow = foretell_exchange.market("Will it rain?"), foretell_exchange.market("Will it snow?")
    foretell_exchange.set_book(snow.yes, bids=[("0.1", 10)])
    foretell_exchange.set_book(rain.yes, bids=[("0.5", 10)], asks=[("0.6", 10)])
    book = foretell_exchange.set_book(rain.yes, bids=[("0.4", 10)])
    assert (book.bids, book.asks) == ((level("0.4", "10"),), ())
    assert foretell_exchange.set_book(rain.yes).best_bid is None
    assert foretell_exchange.book(snow.yes).bids == (level("0.1", "10"),)


@pytest.mark.parametrize("form", [dict, json.dumps, lambda book: json.dumps(book).encode()])
def test_a_recorded_book_is_played(foretell_exchange: foretell.Exchange, form: Any) -> None:
    recorded = {
        "market": "0x1",
        "bids": [{"price": "0.53", "size": "150"}, {"price": "0.54", "size": "100"}],
        "asks": [{"price": "0.58", "size": "150"}, {"price": "0.57", "size": "88.5"}],
    }
    rain = foretell_exchange.market("Will it rain?")
    book = foretell_exchange.set_book(rain.yes, form(recorded))
    assert book.bids == (level("0.54", "100"), level("0.53", "150"))
    assert book.asks == (level("0.57", "88.5"), level("0.58", "150"))


def test_what_is_no_book_is_rejected(foretell_exchange: foretell.Exchange) -> None:
    rain = foretell_exchange.market("Will it rain?")
    with pytest.raises(ValueError, match="arrays bids and asks"):
        foretell_exchange.set_book(rain.yes, '{"error":"No orderbook"}')


def test_a_crossed_book_is_rejected(foretell_exchange: foretell.Exchange) -> None:
    rain = foretell_exchange.market("Will it rain?")
    with pytest.raises(ValueError, match=r"bids go up to 0\.6, allowed: below the best ask, which is 0\.6"):
        foretell_exchange.set_book(rain.yes, bids=[("0.5", 5), ("0.6", 5)], asks=[("0.7", 5), ("0.6", 5)])


def test_a_float_is_rejected_before_orders_are_cancelled(foretell_exchange: foretell.Exchange) -> None:
    rain = foretell_exchange.market("Will it rain?")
    foretell_exchange.set_book(rain.yes, bids=[("0.5", 10)])
    price: Any = 0.57
    with pytest.raises(TypeError, match="price is the float"):
        foretell_exchange.set_book(rain.yes, bids=[(price, 10)])
    assert foretell_exchange.book(rain.yes).bids == (level("0.5", "10"),)


def test_somebody_buys_and_sells(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    rain = ex.market("Will it rain?", fee="0.04")
    me = ex.wallet(usdc=100)
    bid = me.place(rain.yes, "BUY", price="0.55", size=20)
    (sold,) = ex.trade(rain.yes, "SELL", price="0.5", size="7.25")
    assert (sold.side, sold.price, sold.size, sold.liquidity) == ("SELL", Decimal("0.55"), Decimal("7.25"), "taker")
    assert sold.fee > 0
    (mine,) = ex.fills(me)
    assert (mine.order_id, mine.trade_id, mine.liquidity) == (bid.order_id, sold.trade_id, "maker")
    assert (mine.side, mine.outcome, mine.token_id, mine.fee) == ("BUY", "Yes", rain.yes.token_id, 0)
    assert mine.time.utcoffset() is not None
    (left,) = ex.orders(me)
    assert (left.size, left.filled, left.status, left.expiration) == (20, Decimal("7.25"), "LIVE", None)

    ask = me.place(rain.yes, "SELL", price="0.7", size=5)
    (bought,) = ex.trade(rain.yes, "BUY", price="0.75", size=6)
    assert (bought.price, bought.size) == (Decimal("0.7"), 5)
    assert [fill.order_id for fill in ex.fills(me)] == [bid.order_id, ask.order_id]
    assert me.order(ask).status == "MATCHED"
    assert ex.book(rain.yes).best_bid == level("0.55", "12.75"), "the rest of the BUY is cancelled"


def test_a_trade_sweeps_levels(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    rain = ex.market("Will it rain?")
    ex.set_book(rain.yes, bids=[("0.5", 10), ("0.55", 20)], asks=[("0.57", 20), ("0.6", 20)])
    (sold,) = ex.trade(rain.yes, "SELL", price="0.5", size=50)
    assert (sold.size, sold.price) == (30, Decimal("0.533333"))
    (bought,) = ex.trade(rain.yes, "BUY", price="0.6", size=30)
    assert (bought.size, bought.price) == (30, Decimal("0.58"))


def test_a_maker_has_a_fill_for_each_order(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    rain, me = ex.market("Will it rain?"), ex.wallet(usdc=100)
    orders = [me.place(rain.yes, "BUY", price=price, size=10).order_id for price in ("0.5", "0.55")]
    (trade,) = ex.trade(rain.yes, "SELL", price="0.5", size=20)
    made = [(fill.order_id, fill.price, fill.size, fill.trade_id) for fill in ex.fills(me)]
    assert made == [
        (orders[1], Decimal("0.55"), 10, trade.trade_id),
        (orders[0], Decimal("0.5"), 10, trade.trade_id),
    ]


@pytest.mark.parametrize("side", ["BUY", "SELL"])
def test_a_trade_without_a_counterparty_has_no_fills(foretell_exchange: foretell.Exchange, side: Any) -> None:
    rain = foretell_exchange.market("Will it rain?")
    foretell_exchange.set_book(rain.yes, bids=[("0.3", 10)], asks=[("0.7", 10)])
    assert foretell_exchange.trade(rain.yes, side, price="0.5", size=10) == []
    assert foretell_exchange.book(rain.yes).bids == (level("0.3", "10"),)


def test_a_delayed_trade_fills_after_the_delay(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    ex.clock.freeze()
    rain = ex.market("Will it rain?", taker_delay=3)
    me = ex.wallet(usdc=100)
    me.place(rain.yes, "BUY", price="0.55", size=20)
    assert ex.trade(rain.yes, "SELL", price="0.55", size=7) == []
    assert ex.fills(me) == []
    ex.clock.advance(seconds=3)
    assert [fill.size for fill in ex.fills(me)] == [7]


def test_orders_are_placed_and_cancelled(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    rain, snow = ex.market("Will it rain?"), ex.market("Will it snow?")
    me = ex.wallet(usdc=100)
    first = me.place(rain.yes, "BUY", price="0.1", size=10, post_only=True)
    assert (first.status, first.trade_ids, first.taking) == ("live", (), 0)
    me.place(rain.no, "BUY", price="0.2", size=10)
    me.place(snow.yes, "BUY", price="0.3", size=10)
    assert [order.price for order in ex.orders(me)] == [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")]
    assert me.cancel(first)
    assert not me.cancel(first.order_id)
    assert me.order(first).status == "CANCELED"
    assert me.cancel_all(rain) == 1
    assert me.cancel_all() == 1
    assert me.cancel_all() == 0
    assert ex.orders(me) == []


def test_orders_are_explained(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    rain, me = ex.market("Will it rain?"), ex.wallet(usdc=100)
    ex.set_book(rain.yes, bids=[("0.5", 20)], asks=[("0.58", 20)])
    live = ex.explain(me.place(rain.yes, "BUY", price="0.4", size=10))
    assert (live.status, live.code) == ("live", None)
    assert live.received.utcoffset() is not None
    assert live.met is not None
    assert (live.met.side, live.met.price, live.met.size, live.met.reached) == ("BUY", Decimal("0.4"), 10, 0)
    assert (live.met.bids, live.met.asks) == ((level("0.5", "20"),), (level("0.58", "20"),))
    with pytest.raises(foretell.ExchangeError) as killed:
        me.place(rain.yes, "BUY", price="0.57", size=10, order_type="FOK")
    assert killed.value.order_id is not None
    assert ex.explain(killed.value.order_id).code == "fok_not_filled"
    with pytest.raises(foretell.ExchangeError) as refused:
        me.place(rain.yes, "BUY", price="0.57", size=1000)
    rejection, kill = ex.rejections()
    assert (kill.order_id, kill.status, kill.met) == (killed.value.order_id, "killed", None)
    assert (rejection.order_id, rejection.code, rejection.met) == (refused.value.order_id, "insufficient_balance", None)
    with pytest.raises(foretell.ExchangeError) as unknown:
        ex.explain("0x" + 64 * "0")
    assert (unknown.value.code, unknown.value.order_id) == ("order_not_found", None)


def test_a_killed_order_raises(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    rain = ex.market("Will it rain?")
    ex.set_book(rain.yes, asks=[("0.57", 20)])
    me = ex.wallet(usdc=100)
    with pytest.raises(foretell.ExchangeError) as caught:
        me.place(rain.yes, "BUY", price="0.57", size=20, post_only=True)
    assert (caught.value.code, caught.value.status) == ("crosses_book", 400)


def test_many_fills_are_read_in_sequence(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    rain = ex.market("Will it rain?", min_size="0.01")
    me = ex.wallet(usdc=1000)
    me.place(rain.yes, "BUY", price="0.5", size=1000)
    for _ in range(120):
        ex.trade(rain.yes, "SELL", price="0.5", size=1)
    fills = ex.fills(me)
    assert len({fill.trade_id for fill in fills}) == len(fills) == 120
    assert [fill.time for fill in fills] == sorted(fill.time for fill in fills)


def test_reads_wait_at_every_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    request = Surface.request

    def spy(self: Surface, *arguments: Any) -> Any:
        headers = arguments[-1] or {}
        if "x-min-sequence" in headers:
            sent.append(int(headers["x-min-sequence"]))
        return request(self, *arguments)

    monkeypatch.setattr(Surface, "request", spy)
    with foretell.Exchange(settings={"gateway.processes": 2}) as ex:
        rain, me = ex.market("Will it rain?"), ex.wallet(usdc=100)
        sent.clear()
        for number in range(1, 21):
            me.place(rain.yes, "BUY", price="0.01", size=5)
            assert len(ex.orders(me)) == number
            assert ex.book(rain.yes).bids == (level("0.01", str(5 * number)),)
            assert me.account().reserved == Decimal("0.05") * number
    first = sent[0]
    assert sent == [first + number for number in range(20) for _ in range(3)], "one command for each three reads"


def test_reads_of_the_only_gateway_need_no_sequence(foretell_exchange: foretell.Exchange) -> None:
    rain, me = foretell_exchange.market("Will it rain?"), foretell_exchange.wallet(usdc=1000)
    for number in range(1, 101):
        me.place(rain.yes, "BUY", price="0.01", size=5)
        with ThreadPoolExecutor(2) as threads:  # each thread has a connection
            assert set(threads.map(lambda _: len(me.orders()), range(2))) == {number}
