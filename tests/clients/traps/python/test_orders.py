"""Orders whose end the Python client does not show: lost answers, batches, clocks."""

import time
from unittest import mock

import pytest
from py_clob_client_v2.clob_types import OrderType, PostOrdersV2Args, TradeParams
from py_clob_client_v2.exceptions import PolyApiException

import clob
from clob import limit, refused, resting
from forwarder import Forwarder


@pytest.fixture
def losing(sandbox):
    """A server that loses the answer to the first order."""
    lost = []

    def lose(path, answer):
        if path == "/order" and not lost:
            return lost.append(answer)
        return answer

    with Forwarder(sandbox.trading, lose) as forwarder:
        yield forwarder


def test_an_order_whose_answer_is_lost_rests(sandbox, wallet, client, losing):
    book = sandbox.market()
    far = clob.connect(sandbox, wallet, host=losing.url)
    with pytest.raises(PolyApiException, match="Request exception!"):
        far.post_order(limit(far, book.yes, "BUY", 0.5, 10))
    assert resting(client, book) == [("0.5", "10")]
    far.post_order(limit(far, book.yes, "BUY", 0.5, 10))
    assert len(resting(client, book)) == 2, "signed again, it is another order"


def test_the_same_order_sent_again_is_one_order(sandbox, wallet, client, losing):
    book = sandbox.market()
    far = clob.connect(sandbox, wallet, host=losing.url, retry_on_error=True)
    answer = far.post_order(limit(far, book.yes, "BUY", 0.5, 10))
    assert (answer["status"], answer["duplicate"]) == ("live", True)
    assert resting(client, book) == [("0.5", "10")]


def test_a_refused_order_of_a_batch_raises_nothing(sandbox, client):
    book = sandbox.market()
    dear = PostOrdersV2Args(order=limit(client, book.yes, "BUY", 0.9, 100_000), orderType=OrderType.GTC)
    [answer] = client.post_orders([dear])
    assert answer["success"] is False
    assert answer["code"] == "insufficient_balance"


def test_server_time_is_no_time_of_orders(sandbox, wallet):
    client = clob.connect(sandbox, wallet, use_server_time=True)
    token, now = sandbox.market().yes, time.time_ns
    with mock.patch.object(time, "time_ns", lambda: now() - 15 * 60 * 10**9):
        order = limit(client, token, "BUY", 0.5, 10)
    answer = refused(lambda: client.post_order(order))
    assert answer["code"] == "timestamp_out_of_window"


def test_an_order_expires_a_minute_early(sandbox, client):
    token, minute = sandbox.market().yes, 60
    engine = int(client.get_server_time())
    order = limit(client, token, "BUY", 0.5, 10, expiration=engine + 2 * minute)
    placed = client.post_order(order, OrderType.GTD)
    sandbox.operate("/sandbox/clock", {"advance_ms": 1_000 * (minute + 1)})
    explained = sandbox.explain(placed["orderID"])
    assert explained["status"] == "ended"
    assert "it expired" in explained["text"]


@pytest.mark.parametrize(
    ("seconds", "order_type", "code"),
    [
        (600, OrderType.GTC, "invalid_expiration"),
        (60, OrderType.GTD, "invalid_expiration"),
        (None, OrderType.GTD, "invalid_order_field"),
    ],
    ids=["of-gtc", "within-a-minute", "milliseconds"],
)
def test_an_expiration_is_refused(sandbox, client, seconds, order_type, code):
    now = int(client.get_server_time())
    expiration = now * 1_000 if seconds is None else now + seconds
    order = limit(client, sandbox.market().yes, "BUY", 0.5, 10, expiration=expiration)
    assert refused(lambda: client.post_order(order, order_type))["code"] == code


def test_a_trade_of_a_maker_has_the_terms_of_the_taker(sandbox, client):
    book = sandbox.market()
    order = client.post_order(limit(client, book.yes, "BUY", 0.4, 10))["orderID"]
    sandbox.place(sandbox.wallet(), book.no, "BUY", "0.6", "10")
    [trade] = client.get_trades(TradeParams(market=book.condition))
    assert (trade["trader_side"], trade["side"], trade["outcome"], trade["price"]) == ("MAKER", "BUY", "No", "0.6")
    [own] = [made for made in trade["maker_orders"] if made["order_id"] == order]
    assert (own["side"], own["outcome"], own["price"], own["matched_amount"]) == ("BUY", "Yes", "0.4", "10")
