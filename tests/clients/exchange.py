"""The running exchange, wallets everybody knows, and what tests say about answers.

Everything a test learns from the exchange comes through the stock client; only what clients cannot
do (deposits, bound wallets, states of markets) goes through the operator's command line.
"""

import json
import os
import subprocess
import time
import uuid
from dataclasses import dataclass
from decimal import Decimal

import pytest
from py_clob_client_v2.client import ClobClient
from py_clob_client_v2.clob_types import (
    AssetType,
    BalanceAllowanceParams,
    OrderArgs,
    OrderType,
)
from py_clob_client_v2.exceptions import PolyApiException

CHAIN = 80002
TRADING = os.environ["EXCHANGE_TRADING"]

# Keys 0 to 3, 8 and 9 of the development mnemonic of Hardhat and Anvil. Never fund them.
ALICE = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
BOB = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"
CAROL = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"
DAVE = "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6"
HEIDI = "0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97"
OWEN = "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6"

MICROS = 1_000_000


def operate(*arguments):
    """Runs an operator's command and returns its JSON answer."""
    environment = dict(os.environ)
    environment["FORETELL_OPERATOR_LISTEN"] = os.environ["EXCHANGE_OPERATOR"].removeprefix("http://")
    command = [os.environ["EXCHANGE_BINARY"], "--json", "--data", os.environ["EXCHANGE_DATA"], *arguments]
    done = subprocess.run(
        command, env=environment, cwd=os.environ["EXCHANGE_DATA"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def deposit(wallet, amount):
    """Adds collateral to a wallet, in whole units."""
    return operate("account", "deposit", wallet, str(amount))


def connect(key, signature_type=None, funder=None):
    """A client with an API key, as its documentation shows."""
    client = ClobClient(TRADING, CHAIN, key=key, signature_type=signature_type, funder=funder)
    client.set_api_creds(client.create_or_derive_api_key())
    return client


@dataclass(frozen=True)
class Market:
    """A market of the demo, as `get_markets` shows it."""

    condition: str
    yes: str
    no: str
    tick: str
    neg_risk: bool
    taker_fee: int
    delay: int


def markets():
    """Every market, through the client's paging."""
    client, found, cursor = ClobClient(TRADING, CHAIN), [], "MA=="
    while cursor != "LTE=":
        page = client.get_markets(next_cursor=cursor)
        cursor = page["next_cursor"]
        found += page["data"]
    return [
        Market(
            condition=market["condition_id"],
            yes=market["tokens"][0]["token_id"],
            no=market["tokens"][1]["token_id"],
            tick=str(market["minimum_tick_size"]),
            neg_risk=market["neg_risk"],
            taker_fee=market["taker_base_fee"],
            delay=market["seconds_delay"],
        )
        for market in found
    ]


def eventually(look, holds):
    """Looks until what is seen holds: reads are milliseconds behind what was acknowledged."""
    deadline = time.monotonic() + 20
    while True:
        seen = look()
        if holds(seen):
            return seen
        assert time.monotonic() < deadline, f"still {seen}"
        time.sleep(0.1)


def refused(action, status, text=None):
    """Runs what must be refused with a status; returns the text of the answer."""
    with pytest.raises(PolyApiException) as caught:
        action()
    answer = caught.value
    assert answer.status_code == status, answer
    assert isinstance(answer.error_msg, dict), f"the body is JSON: {answer}"
    error = answer.error_msg["error"]
    if text is not None:
        assert error == text
    return error


def place(client, token, side, price, size, order_type=OrderType.GTC, post_only=False, **more):
    """Signs and posts a limit order."""
    order = client.create_order(OrderArgs(token_id=token, price=price, size=size, side=side, **more))
    return client.post_order(order, order_type, post_only=post_only)


def clear(client):
    """Cancels what a client has in the books, by name.

    Two cancel-alls of one second are the same request byte for byte: the second is given the
    answer of the first, as one that was sent again, and ends nothing placed in between.
    """
    resting = [row["id"] for row in client.get_open_orders()]
    if resting:
        assert client.cancel_orders(resting)["not_canceled"] == {}


def is_hash(text):
    """0x and 64 hex digits."""
    return len(text) == 66 and text.startswith("0x") and int(text, 16) > 0


def assert_live(answer):
    """The result of an order that rests and has not traded."""
    assert answer["success"] is True
    assert answer["errorMsg"] == ""
    assert answer["status"] == "live"
    assert is_hash(answer["orderID"])
    assert answer["orderHash"] == answer["orderID"]
    assert answer["takingAmount"] == answer["makingAmount"] == ""
    assert answer["transactionsHashes"] == answer["tradeIDs"] == []
    return answer["orderID"]


def assert_delayed(answer):
    """The result of an order that waits before it meets the book."""
    assert answer["success"] is True, answer
    assert answer["errorMsg"] == ""
    assert answer["status"] == "delayed"
    assert is_hash(answer["orderID"])
    assert answer["takingAmount"] == answer["makingAmount"] == ""
    assert answer["transactionsHashes"] == answer["tradeIDs"] == []
    return answer["orderID"]


def assert_matched(answer, taking, making):
    """The result of an order that traded."""
    assert answer["success"] is True, answer
    assert answer["errorMsg"] == ""
    assert answer["status"] == "matched"
    assert is_hash(answer["orderID"])
    assert (answer["takingAmount"], answer["makingAmount"]) == (taking, making)
    assert len(answer["tradeIDs"]) == 1
    assert answer["transactionsHashes"] and all(map(is_hash, answer["transactionsHashes"]))
    return answer["orderID"]


def collateral(client):
    """Collateral of the client's wallet, reserved included, in whole units."""
    answer = client.get_balance_allowance(BalanceAllowanceParams(asset_type=AssetType.COLLATERAL))
    return units(answer)


def shares(client, token):
    """Shares of the client's wallet, reserved included."""
    params = BalanceAllowanceParams(asset_type=AssetType.CONDITIONAL, token_id=token)
    return units(client.get_balance_allowance(params))


def units(answer):
    """A balance in whole units; its form is checked on the way."""
    balance, available = int(answer["balance"]), int(answer["available"])
    assert 0 <= available <= balance
    assert answer["allowances"], "clients look for an allowance of the exchange"
    for contract, allowance in answer["allowances"].items():
        assert contract.startswith("0x") and int(allowance) == 2**256 - 1
    return Decimal(balance) / MICROS


def levels(side):
    """Levels of a book as (price, size) of numbers, in the order sent."""
    return [(Decimal(level["price"]), Decimal(level["size"])) for level in side]


def is_uuid(text):
    """A hyphenated UUID of version 4."""
    return str(uuid.UUID(text)) == text and uuid.UUID(text).version == 4
