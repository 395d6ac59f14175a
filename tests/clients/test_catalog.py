"""A file of upstream records becomes markets that a stock client lists, reads and trades."""

import json
import os
from decimal import Decimal
from pathlib import Path

import pytest

from exchange import (
    assert_delayed,
    assert_live,
    assert_matched,
    eventually,
    markets,
    operate,
    place,
    shares,
)

CONDITION = "0x" + "c7" * 32
YES, NO = "9" * 77, "8" * 77
DELAYED = "0x" + "c8" * 32
DELAYED_YES, DELAYED_NO = "91" * 38, "81" * 38
RECORD = {
    "id": "990001", "slug": "imported-event", "title": "An imported event", "negRisk": False,
    "active": True, "closed": False, "updatedAt": "2026-02-08T12:00:00.5Z",
    "tags": [{"id": "990", "label": "Imported", "slug": "imported"}],
    "markets": [{
        "id": "990002", "slug": "will-it-trade", "question": "Will it trade?", "conditionId": CONDITION,
        "outcomes": '["Yes", "No"]', "clobTokenIds": json.dumps([YES, NO]), "active": True,
        "closed": False, "enableOrderBook": True, "acceptingOrders": True,
        "orderPriceMinTickSize": 0.001, "orderMinSize": 5, "icon": "https://example.com/icon.png",
        "someFieldNobodyKnows": {"a": [1]},
    }, {
        "id": "990003", "slug": "will-it-wait", "question": "Will it wait?", "conditionId": DELAYED,
        "outcomes": '["Yes", "No"]', "clobTokenIds": json.dumps([DELAYED_YES, DELAYED_NO]), "active": True,
        "closed": False, "enableOrderBook": True, "acceptingOrders": True,
        "orderPriceMinTickSize": 0.01, "orderMinSize": 5, "secondsDelay": 1,
    }],
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def imported():
    """The markets of the record, listed."""
    path = Path(os.environ["EXCHANGE_DATA"]) / "records.jsonl"
    path.write_text(json.dumps(RECORD) + "\n")
    report = operate("catalog", "import", str(path))
    assert report["catalog"]["records"]["markets"]["added"] == 2
    eventually(lambda: {market.condition for market in markets()}, {CONDITION, DELAYED}.issubset)


def test_an_imported_market_is_listed_and_traded(public, alice, bob):
    detail = public.get_market(CONDITION)
    assert detail["question"] == "Will it trade?"
    assert [token["token_id"] for token in detail["tokens"]] == [YES, NO]
    assert detail["icon"] == "https://example.com/icon.png"
    assert (detail["tags"], detail["event"]["title"]) == (["Imported"], "An imported event")
    assert public.get_tick_size(YES) == "0.001"
    assert public.get_neg_risk(YES) is False

    before = shares(alice, YES), shares(bob, NO)
    assert_live(place(alice, YES, "BUY", 0.437, 10))
    eventually(lambda: public.get_order_book(YES)["bids"], lambda bids: len(bids) == 1)
    assert_matched(place(bob, NO, "BUY", 0.563, 10), "10", "5.63")
    eventually(lambda: shares(alice, YES), lambda held: held == before[0] + Decimal(10))
    assert shares(bob, NO) == before[1] + Decimal(10)


def test_an_imported_delay_delays_takers(public, alice, bob):
    assert public.get_market(DELAYED)["seconds_delay"] == 1
    assert public.get_clob_market_info(DELAYED)["sd"] == 1

    before = shares(alice, DELAYED_YES), shares(bob, DELAYED_NO)
    resting = assert_live(place(alice, DELAYED_YES, "BUY", 0.4, 10))
    taken = assert_delayed(place(bob, DELAYED_NO, "BUY", 0.6, 10))
    order = eventually(
        lambda: bob.get_order(taken)["order"], lambda order: order["status"] != "DELAYED"
    )
    assert (order["status"], Decimal(order["sizeMatched"])) == ("MATCHED", 10)
    [trade] = order["associateTrades"]
    assert alice.get_order(resting)["order"]["associateTrades"] == [trade]
    eventually(lambda: shares(bob, DELAYED_NO), lambda held: held == before[1] + Decimal(10))
    assert shares(alice, DELAYED_YES) == before[0] + Decimal(10)
