"""Wallets' addresses and signatures: eth-account, with coincurve."""

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_keys.backends import get_backend
from py_clob_client_v2.clob_types import OrderType, PostOrdersV2Args

import clob
from clob import limit

BATCH, LIVE, ORDERS = 15, 600, 10_000
HINT = "an address in the order has a wrong checksum (EIP-55)"


@pytest.fixture
def hints():
    """The hints of the test's answers."""
    clob.HINTS.clear()
    return clob.HINTS


def misspelt(address):
    """The address with its first letter in the other case."""
    at = next(place for place, letter in enumerate(address) if place > 1 and letter.isalpha())
    return address[:at] + address[at].swapcase() + address[at + 1 :]


def test_signatures_are_made_in_c():
    assert type(get_backend()).__name__ == "CoinCurveECCBackend"


def test_an_address_with_a_wrong_checksum_is_signed(wallet):
    def signature(address):
        types = {"Order": [{"name": "maker", "type": "address"}]}
        message = encode_typed_data({"name": "test"}, types, {"maker": address})
        return Account.sign_message(message, wallet.key).signature

    assert signature(misspelt(wallet.funder)) == signature(wallet.funder)


def test_a_wrong_checksum_of_an_order_is_named(sandbox, hints):
    book, deposit = sandbox.market(), sandbox.wallet("deposit")
    client = clob.connect(sandbox, deposit, funder=misspelt(deposit.funder))
    placed = client.post_order(limit(client, book.yes, "BUY", 0.5, 10))
    assert placed["status"] == "live", "the exchange reads the address"
    assert "checksum" not in str(placed), "no body names the hint"
    assert hints == [HINT]
    hints.clear()
    again = PostOrdersV2Args(order=limit(client, book.yes, "BUY", 0.5, 10), orderType=OrderType.GTC)
    assert client.post_orders([again])[0]["status"] == "live"
    assert hints == [HINT], "a batch names it too"


def batch(client, token, first):
    """A batch of signed orders: every price below 0.5, and small sizes."""
    terms = [(round(0.01 + at % 49 / 100, 2), 5 + at % 20) for at in range(first, first + BATCH)]
    orders = [limit(client, token, "BUY", price, size) for price, size in terms]
    return [PostOrdersV2Args(order=order, orderType=OrderType.GTC) for order in orders]


def test_right_orders_raise_no_hint(sandbox, hints):
    token = sandbox.market().yes
    client = clob.connect(sandbox, sandbox.wallet(amount="100000"))
    live = []
    for first in range(0, ORDERS, BATCH):
        answers = client.post_orders(batch(client, token, first))
        assert [answer["status"] for answer in answers] == ["live"] * BATCH, answers
        live += [answer["orderID"] for answer in answers]
        if len(live) >= LIVE:
            client.cancel_orders(live)
            live.clear()
    for _ in range(100):
        client.post_order(limit(client, token, "BUY", 0.5, 5))
    assert hints == []
