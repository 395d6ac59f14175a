"""The keys of a sandbox's answers are those of another exchange: a client learns nothing wrong from it."""

import re
import time

import pytest
from py_clob_client_v2.client import ClobClient
from py_clob_client_v2.clob_types import AssetType, BalanceAllowanceParams, OpenOrderParams, OrderType, TradeParams
from py_clob_client_v2.http_helpers import helpers

import clob
from clob import limit, market, refused
from sandbox import Exchange, Market, Sandbox

# Keys 0 and 1 of the development mnemonic of Hardhat and Anvil. Never fund them.
FUNDED = [
    "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
]
ID = re.compile(r"/(0x[0-9a-f]+|[0-9]{20,})")
LISTEN = [f"--{surface}-listen=127.0.0.1:0" for surface in ("trading", "data", "catalog", "operator")]


def keys(value, path=""):
    """The paths of all keys of a JSON value; the elements of a list are one, and so are addresses."""
    if isinstance(value, list):
        return {found for element in value for found in keys(element, f"{path}[]")}
    if not isinstance(value, dict):
        return set()
    named = {("0x…" if key.startswith("0x") else key): element for key, element in value.items()}
    own = {f"{path}.{key}" for key in named}
    return own | {found for key, element in named.items() for found in keys(element, f"{path}.{key}")}


@pytest.fixture
def recorded():
    """Keys of each answer, by request and status."""
    seen = {}

    def record(response):
        response.read()
        request = response.request
        path = ID.sub("/…", request.url.path)
        name = f"{request.method} {path} {response.status_code}"
        seen.setdefault(name, set()).update(keys(response.json()))

    hooks = helpers._http_client.event_hooks
    helpers._http_client.event_hooks = {**hooks, "response": [*hooks["response"], record]}
    yield seen
    helpers._http_client.event_hooks = hooks


def trade(maker, taker, book):
    """Every kind of answer about orders and trades of both sides."""
    for side, price in (("BUY", 0.5), ("BUY", 0.4)):
        maker.post_order(limit(maker, book.yes, side, price, 20))
    taker.post_order(limit(taker, book.no, "BUY", 0.5, 10))
    killed = market(taker, book.yes, "BUY", 10, price=0.2)
    refused(lambda: taker.post_order(killed, OrderType.FOK))
    refused(lambda: taker.post_order(limit(taker, book.yes, "BUY", 0.9, 10**8)))
    time.sleep(0.5)
    for client in (maker, taker):
        client.get_open_orders(OpenOrderParams(market=book.condition))
        client.get_trades(TradeParams(market=book.condition))
        for kind in (AssetType.COLLATERAL, AssetType.CONDITIONAL):
            client.get_balance_allowance(BalanceAllowanceParams(asset_type=kind, token_id=book.yes))
    maker.get_order_book(book.yes)


def of_sandbox(recorded):
    with Sandbox() as sandbox:
        clients = [clob.connect(sandbox, sandbox.wallet()) for _ in FUNDED]
        trade(*clients, sandbox.market())
    return recorded


def of_demo(recorded, directory):
    with Exchange("--demo", "--no-bots", "--data", str(directory), *LISTEN) as demo:
        clients = [ClobClient(demo.trading, 80002, key=key) for key in FUNDED]
        for client in clients:
            client.set_api_creds(client.create_or_derive_api_key())
        listed = clients[0].get_markets()["data"]
        plain = next(row for row in listed if not (row["neg_risk"] or row["taker_base_fee"] or row["seconds_delay"]))
        recorded.clear()
        trade(*clients, Market(plain["condition_id"], *(token["token_id"] for token in plain["tokens"])))
    return recorded


def test_answers_have_the_same_keys(recorded, tmp_path):
    sandbox = dict(of_sandbox(recorded))
    recorded.clear()
    demo = of_demo(recorded, tmp_path / "data")
    for name in ("POST /order 200", "POST /order 400", "GET /data/orders 200", "GET /data/trades 200"):
        assert len(sandbox[name]) > 5, name
    assert sandbox == demo
