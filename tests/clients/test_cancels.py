"""Cancelling one order, several, those of a market, all."""

from py_clob_client_v2.clob_types import OpenOrderParams, OrderMarketCancelParams, OrderPayload

from exchange import assert_live, assert_matched, place

GONE = "order can't be found - already canceled or matched"
OTHERS = "order belongs to another account"
UNKNOWN = "0x" + "44" * 32


def rest(client, token, price=0.2):
    return assert_live(place(client, token, "BUY", price, 10))


def status(client, order_id):
    return client.get_order(order_id)["order"]["status"]


def test_one(alice, market):
    order_id = rest(alice, market.yes)
    answer = alice.cancel_order(OrderPayload(orderID=order_id))
    assert answer == {"canceled": [order_id], "not_canceled": {}}
    assert status(alice, order_id) == "CANCELED"
    again = alice.cancel_order(OrderPayload(orderID=order_id))
    assert again == {"canceled": [], "not_canceled": {order_id: GONE}}


def test_what_cannot_be_cancelled(alice, bob, market):
    resting, filled = rest(alice, market.yes), rest(alice, market.yes, 0.6)
    assert_matched(place(bob, market.no, "BUY", 0.4, 10), "10", "4")
    answer = bob.cancel_order(OrderPayload(orderID=resting))
    assert answer == {"canceled": [], "not_canceled": {resting: OTHERS}}
    answer = alice.cancel_order(OrderPayload(orderID=filled))
    assert answer == {"canceled": [], "not_canceled": {filled: GONE}}
    assert status(alice, resting) == "LIVE"


def test_several(alice, market):
    first, second, third = (rest(alice, market.yes) for _ in range(3))
    answer = alice.cancel_orders([first, UNKNOWN, third])
    assert sorted(answer["canceled"]) == sorted([first, third])
    assert answer["not_canceled"] == {UNKNOWN: GONE}
    assert status(alice, second) == "LIVE"


def test_those_of_a_market_or_a_token(alice, market, fine_market):
    yes, no = rest(alice, market.yes), rest(alice, market.no)
    elsewhere = rest(alice, fine_market.yes)
    answer = alice.cancel_market_orders(OrderMarketCancelParams(asset_id=market.yes))
    assert answer == {"canceled": [yes], "not_canceled": {}}
    answer = alice.cancel_market_orders(OrderMarketCancelParams(market=market.condition))
    assert answer == {"canceled": [no], "not_canceled": {}}
    assert status(alice, elsewhere) == "LIVE"


def test_all_of_mine_and_nothing_else(alice, bob, market, fine_market):
    mine = [rest(alice, market.yes), rest(alice, fine_market.no)]
    other = rest(bob, market.yes)
    answer = alice.cancel_all()
    assert sorted(answer["canceled"]) == sorted(mine)
    assert answer["not_canceled"] == {}
    assert alice.get_open_orders() == []
    assert [row["id"] for row in bob.get_open_orders(OpenOrderParams(id=other))] == [other]
