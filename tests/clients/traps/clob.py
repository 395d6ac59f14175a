"""The stock Python client at a sandbox, and what its answers said."""

import pytest
from py_clob_client_v2.client import ClobClient
from py_clob_client_v2.clob_types import ApiCreds, MarketOrderArgs, OrderArgs
from py_clob_client_v2.exceptions import PolyApiException
from py_clob_client_v2.http_helpers import helpers

# The client throws headers away; its HTTP library does not.
HINTS = []


def note(response):
    """Keeps the hint of an answer."""
    if hint := response.headers.get("x-foretell-hint"):
        HINTS.append(hint)


helpers._http_client.event_hooks["response"].append(note)


def connect(sandbox, wallet, **changes):
    """A client of a wallet; `changes` are arguments of the client, or its chain."""
    arguments = {
        "key": wallet.key,
        "creds": ApiCreds(wallet.api_key, wallet.secret, wallet.passphrase),
        "signature_type": wallet.signature_type,
        "funder": wallet.funder,
        "host": sandbox.trading,
        "chain_id": sandbox.chain,
    }
    return ClobClient(**{**arguments, **changes})


def limit(client, token, side, price, size, **more):
    """Signs a limit order."""
    return client.create_order(OrderArgs(token_id=token, price=price, size=size, side=side, **more))


def market(client, token, side, amount, **more):
    """Signs a market order."""
    return client.create_market_order(MarketOrderArgs(token_id=token, amount=amount, side=side, **more))


def amounts(order):
    """Maker and taker amount that were signed."""
    return int(order.makerAmount), int(order.takerAmount)


def refused(action):
    """The body of the answer to what must be refused."""
    with pytest.raises(PolyApiException) as caught:
        action()
    return caught.value.error_msg


def resting(client, market):
    """Price and size of the client's orders in a market."""
    rows = [row for row in client.get_open_orders() if row["market"] == market.condition]
    return [(row["price"], row["original_size"]) for row in rows]
