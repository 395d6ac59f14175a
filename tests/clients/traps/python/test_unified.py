"""Answers that the unified client reads as something else. A sandbox does not give them: a server changes its own."""

from dataclasses import replace

import pytest
from polymarket import PRODUCTION, SecureClient
from polymarket.environments import _create_environment
from polymarket.errors import UnexpectedResponseError

from forwarder import Forwarder


def place(sandbox, wallet, book, **changes):
    """The client's result of a limit order whose answer has changed fields."""

    def change(path, answer):
        return {**answer, **changes} if path == "/order" else answer

    with Forwarder(sandbox.trading, change) as forwarder:
        config = PRODUCTION._config
        absent = {name: f"{forwarder.url}/absent" for name in config.__slots__ if name.endswith("_url")}
        sockets = {name: url.replace("http", "ws", 1) for name, url in absent.items() if "_ws_" in name}
        own = {"chain_id": sandbox.chain, "clob_url": forwarder.url, "gamma_url": sandbox.catalog}
        environment = _create_environment(name="foretell", config=replace(config, **{**absent, **sockets, **own}))
        client = SecureClient.create(private_key=wallet.key, wallet=wallet.funder, environment=environment)
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

