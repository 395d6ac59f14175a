"""Answers that the unified client reads as something else. A sandbox does not give them: a server changes its own."""

from dataclasses import replace

import pytest
from polymarket import PRODUCTION, SecureClient
from polymarket.environments import _create_environment
from polymarket.errors import UnexpectedResponseError, UserInputError

from forwarder import Forwarder


def connect(sandbox, wallet, url):
    """A client whose trading surface is a URL. Its other hosts are not there."""
    config = PRODUCTION._config
    absent = {name: f"{url}/absent" for name in config.__slots__ if name.endswith("_url")}
    sockets = {name: url.replace("http", "ws", 1) for name, url in absent.items() if "_ws_" in name}
    own = {"chain_id": sandbox.chain, "clob_url": url, "gamma_url": sandbox.catalog}
    environment = _create_environment(name="foretell", config=replace(config, **{**absent, **sockets, **own}))
    return SecureClient.create(private_key=wallet.key, wallet=wallet.funder, environment=environment)


def place(sandbox, wallet, book, **changes):
    """The client's result of a limit order whose answer has changed fields."""

    def change(path, answer):
        return {**answer, **changes} if path == "/order" else answer

    with Forwarder(sandbox.trading, change) as forwarder:
        client = connect(sandbox, wallet, forwarder.url)
        return client.place_limit_order(asset_id=book.yes, price="0.5", size="10", side="BUY")


def assert_rests(client, book):
    assert [row["market"] for row in client.get_open_orders()] == [book.condition]


def test_an_answer_of_the_sandbox_is_accepted(sandbox, wallet):
    assert place(sandbox, wallet, sandbox.market()).ok


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"status": "LIVE"}, "unknown"),
        ({"status": "unmatched"}, "unmatched"),
    ],
    ids=["upper-case", "unmatched"],
)
def test_a_resting_order_is_read_as_rejected(sandbox, wallet, client, changes, code):
    book = sandbox.market()
    result = place(sandbox, wallet, book, **changes)
    assert (result.ok, result.code) == (False, code)
    assert_rests(client, book)


@pytest.mark.parametrize("changes", [{"makingAmount": 0.5}, {"makingAmount": None}, {"errorMsg": None}], ids=str)
def test_a_resting_order_raises(sandbox, wallet, client, changes):
    book = sandbox.market()
    with pytest.raises(UnexpectedResponseError):
        place(sandbox, wallet, book, **changes)
    assert_rests(client, book)


def test_a_market_order_beyond_the_depth_takes_the_worst_price(sandbox, wallet):
    book = sandbox.market()
    sandbox.asks(book, ("0.5", "10"), ("0.99", "10"))
    client = connect(sandbox, wallet, sandbox.trading)
    limited = client.place_market_order(asset_id=book.yes, amount="3", max_price="0.5", side="BUY")
    assert (limited.making_amount, limited.taking_amount) == (3, 6)
    swept = client.place_market_order(asset_id=book.yes, amount="100", side="BUY", order_type="FAK")
    assert sandbox.explain(swept.order_id)["met"]["price"] == "0.99"


@pytest.mark.parametrize(("price", "size"), [("0.29", "10.2"), ("0.57", "10.2"), ("0.58", "10.2")])
def test_prices_and_sizes_are_signed_as_given(sandbox, wallet, client, price, size):
    """This client computes with decimals. A price off the tick raises."""
    book = sandbox.market()
    unified = connect(sandbox, wallet, sandbox.trading)
    assert unified.place_limit_order(asset_id=book.yes, price=price, size=size, side="BUY").ok
    assert [(row["price"], row["original_size"]) for row in client.get_open_orders()] == [(price, size)]
    with pytest.raises(UserInputError, match="price must conform to tick size 0.01"):
        unified.place_limit_order(asset_id=book.yes, price="0.576", size=size, side="BUY")
