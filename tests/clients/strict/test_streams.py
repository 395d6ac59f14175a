"""Both streams through the strict client: it drops, with a warning, what its models do not know."""

import asyncio
import logging
import time

import pytest
from exchange import ALICE, TRADING, operate
from polymarket_apis import AsyncPolymarketWebsocketsClient
from polymarket_apis.types.clob_types import OrderType
from polymarket_apis.types.websockets_types import (
    BestBidAskEvent,
    LastTradePriceEvent,
    MarketResolvedEvent,
    NewMarketEvent,
    OrderBookSummaryEvent,
    OrderEvent,
    PriceChangeEvent,
    TickSizeChangeEvent,
    TradeEvent,
)
from venue import limit, market, register, token

PATIENCE = 20


class Reader:
    """What a connection was sent."""

    def __init__(self):
        self.read = []

    def __call__(self, event):
        self.read += event if isinstance(event, list) else [event]

    async def until(self, holds):
        """Waits for a message."""
        deadline = time.monotonic() + PATIENCE
        while not any(map(holds, self.read)):
            assert time.monotonic() < deadline, self.read
            await asyncio.sleep(0.02)

    def kinds(self):
        """The types of what was read."""
        return {type(event) for event in self.read}


@pytest.fixture
def dropped():
    """What the client could not parse, from its log."""
    records = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = records.append
    logger = logging.getLogger("polymarket_apis.clients.websockets_client")
    logger.addHandler(handler)
    yield records
    logger.removeHandler(handler)


def connect():
    """A stock client; its addresses are attributes."""
    made = AsyncPolymarketWebsocketsClient()
    made.url_market = TRADING.replace("http", "ws", 1) + "/ws/market"
    made.url_user = TRADING.replace("http", "ws", 1) + "/ws/user"
    return made


def test_every_message_is_one_that_the_models_know(site, dropped):
    asyncio.run(every_message(site))
    assert [record.getMessage() for record in dropped] == []


async def every_message(site):
    markets = site.markets
    tokens = [token(markets[slug], outcome) for slug in ("to-refine", "to-resolve") for outcome in (0, 1)]
    client, public, own = connect(), Reader(), Reader()
    await client.open_market_connection(token_ids=tokens, process_event=public)
    await client.open_user_connection(creds=site.bob.creds, process_event=own)
    await public.until(lambda event: event.token_id == tokens[0])
    await asyncio.to_thread(lives, site, own)
    await public.until(lambda event: isinstance(event, MarketResolvedEvent))
    await own.until(lambda event: isinstance(event, TradeEvent) and event.status == "CONFIRMED")
    assert public.kinds() == {
        BestBidAskEvent,
        LastTradePriceEvent,
        MarketResolvedEvent,
        NewMarketEvent,
        OrderBookSummaryEvent,
        PriceChangeEvent,
        TickSizeChangeEvent,
    }
    orders = {(event.type, event.status) for event in own.read if isinstance(event, OrderEvent)}
    assert orders == {
        ("PLACEMENT", "LIVE"),
        ("UPDATE", "LIVE"),
        ("UPDATE", "MATCHED"),
        ("CANCELLATION", "CANCELED"),
    }
    assert {event.status for event in own.read if isinstance(event, TradeEvent)} == {"MATCHED", "CONFIRMED"}
    await client.close()


def lives(site, own):
    """Orders of Bob's of every end, and a market's life."""
    alice, bob, markets = site.alice, site.bob, site.markets
    refined, resolved = markets["to-refine"], markets["to-resolve"]
    yes, no = token(refined), token(refined, 1)
    alice.create_and_post_order(limit(no, 0.5, 40))
    assert bob.create_and_post_order(limit(yes, 0.5, 10)).status == "matched"
    assert bob.create_and_post_order(limit(yes, 0.6, 50)).status == "matched"  # the rest stays
    expiring = bob.create_order(limit(yes, 0.2, expiration=int(time.time()) + 3_600))
    assert bob.post_order(expiring, OrderType.GTD).status == "live"
    bob.cancel_orders_for_token_id(yes)
    with pytest.raises(Exception, match="FOK"):
        bob.post_order(bob.create_order(limit(yes, 0.6, 500)), OrderType.FOK)
    delayed = markets["with-a-delay"]
    alice.create_and_post_order(limit(token(delayed, 1), 0.3))
    assert bob.create_and_post_order(limit(token(delayed), 0.7)).status == "delayed"
    operate("market", "tick", refined.market_slug, "0.001")
    # Its orders end with it.
    bob.create_and_post_order(limit(token(resolved), 0.3))
    register([market("new-while-watched")])
    operate("market", "resolve", resolved.market_slug, "Yes")
