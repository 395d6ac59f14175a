"""Signed sets of quotes, as the stock clients see them: ordinary orders, over REST and on streams."""

import asyncio
import json
import sys
import time
from pathlib import Path

import httpx
from py_clob_client_v2.clob_types import OpenOrderParams, OrderPayload, RequestArgs
from py_clob_client_v2.headers.headers import create_level_2_headers

from exchange import ALICE, TRADING, assert_matched, place
from test_streams import done, ready, until, user_streams

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from quote_set import BUY, NO, NO_BUILDER, UNSEEN, YES, quote_id, sign, word  # noqa: E402


def send(client, market, quotes):
    """Replaces the quotes of group 0; returns the answer and the digest of the set."""
    domain = httpx.get(TRADING + "/quotes/domain").json()
    now = time.time_ns() // 1_000_000
    fields = {
        "maker": client.get_address(),
        "signer": client.get_address(),
        "signatureType": 0,
        "group": 0,
        "revision": now * 1_000,
        "seen": UNSEEN,
        "timestamp": now,
        "validUntil": now + 60_000,
        "builder": NO_BUILDER,
        "conditions": [market.condition],
        "quotes": quotes,
    }
    body, digest = sign(ALICE, domain, fields)
    text = json.dumps(body)
    wanted = RequestArgs(method="POST", request_path="/quotes", body=body, serialized_body=text)
    headers = create_level_2_headers(client.signer, client.creds, wanted) | {"Content-Type": "application/json"}
    answer = httpx.post(TRADING + "/quotes", content=text, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json(), digest


def test_a_quote_is_an_ordinary_order(alice, bob, own_market):
    async def scenario():
        async with user_streams(alice) as manager:
            stream = await manager.subscribe(markets=[own_market.condition])
            await ready(stream)
            bids = [word(YES, BUY, "0.4", 10), word(NO, BUY, "0.5", 20)]
            answer, digest = await done(send, alice, own_market, bids)
            yes, no = (quote_id(digest, index) for index in range(2))
            assert answer["orders"] == [yes, no]
            for wanted in (yes, no):
                [placed] = await until(stream, "order")
                assert (placed.payload.id, placed.payload.order_event_type) == (wanted, "PLACEMENT")

            listed = await done(alice.get_open_orders, OpenOrderParams(market=own_market.condition))
            sizes = {order["id"]: order["original_size"] for order in listed}
            assert sizes == {yes: "10", no: "20"}
            answer = await done(place, bob, own_market.no, "BUY", 0.6, 5)
            assert_matched(answer, "5", "3")
            events = await until(stream, "trade", status="CONFIRMED")
            assert events[0].payload.maker_orders[0].order_id == yes

            # What stays sends no message; what a set ends is cancelled.
            await done(send, alice, own_market, [word(YES, BUY, "0.4", 5)])
            [ended] = await until(stream, "order")
            assert (ended.payload.id, ended.payload.order_event_type) == (no, "CANCELLATION")
            cancelled = await done(alice.cancel_order, OrderPayload(orderID=yes))
            assert cancelled == {"canceled": [yes], "not_canceled": {}}

    asyncio.run(scenario())
