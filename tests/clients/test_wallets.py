"""Signature types 0 to 3: one owner signs for itself and for the wallets bound to it."""

from decimal import Decimal

import pytest
from py_clob_client_v2.clob_types import OrderPayload, TradeParams

from exchange import (
    BOB,
    OWEN,
    assert_live,
    assert_matched,
    clear,
    collateral,
    connect,
    deposit,
    operate,
    place,
    refused,
    shares,
)

KINDS = {1: "proxy", 2: "safe", 3: "deposit"}
FUNDS = 1_000


def wallet(kind):
    """An address nobody has the key of; digits only, so that it is its own checksum."""
    return "0x" + f"{kind}0" * 20


@pytest.fixture(scope="module")
def owner():
    """One owner, seen through a client of each signature type."""
    clients = {0: connect(OWEN)}
    deposit(clients[0].get_address(), FUNDS)
    for kind, word in KINDS.items():
        operate("account", "bind", clients[0].get_address(), wallet(kind), word)
        deposit(wallet(kind), FUNDS)
        clients[kind] = connect(OWEN, signature_type=kind, funder=wallet(kind))
    yield clients
    clear(clients[0])


@pytest.fixture(params=[0, 1, 2, 3])
def trader(owner, request):
    return owner[request.param]


def test_one_key_serves_all_wallets(owner):
    assert len({client.creds.api_key for client in owner.values()}) == 1


def test_an_order_trades_for_its_wallet(trader, bob, market):
    before = collateral(trader), shares(trader, market.yes)
    resting = assert_live(place(trader, market.yes, "BUY", 0.5, 20))
    order = trader.get_order(resting)["order"]
    assert order["makerAddress"].lower() == trader.builder.funder.lower()
    assert_matched(place(bob, market.no, "BUY", 0.5, 20), "20", "10")
    assert (collateral(trader), shares(trader, market.yes)) == (before[0] - 10, before[1] + 20)
    # and back, as a taker
    assert_live(place(bob, market.yes, "BUY", 0.45, 20))
    answer = place(trader, market.yes, "SELL", 0.4, 20)
    assert_matched(answer, "9", "20")
    assert (collateral(trader), shares(trader, market.yes)) == (before[0] - 1, before[1])
    [trade] = trader.get_trades(TradeParams(id=answer["tradeIDs"][0]))
    assert trade["maker_address"].lower() == trader.builder.funder.lower()


def test_cancel_by_the_type_that_placed_it(trader, market):
    resting = assert_live(place(trader, market.yes, "BUY", 0.2, 10))
    answer = trader.cancel_order(OrderPayload(orderID=resting))
    assert answer == {"canceled": [resting], "not_canceled": {}}


def test_requests_cover_every_wallet_of_the_owner(owner, market):
    placed = {assert_live(place(client, market.yes, "BUY", 0.2, 10)) for client in owner.values()}
    for client in owner.values():
        assert {row["id"] for row in client.get_open_orders()} == placed
    answer = owner[2].cancel_all()
    assert set(answer["canceled"]) == placed
    assert owner[0].get_open_orders() == []


def test_balances_are_each_wallets_own(owner):
    before = {kind: collateral(client) for kind, client in owner.items()}
    deposit(wallet(2), Decimal("12.5"))
    after = {kind: collateral(client) for kind, client in owner.items()}
    before[2] += Decimal("12.5")
    assert after == before


def test_wallets_of_one_owner_may_trade_with_each_other(owner, market):
    assert_live(place(owner[1], market.yes, "BUY", 0.5, 10))
    assert_matched(place(owner[3], market.no, "BUY", 0.5, 10), "10", "5")


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_a_wallet_of_nobody_is_refused(kind, market):
    stranger = connect(OWEN, signature_type=kind, funder="0x" + "99" * 20)
    refused(lambda: place(stranger, market.yes, "BUY", 0.2, 10), 400)


def test_the_wallet_of_another_type_is_refused(owner, market):
    confused = connect(OWEN, signature_type=1, funder=wallet(2))
    refused(lambda: place(confused, market.yes, "BUY", 0.2, 10), 400)


def test_a_bound_wallet_of_another_owner_is_refused(owner, market):
    thief = connect(BOB, signature_type=3, funder=wallet(3))
    refused(lambda: place(thief, market.yes, "BUY", 0.2, 10), 400)
