"""Wallets of every kind, with the stock client and without it."""

from decimal import Decimal
from typing import Any

import pytest

import foretell

KINDS = [("eoa", 0), ("proxy", 1), ("safe", 2), ("deposit", 3)]


@pytest.mark.parametrize(("kind", "signature_type"), KINDS)
def test_the_stock_client_trades(foretell_exchange: foretell.Exchange, kind: Any, signature_type: int) -> None:
    clob = pytest.importorskip("py_clob_client_v2")
    ex = foretell_exchange
    rain = ex.market("Will it rain?")
    ex.set_book(rain.yes, asks=[("0.5", 20)])
    me = ex.wallet(usdc=100, kind=kind)
    assert (me.kind, me.signature_type) == (kind, signature_type)
    assert (me.funder == me.address) == (kind == "eoa")
    client = me.clob_client()
    answer = client.create_and_post_order(clob.OrderArgs(token_id=rain.yes.token_id, side="BUY", price=0.5, size=10))
    assert answer["status"] == "matched"
    assert [fill.order_id for fill in ex.fills(me)] == [answer["orderID"]]
    assert me.balance() == 95
    assert me.shares(rain.yes) == 10


def test_the_stock_client_signs_for_chain_137() -> None:
    clob = pytest.importorskip("py_clob_client_v2")
    with foretell.Exchange(chain=137) as ex:
        rain, me = ex.market("Will it rain?"), ex.wallet(usdc=10)
        assert ex.chain == 137
        order = clob.OrderArgs(token_id=rain.yes.token_id, side="BUY", price=0.5, size=10)
        assert me.clob_client().create_and_post_order(order)["status"] == "live"


@pytest.mark.parametrize(("kind", "signature_type"), KINDS)
def test_orders_need_no_client(foretell_exchange: foretell.Exchange, kind: Any, signature_type: int) -> None:
    rain, me = foretell_exchange.market("Will it rain?"), foretell_exchange.wallet(usdc=10, kind=kind)
    placed = me.place(rain.yes, "BUY", price="0.5", size=10)
    assert [order.order_id for order in me.orders()] == [placed.order_id]
    account = me.account()
    assert (account.free, account.reserved, account.positions) == (5, 5, ())
    assert me.cancel(placed)


def test_wallets_split_merge_and_deposit(foretell_exchange: foretell.Exchange) -> None:
    rain, me = foretell_exchange.market("Will it rain?"), foretell_exchange.wallet(kind="safe")
    assert me.balance() == 0
    me.deposit("10.5")
    me.split(rain, 4)
    me.merge(rain, "1.5")
    assert me.balance() == 8
    assert (me.shares(rain.yes), me.shares(rain.no)) == (Decimal("2.5"), Decimal("2.5"))


def test_the_environment_is_complete(foretell_exchange: foretell.Exchange) -> None:
    me = foretell_exchange.wallet(kind="proxy")
    env = me.env()
    assert env["CLOB_API_URL"] == foretell_exchange.clob_url
    assert (env["PRIVATE_KEY"], env["FUNDER"], env["SIGNATURE_TYPE"]) == (me.private_key, me.funder, "1")
    assert all(isinstance(value, str) for value in env.values())


def test_secrets_are_not_shown(foretell_exchange: foretell.Exchange) -> None:
    me = foretell_exchange.wallet()
    shown = repr(me)
    assert me.funder in shown
    assert not any(secret in shown for secret in (me.private_key, me.secret, me.passphrase))


def test_a_missing_client_says_how_to_install_it(
    foretell_exchange: foretell.Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "py_clob_client_v2.client", None)
    with pytest.raises(ImportError, match="pip install"):
        foretell_exchange.wallet().clob_client()
