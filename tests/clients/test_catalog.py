"""A file of upstream records becomes markets that a stock client lists, reads and trades."""

import json
import os
from decimal import Decimal
from pathlib import Path

from exchange import assert_live, assert_matched, eventually, markets, operate, place, shares

CONDITION = "0x" + "c7" * 32
YES, NO = "9" * 77, "8" * 77
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
    }],
}  # fmt: skip


def test_an_imported_market_is_listed_and_traded(public, alice, bob):
    path = Path(os.environ["EXCHANGE_DATA"]) / "records.jsonl"
    path.write_text(json.dumps(RECORD) + "\n")
    report = operate("catalog", "import", str(path))
    assert report["catalog"]["records"]["markets"]["added"] == 1
    eventually(lambda: [market.condition for market in markets()], lambda known: CONDITION in known)

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
