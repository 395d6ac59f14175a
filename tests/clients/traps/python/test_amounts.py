"""Prices and amounts that the Python client signs, where they are not those of the caller."""

import pytest
from py_clob_client_v2.clob_types import OrderType

import clob
from clob import amounts, limit, market, refused, resting

PERHAPS = "Perhaps the client floored the price in binary"


@pytest.mark.parametrize("order_type", [OrderType.FAK, OrderType.FOK])
@pytest.mark.parametrize(("price", "below"), [("0.29", "0.28"), ("0.57", "0.56"), ("0.58", "0.57")])
def test_a_market_buy_is_signed_one_tick_low(sandbox, client, price, below, order_type):
    book = sandbox.market()
    sandbox.asks(book, (price, "100"))
    order = market(client, book.yes, "BUY", 10, order_type=order_type)
    maker, taker = amounts(order)
    assert round(maker / taker, 4) == float(below)
    killed = refused(lambda: client.post_order(order, order_type))
    assert killed["orderID"] == ""
    text = sandbox.explain(killed["orderHash"])["text"]
    assert f"the best ask was {price} and its limit was {below}: its limit reached 0 shares" in text
    assert PERHAPS in text

    half_a_tick_more = market(client, book.yes, "BUY", 10, price=float(price) + 0.005, order_type=order_type)
    assert client.post_order(half_a_tick_more, order_type)["status"] == "matched"


def test_a_market_sell_is_signed_one_tick_below_its_limit(sandbox, client):
    book = sandbox.market()
    maker = sandbox.asks(book, ("0.5", "20"))
    client.post_order(market(client, book.yes, "BUY", 10, price=0.5), OrderType.FOK)
    sandbox.place(maker, book.yes, "BUY", "0.28", "50")

    order = market(client, book.yes, "SELL", 5, price=0.29)
    assert amounts(order) == (5_000_000, 1_400_000)
    sold = client.post_order(order, OrderType.FAK)
    assert (sold["makingAmount"], sold["takingAmount"]) == ("5", "1.4"), "5 shares at 0.28"
    assert "its limit was 0.28" in sandbox.explain(sold["orderID"])["text"]

    above = market(client, book.yes, "SELL", 5, price=0.295)
    refused(lambda: client.post_order(above, OrderType.FAK))


@pytest.mark.parametrize(("size", "signed"), [(2.01, 2_000_000), (10.2, 10_190_000), (1.15, 1_140_000)])
def test_a_size_is_signed_one_hundredth_short(sandbox, client, size, signed):
    token = sandbox.market().yes
    assert amounts(limit(client, token, "BUY", 0.5, size))[1] == signed
    assert amounts(limit(client, token, "BUY", 0.5, size + 0.001))[1] == signed + 10_000


def test_a_price_off_the_tick_is_rounded_for_either_side(sandbox, client):
    book = sandbox.market()
    client.post_order(limit(client, book.yes, "BUY", 0.576, 10))
    assert resting(client, book) == [("0.58", "10")], "more than the caller's limit"
    assert amounts(limit(client, book.yes, "SELL", 0.574, 10)) == (10_000_000, 5_700_000)


def test_a_tick_is_read_once(sandbox, wallet, client):
    book = sandbox.market()
    limit(client, book.yes, "BUY", 0.5, 10)
    sandbox.operate("/markets/tick", {"condition_id": book.condition, "tick_size": "0.001"})
    client.post_order(limit(client, book.yes, "BUY", 0.576, 10))
    assert resting(client, book) == [("0.58", "10")], "0.576 is a price of the new tick"
    anew = clob.connect(sandbox, wallet)
    assert amounts(limit(anew, book.yes, "BUY", 0.576, 10)) == (5_760_000, 10_000_000)


@pytest.mark.parametrize(("tick", "price", "off"), [("0.005", 0.575, 0.571), ("0.0025", 0.5725, 0.571)])
def test_ticks_that_are_no_power_of_ten_are_signed_as_they_are(sandbox, client, tick, price, off):
    """The Python client has these ticks; prices between them are refused, not rounded."""
    book = sandbox.market(tick_size=tick)
    client.post_order(limit(client, book.yes, "BUY", price, 10))
    assert resting(client, book) == [(str(price), "10")]
    answer = refused(lambda: client.post_order(limit(client, book.yes, "BUY", off, 10)))
    assert f"breaks minimum tick size rule: {tick}" in answer["error"]


def test_a_sized_order_of_fok_spends_its_value(sandbox, client):
    book = sandbox.market()
    sandbox.asks(book, ("0.33", "100"))
    order = limit(client, book.yes, "BUY", 0.5, 10)
    filled = client.post_order(order, OrderType.FOK)
    assert (filled["makingAmount"], filled["takingAmount"]) == ("4.9995", "15.15"), "not 10 shares"
    answer = refused(lambda: client.post_order(limit(client, book.yes, "BUY", 0.33, 7.77), OrderType.FOK))
    assert answer["code"] == "market_amounts_too_fine"


def test_a_market_order_beyond_the_depth_takes_the_worst_price(sandbox, client):
    book = sandbox.market()
    sandbox.asks(book, ("0.5", "10"), ("0.99", "10"))
    order = market(client, book.yes, "BUY", 100, order_type=OrderType.FAK)
    filled = client.post_order(order, OrderType.FAK)
    assert (filled["makingAmount"], filled["takingAmount"]) == ("14.9", "20")
    assert "its limit was 0.99" in sandbox.explain(filled["orderID"])["text"]


def test_a_depth_that_is_just_enough_is_no_match(sandbox, client):
    book = sandbox.market()
    sandbox.asks(book, ("0.03", "11"))
    with pytest.raises(Exception, match="no match"):
        market(client, book.yes, "BUY", 0.33)


def test_a_balance_of_zero_counts_for_limit_orders_only(sandbox, client):
    book = sandbox.market()
    sandbox.asks(book, ("0.5", "100"))
    bought = market(client, book.yes, "BUY", 10, user_usdc_balance=0)
    assert amounts(bought) == (10_000_000, 20_000_000), "as if the balance were not given"
    nothing = limit(client, book.yes, "BUY", 0.5, 10, user_usdc_balance=0)
    assert amounts(nothing) == (0, 0)
    assert refused(lambda: client.post_order(nothing))["code"] == "invalid_order_field"
