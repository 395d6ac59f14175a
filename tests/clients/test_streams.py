"""The official Python client's streams, unmodified: its managers take the URLs of the channels."""

import asyncio
import json
import re
import time
import uuid
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

from polymarket._internal.streams.clob.heartbeat import ClobWebSocketHeartbeat
from polymarket._internal.streams.clob.market import ClobMarketStreamManager
from polymarket._internal.streams.clob.market_protocol import parse_events
from polymarket._internal.streams.clob.user import ClobUserStreamManager
from polymarket.models import ApiKeyCreds
from polymarket.models.clob.user_events import parse_user_events
from py_clob_client_v2.clob_types import OrderPayload

from exchange import TRADING, assert_live, assert_matched, operate, place

STREAMS = TRADING.replace("http", "ws", 1)
# Receiver and message of each line; `<…>` stand for ids, `…` for the fields that end every message.
FLOW = Path(__file__).resolve().parents[1] / "tests/rules/properties/stream_agrees/worked_flow.txt"
ENDING = ',"stream_id":"fa55ed59e6c7d747","server_ts_ms":"1790000008241"'
PATIENCE = 20


@asynccontextmanager
async def market_streams(**more):
    """A manager of the market channel, with what it received before the client parsed it."""
    async with ClobMarketStreamManager(url=f"{STREAMS}/ws/market", **more) as manager:
        manager.raw, parse = [], manager._on_message

        def record(message):
            manager.raw.extend(message if isinstance(message, list) else [message])
            parse(message)

        manager._on_message = record
        yield manager
        assert manager.dropped_events == 0


@asynccontextmanager
async def user_streams(client):
    """A manager of the user channel with a client's key."""

    async def credentials():
        creds = client.creds
        return ApiKeyCreds(key=creds.api_key, secret=creds.api_secret, passphrase=creds.api_passphrase)

    async with ClobUserStreamManager(url=f"{STREAMS}/ws/user", resolve_credentials=credentials) as manager:
        yield manager
        assert manager.dropped_events == 0


async def until(handle, kind, **fields):
    """Reads on to an event of a type whose payload has these fields; returns the events read on the way."""
    passed = []

    async def read():
        async for event in handle:
            passed.append(event)
            if event.type == kind and all(getattr(event.payload, name) == value for name, value in fields.items()):
                return

    try:
        await asyncio.wait_for(read(), PATIENCE)
    except TimeoutError:
        raise AssertionError(f"no {kind} with {fields} after {[event.type for event in passed]}") from None
    return passed


async def done(action, *arguments):
    """Runs a blocking call of the REST client."""
    return await asyncio.to_thread(action, *arguments)


async def ready(handle):
    """Waits until a user subscription is in force: the channel acknowledges nothing."""
    await asyncio.sleep(0.5)


def some_id(name):
    """An id of the kind that a name of the flow stands for."""
    if name in ("<YES>", "<NO>"):
        return str(len(name))
    if name.endswith(".wallet>"):
        return "0x" + 40 * "a"
    if name.endswith(".key>") or name == "<zero>" or name.startswith("<t"):
        return str(uuid.uuid5(uuid.NAMESPACE_OID, name))
    return "0x" + 64 * "b"


def test_every_message_of_the_worked_flow_is_an_event():
    parsed = []
    for line in FLOW.read_text().splitlines():
        receiver, text = line.split(maxsplit=1)
        text = re.sub("<[^>]*>", lambda name: some_id(name[0]), text.replace("…", ENDING))
        parse = parse_events if receiver == "market" else parse_user_events
        events, dropped = parse(json.loads(text))
        assert dropped == 0, text
        parsed += events
    assert len(parsed) == 36
    last = [event.payload for event in parsed if event.type == "trade"][-1]
    assert (last.maker_orders[0].side, last.size, last.status) == ("BUY", Decimal(10), "CONFIRMED")


def test_a_market_from_book_to_book(alice, bob, own_market):
    async def scenario():
        async with market_streams() as manager:
            handle = await manager.subscribe(token_ids=[own_market.yes])
            [book] = await until(handle, "book")
            assert book.payload.bids == book.payload.asks == ()
            assert (book.payload.tick_size, book.payload.last_trade_price) == (Decimal("0.01"), None)
            assert_live(await done(place, alice, own_market.yes, "BUY", 0.6, 20))
            [change] = await until(handle, "price_change")
            rows = [(row.asset_id, row.side, row.price, row.size) for row in change.payload.price_changes]
            assert rows == [
                (own_market.yes, "BUY", Decimal("0.6"), 20),
                (own_market.no, "SELL", Decimal("0.4"), 20),
            ]
            assert_matched(await done(place, bob, own_market.no, "BUY", 0.4, 10), "10", "4")
            events = await until(handle, "book")
            assert [event.type for event in events] == ["last_trade_price", "price_change", "book"]
            trade, book = events[0].payload, events[-1].payload
            # The taker bought No at 0.4; a subscriber of Yes alone sees the trade from its side.
            assert (trade.asset_id, trade.side, trade.price, trade.size) == (
                own_market.yes, "SELL", Decimal("0.6"), 10,
            )  # fmt: skip
            assert [(level.price, level.size) for level in book.bids] == [(Decimal("0.6"), 10)]
            rest = await done(alice.get_order_book, own_market.yes)
            assert book.hash == rest["hash"]

    asyncio.run(scenario())


def test_tokens_come_and_go_on_one_connection(alice, own_market, market):
    async def scenario():
        async with market_streams() as manager:
            first = await manager.subscribe(token_ids=[own_market.yes])
            await until(first, "book", asset_id=own_market.yes)
            second = await manager.subscribe(token_ids=[own_market.no, market.yes])
            books = [(await until(second, "book"))[-1].payload.asset_id for _ in range(2)]
            assert set(books) == {own_market.no, market.yes}
            socket = manager._connection._socket
            await first.close()
            await second.close()
            third = await manager.subscribe(token_ids=[own_market.no])
            await until(third, "book", asset_id=own_market.no)
            assert manager._connection._socket is not socket, "a manager without subscriptions closes"
            fourth = await manager.subscribe(token_ids=[market.yes])
            await until(fourth, "book", asset_id=market.yes)
            await fourth.close()
            # The unsubscription was read before this order, so only the own market sends.
            manager.raw.clear()
            assert_live(await done(place, alice, market.yes, "BUY", 0.11, 10))
            assert_live(await done(place, alice, own_market.yes, "BUY", 0.12, 10))
            await until(third, "price_change")
            assert {message["market"] for message in manager.raw} == {own_market.condition}

    asyncio.run(scenario())


def test_the_flag_can_be_set_on_a_running_connection(alice, own_market):
    async def scenario():
        async with market_streams() as manager:
            plain = await manager.subscribe(token_ids=[own_market.yes])
            await until(plain, "book")
            assert_live(await done(place, alice, own_market.yes, "BUY", 0.2, 10))
            await until(plain, "price_change")
            assert {message["event_type"] for message in manager.raw} == {"book", "price_change"}
            custom = await manager.subscribe(token_ids=[own_market.yes], custom_feature_enabled=True)
            # A subscription is read before what follows it, and a new token's book says so.
            await until(await manager.subscribe(token_ids=[own_market.no]), "book", asset_id=own_market.no)
            assert_live(await done(place, alice, own_market.yes, "BUY", 0.3, 10))
            [best] = await until(custom, "best_bid_ask", asset_id=own_market.yes)
            assert (best.payload.best_bid, best.payload.best_ask) == (Decimal("0.3"), Decimal(1))
            await done(operate, "market", "tick", own_market.condition, "0.001")
            tick = (await until(plain, "tick_size_change"))[-1].payload
            assert (tick.old_tick_size, tick.new_tick_size) == (Decimal("0.01"), Decimal("0.001"))
            await until(plain, "book", tick_size=Decimal("0.001"))
            await done(operate, "market", "resolve", own_market.condition, "no")
            resolved = (await until(custom, "market_resolved"))[-1].payload
            assert (resolved.winning_asset_id, resolved.winning_outcome) == (own_market.no, "No")

    asyncio.run(scenario())


def test_new_markets_are_told(own_market, tmp_path):
    async def scenario():
        async with market_streams() as manager:
            handle = await manager.subscribe(token_ids=[own_market.yes], custom_feature_enabled=True)
            await until(handle, "book")
            number = time.time_ns()
            texts = {"question": "Is it told?", "slug": f"told-{number}"}
            record = {"condition_id": f"0x{number:064x}", "token_ids": [str(number), str(number + 1)], **texts}
            (tmp_path / "new.json").write_text(json.dumps(record))
            await done(operate, "market", "register", str(tmp_path / "new.json"))
            new = (await until(handle, "new_market"))[-1].payload
            assert (new.market, new.question) == (record["condition_id"], "Is it told?")
            assert list(new.asset_ids) == record["token_ids"]

    asyncio.run(scenario())


def test_pings_are_answered(own_market):
    async def scenario():
        heartbeat = ClobWebSocketHeartbeat(interval_s=0.1, stale_s=5)
        async with market_streams(heartbeat=heartbeat) as manager:
            await manager.subscribe(token_ids=[own_market.yes])
            for _ in range(3):
                before, deadline = heartbeat._last_pong, time.monotonic() + PATIENCE
                while heartbeat._last_pong == before:
                    assert time.monotonic() < deadline, "no PONG"
                    await asyncio.sleep(0.01)
            assert manager.is_open

    asyncio.run(scenario())


def test_own_orders_and_trades(alice, bob, own_market):
    async def scenario():
        async with user_streams(alice) as makers, user_streams(bob) as takers:
            maker, taker = await makers.subscribe(), await takers.subscribe(markets=[own_market.condition])
            await ready(maker)
            resting = assert_live(await done(place, alice, own_market.yes, "BUY", 0.4, 20))
            [placed] = await until(maker, "order")
            order = placed.payload
            assert (order.id, order.order_event_type, order.status) == (resting, "PLACEMENT", "LIVE")
            assert (order.owner, order.size_matched) == (alice.creds.api_key, 0)
            answer = await done(place, bob, own_market.no, "BUY", 0.6, 10)
            taking = assert_matched(answer, "10", "6")
            kinds = lambda events: [
                (event.type, str(getattr(event.payload, "order_event_type", event.payload.status)))
                for event in events
            ]
            events = await until(maker, "trade", status="CONFIRMED")
            assert kinds(events) == [("trade", "MATCHED"), ("order", "UPDATE"), ("trade", "CONFIRMED")]
            assert {event.payload.id for event in events if event.type == "trade"} == set(answer["tradeIDs"])
            assert events[0].payload.trader_side == "MAKER"
            events = await until(taker, "trade", status="CONFIRMED")
            assert kinds(events) == [
                ("order", "PLACEMENT"), ("trade", "MATCHED"), ("order", "UPDATE"), ("trade", "CONFIRMED"),
            ]  # fmt: skip
            assert {event.payload.id for event in events if event.type == "order"} == {taking}
            trade = events[-1].payload
            assert (trade.side, trade.price, trade.maker_orders[0].price) == ("BUY", Decimal("0.6"), Decimal("0.4"))
            await done(alice.cancel_order, OrderPayload(orderID=resting))
            [ended] = await until(maker, "order")
            assert (ended.payload.order_event_type, ended.payload.status) == ("CANCELLATION", "CANCELED")

    asyncio.run(scenario())


def test_a_filter_of_markets_widens_and_narrows(alice, own_market, market):
    async def scenario():
        async with user_streams(alice) as manager:
            one = await manager.subscribe(markets=[own_market.condition])
            await ready(one)
            assert_live(await done(place, alice, market.yes, "BUY", 0.11, 10))
            own = assert_live(await done(place, alice, own_market.yes, "BUY", 0.12, 10))
            assert [event.payload.id for event in await until(one, "order")] == [own]
            # The client widens to all markets by unsubscribing from the named ones.
            every = await manager.subscribe()
            await ready(every)
            other = assert_live(await done(place, alice, market.yes, "BUY", 0.13, 10))
            assert [event.payload.id for event in await until(every, "order")] == [other]

    asyncio.run(scenario())


def test_a_cut_connection_is_made_again(alice, own_market):
    async def scenario():
        async with market_streams() as manager, user_streams(alice) as own:
            handle = await manager.subscribe(token_ids=[own_market.yes])
            await until(handle, "book")
            orders = await own.subscribe()
            for connection in (manager._connection, own._connection):
                connection._socket.transport.abort()
            await until(handle, "book")
            while not own.is_open:
                await asyncio.sleep(0.05)
            await ready(orders)
            resting = assert_live(await done(place, alice, own_market.yes, "BUY", 0.2, 10))
            await until(handle, "price_change")
            await until(orders, "order", id=resting)

    asyncio.run(scenario())
