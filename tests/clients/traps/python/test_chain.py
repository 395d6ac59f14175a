"""Signatures for another chain, and wallets that the client is not told of."""

from py_clob_client_v2.clob_types import AssetType, BalanceAllowanceParams, OrderType, PostOrdersV2Args

import clob
from clob import limit, refused

HINT = "signed for chain 137; this exchange has 80002"


def test_an_api_key_signed_for_another_chain_is_refused_with_a_hint(sandbox, wallet, hints):
    client = clob.connect(sandbox, wallet, chain_id=137)
    assert refused(lambda: client.create_api_key(7)) == {"error": "Invalid L1 Request headers"}
    assert hints == [HINT]


def test_an_order_signed_for_another_chain_is_refused_with_a_hint(sandbox, wallet, hints):
    market = sandbox.market()
    client = clob.connect(sandbox, wallet, chain_id=137)
    order = limit(client, market.yes, "BUY", 0.5, 10)
    answer = refused(lambda: client.post_order(order))
    assert answer["error"] == f"invalid signature: {HINT}"
    assert hints == [HINT]
    assert sandbox.rejections()[0]["text"].endswith(f"invalid signature: {HINT}.")
    hints.clear()
    client.post_orders([PostOrdersV2Args(order=order, orderType=OrderType.GTC)])
    assert hints == [HINT], "a batch names it, too"


def test_a_funder_without_its_signature_type_is_refused(sandbox):
    safe = sandbox.wallet("safe")
    client = clob.connect(sandbox, safe, signature_type=None)
    order = limit(client, sandbox.market().yes, "BUY", 0.5, 10)
    assert refused(lambda: client.post_order(order))["error"] == "invalid signature: maker and signer differ"
    client = clob.connect(sandbox, safe)
    assert client.post_order(limit(client, sandbox.market().yes, "BUY", 0.5, 10))["status"] == "live"


def test_a_balance_is_that_of_the_clients_own_wallet(sandbox):
    safe = sandbox.wallet("safe")
    asked = BalanceAllowanceParams(asset_type=AssetType.COLLATERAL, signature_type=safe.signature_type)
    told = clob.connect(sandbox, safe)
    assert told.get_balance_allowance(asked)["balance"] == "1000000000"
    untold = clob.connect(sandbox, safe, signature_type=None, funder=None)
    assert untold.get_balance_allowance(asked)["balance"] == "0", "the type of the request is not sent"
