"""Minutes of a busy demo through the strict client: its models know every answer, error and message.

`tests/clients/run BINARY --soak MINUTES` starts the demo without bots. This runs three times its bots, an operator
who leads markets from registration to payout, two traders, every read method, and streams of all open markets.
What a model refuses, drops or warns of is a failure, printed with its text; so is a kind that did not occur.
"""

import inspect
import json
import logging
import os
import random
import re
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from exchange import ALICE, BOB, TRADING, eventually, operate
from httpx import HTTPStatusError
from polymarket_apis import PolymarketDataClient, PolymarketGammaClient, PolymarketWebsocketsClient
from polymarket_apis.clients.websockets_client import MARKET_EVENT_CLASSES, WebsocketQueueConfig
from polymarket_apis.types import clob_types as types
from polymarket_apis.types.clob_types import OrderType
from polymarket_apis.types.data_types import Activity
from polymarket_apis.utilities.exceptions import LiquidityError, OrderPlacementError
from polymarket_apis.utilities.headers import create_level_2_headers
from test_methods import CLIENTS, ELSEWHERE
from venue import CATALOG, DATA, FEE, WALLETS, clob, limit, market, register

BOTS = [
    "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
    "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
    "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
]
NOBODYS = "0x" + "11" * 32  # an order
SIDES = ("BUY", "SELL")
READS = re.compile("get_|search|is_|are_|calculate")
VALUES = re.compile("0x[0-9a-fA-F]+|[0-9][0-9.]*")
# The errors that reads and orders of this run may get.
NO_BOOK = "^no (orderbook|midpoint|bid|ask) exists"
REFUSALS = (
    f"{NO_BOOK}|minimum tick|lower than the minimum|FOK orders|FAK orders|crosses book|not enough balance"
    "|market is closed|condition_paused|max accuracy"
)
KINDS = {
    *(f"message {kind}" for kind in MARKET_EVENT_CLASSES),
    *(f"message order {kind}" for kind in ("PLACEMENT LIVE", "UPDATE LIVE", "UPDATE MATCHED", "CANCELLATION CANCELED")),
    *(f"message trade {status}" for status in ("MATCHED", "CONFIRMED")),
    *(f"activity {kind}" for kind in ("TRADE", "SPLIT", "MERGE", "REDEEM", "CONVERSION", "MAKER_REBATE")),
    *(f"order {status}" for status in ("live", "matched", "delayed")),
}

counts, failures, traded = Counter(), Counter(), set()
over, lock, asked = threading.Event(), threading.Lock(), threading.local()


def count(kind, counter=counts):
    with lock:
        counter[kind] += 1


def fail(what, text):
    """Counts a failure, and prints the first three of a kind."""
    kind = VALUES.sub("#", re.split("\n|  ", what)[0])
    count(kind, failures)
    if failures[kind] <= 3:
        print(f"FAILED {what}\n  {str(text)[:4_000]}", flush=True)


def ask(client, method, *arguments, refused="$.", **more):
    """The answer of a method, counted; None for an error whose text `refused` matches."""
    asked.texts = texts = []
    client.client.event_hooks = {"response": [lambda it: texts.append(f"{it.status_code} {it.read().decode()}")]}
    try:
        answer = getattr(client, method)(*arguments, **more)
    except LiquidityError:
        count(f"{method} without liquidity")
    except (HTTPStatusError, OrderPlacementError) as error:
        status, body = texts[-1].split(" ", 1)
        with suppress(ValueError, TypeError, KeyError):
            if re.search(refused, said := json.loads(body)["error"], re.IGNORECASE):
                return count(f"{method} {status} {VALUES.sub('#', said)}")
        fail(f"{method}: {texts[-1]}", (error, arguments, more))
    except Exception as error:
        fail(f"{method}: {error!r}", (arguments, more, texts))
    else:
        count(method)
        for row in answer if isinstance(answer, list) else [answer]:
            if isinstance(row, Activity):
                count(f"activity {row.type}")
            elif isinstance(row, types.OrderPostResponse):
                count(f"order {row.status or 'refused'}")
        return answer


def hear(event):
    """Counts the messages of a stream. One without a kind has no model."""
    for one in event if isinstance(event, list) else [event]:
        match kind := getattr(one, "event_type", None):
            case None:
                fail("a message that no model knows", one.text)
            case "order":
                count(f"message order {one.type} {one.status}")
            case "trade":
                count(f"message trade {one.status}")
            case _:
                count(f"message {kind}")
        if kind == "last_trade_price":
            traded.add(one.token_id)


class Warned(logging.Handler):
    """Warnings of the models and of the streams."""

    def emit(self, record):
        fail(record.getMessage(), (getattr(record, "error_detail", ""), getattr(asked, "texts", "")))


def about(site):
    """Values of parameters by name: a random market, its event, a wallet."""
    record, user = random.choice(site.records), random.choice([*BOTS, *WALLETS.values()])
    event, tag, token = random.choice(record.events), random.choice(site.tags), record.token_ids[0]
    quoted = [each for each in site.records if not each.closed and traded >= set(each.token_ids)]
    several = [token for each in quoted for token in each.token_ids]
    return {
        "token_id": token, "token_ids": several, "get_last_trade_price.token_id": random.choice(several),
        "params": [types.BookParams(token_id=each, side="BUY") for each in several], "side": random.choice(SIDES),
        "condition_id": record.condition_id, "get_open_interest.condition_ids": record.condition_id,
        "market_id": record.id, "event_id": event.id, "tag_id": int(tag.id), "series_id": "1", "comment_id": "1",
        "slug": record.slug, "get_event_by_slug.slug": event.slug, "get_related_tags_by_slug.slug": tag.slug,
        "get_related_tag_ids_by_slug.slug": tag.slug, "parent_entity_type": "Event", "parent_entity_id": event.id,
        "user": user, "address": user, "user_address": user, "order_id": site.order, "order_ids": [site.order],
        "amount": 5, "order_type": OrderType.FAK, "query": record.question.split()[1],
        "get_history.start_time": datetime.now(UTC) - timedelta(hours=1),
    }  # fmt: skip


def read(site):
    """Every read method of the three clients, in turn."""
    for client, method, call in site.reads:
        values, given = about(site), {}
        for each in inspect.signature(getattr(client, method)).parameters.values():
            own = f"{method}.{each.name}"
            if own in values or each.default is each.empty:
                given[each.name] = values.get(own) or values[each.name]
        ask(client, method, refused="" if call == 404 else NO_BOOK, **given)


def account(client, action, condition):
    """An account action: the client would send it to a chain."""
    body = json.dumps({"conditionId": condition, "amount": "5000000", "reference": str(time.time_ns())})
    path = f"/positions/{action}"
    headers = create_level_2_headers(client.signer, client.creds, types.RequestArgs("POST", path, body))
    count(f"{action} {client.client.post(TRADING + path, headers=headers, content=body).status_code}")


def trade(site):
    """Orders of two traders in one market: each end that an order can have, and each refusal."""
    mine, other = random.sample([site.alice, site.bob], 2)
    record = random.choice(site.records[:1] * 10 + site.records)
    yes, no = random.sample(record.token_ids, 2)

    def signed(*terms, tick="0.01", **more):
        options = types.CreateOrderOptions(tick_size=tick, neg_risk=bool(record.neg_risk))
        return mine.builder.create_order(limit(yes, *terms, **more), options)

    account(mine, "split", record.condition_id)
    if resting := ask(mine, "post_order", signed(0.1), refused=REFUSALS):
        site.order = resting.order_id
    ask(mine, "post_orders", [types.PostOrdersArgs(order=signed(price)) for price in (0.1, 0.2)])
    ask(other, "create_and_post_order", limit(no, 0.5, 40), refused=REFUSALS)
    for order in (
        (signed(0.1, expiration=int(time.time()) + 3_600), OrderType.GTD),
        (signed(0.5),),  # part of the other's order
        (signed(0.6, 60),),  # its rest stays
        (signed(0.9, 5, "SELL"),),
        (signed(0.1, 5, "SELL"), OrderType.FAK),
        (signed(0.01, 200), OrderType.FOK),
        (signed(0.1234, tick="0.0001"),),
        (signed(0.1, 1),),
        (signed(0.5, 10_000_000),),
        (signed(0.99), OrderType.GTC, True),  # post-only
    ):
        ask(mine, "post_order", *order, refused=REFUSALS)
    spent = types.MarketOrderArgs(token_id=yes, amount=2, side="BUY")
    ask(mine, "create_and_post_market_order", spent, refused=REFUSALS)
    ask(mine, "cancel_order", site.order)
    ask(mine, "cancel_orders", [site.order, NOBODYS])
    ask(other, "cancel_orders_for_token_id", no)
    ask(mine, "cancel_orders_for_condition_id", record.condition_id)
    ask(mine, "cancel_all")
    account(mine, "merge", record.condition_id)


def look(site, slug):
    """Reads the newest markets, that of the slug first, and some that have ended."""

    def listed(**more):
        return ask(site.browser, "get_markets", limit=100, order="startDate", ascending=False, **more) or []

    found = eventually(listed, lambda records: any(record.slug == slug for record in records))
    site.records = sorted(found, key=lambda record: record.slug != slug) + listed(closed=True)[:20]


def lead(site):
    """A market from its registration to its payout; streams change to the open markets."""
    slug = f"soak-{time.time_ns()}"
    register([market(slug, fee=FEE, rebate_ppm=250_000, taker_delay_ms=random.choice([0, 0, 500]))])
    look(site, slug)
    before, tokens = site.watched, [token for record in site.records for token in record.token_ids]
    site.watched = site.streams.open_market_connection(token_ids=tokens, process_event=hear)
    if before:
        before.close()
    time.sleep(5)
    for act in (["tick", slug, "0.001"], ["pause", slug], ["resume", slug]):
        operate("market", *act)
        time.sleep(2)
    with suppress(AssertionError):  # nothing is accrued
        operate("system", "pay-rebates")
    site.records = site.records[1:]
    operate("market", "close", slug)
    operate("market", "resolve", slug, random.choice(["Yes", "No", "half"]))


def forever(act, site):
    """Repeats an act until the time is over."""
    while not over.is_set():
        try:
            act(site)
        except Exception:
            fail(act.__name__, traceback.format_exc())
            time.sleep(1)


def set_up():
    """The clients, more bots than the demo has, and the demo's fees changed to that of the models."""
    for row in operate("market", "list")["markets"]:
        if row["fee"]["ratePpm"]:
            operate("market", "fee", row["slug"], str(FEE["rate_ppm"]), str(FEE["exponent"]))
    bots = [os.environ["EXCHANGE_BINARY"], "--data", os.environ["EXCHANGE_DATA"], "demo-bots", "--trading", TRADING]
    bots += ["--operator-listen", os.environ["EXCHANGE_OPERATOR"].removeprefix("http://")]
    bots += ["--first-round-seconds", "20", "--round-seconds", "20", "--supervised", str(os.getpid())]
    for _ in range(3):
        subprocess.Popen(bots, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    streams = PolymarketWebsocketsClient(queue=WebsocketQueueConfig(maxsize=100_000))
    address = TRADING.replace("http", "ws", 1)
    streams.url_market, streams.url_user = f"{address}/ws/market", f"{address}/ws/user"
    site = SimpleNamespace(alice=clob(ALICE), bob=clob(BOB), streams=streams, watched=None, order=NOBODYS)
    site.browser = PolymarketGammaClient(base_url=CATALOG)
    site.tags = site.browser.get_tags()
    look(site, site.browser.get_markets(limit=1)[0].slug)
    # What the tables of methods need besides.
    first = site.market = site.record = site.records[0]
    (site.yes, site.no), site.event, site.tag, site.markets = first.token_ids, first.events[0], site.tags[0], {}
    site.data, site.gamma = PolymarketDataClient(base_url=DATA), PolymarketGammaClient(base_url=CATALOG)
    site.reads = [
        (client, method, call)
        for client in (clob(ALICE), site.data, site.gamma)
        for method, call in CLIENTS[type(client)](site).items()
        if READS.match(method) and call != ELSEWHERE and not isinstance(call, type)
    ]
    for trader in (site.alice, site.bob):
        streams.open_user_connection(creds=trader.creds, process_event=hear)
    return site


def main(minutes):
    logging.getLogger("polymarket_apis").addHandler(logging.NullHandler())  # it says each refusal
    for name in ("clients.websockets_client", "types.clob_types"):
        logging.getLogger(f"polymarket_apis.{name}").addHandler(Warned(logging.WARNING))
    site = set_up()
    threads = [threading.Thread(target=forever, args=(act, site)) for act in (lead, trade, read)]
    for thread in threads:
        thread.start()
        eventually(lambda: traded, lambda tokens: len(tokens) > 30)
    time.sleep(minutes * 60)
    over.set()
    for thread in threads:
        thread.join()
    site.streams.close()
    for kind, number in sorted(counts.items()):
        print(f"{number:>9}  {kind}")
    for kind in KINDS - set(counts):
        fail(f"{kind} did not occur", "")
    print(f"{sum(counts.values())} answers and messages, {sum(failures.values())} failures: {dict(failures)}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
