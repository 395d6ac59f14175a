"""NautilusTrader's adapter of the family: its instruments, and orders signed as its execution client does."""

import asyncio
from decimal import Decimal

import pytest

import venue  # before the adapter, which reads the catalog's address when it is imported
from nautilus_trader.adapters.polymarket.common.symbol import get_polymarket_instrument_id
from nautilus_trader.adapters.polymarket.factories import get_polymarket_http_client
from nautilus_trader.adapters.polymarket.providers import (
    PolymarketInstrumentProvider,
    PolymarketInstrumentProviderConfig,
)
from nautilus_trader.common.component import LiveClock
from py_clob_client_v2.client import ClobClient
from py_clob_client_v2.clob_types import OrderArgsV2, OrderPayload, OrderType, PartialCreateOrderOptions
from py_clob_client_v2.constants import POLYGON


@pytest.fixture(scope="module")
def client():
    """The client that the adapter makes; its chain is fixed."""
    creds = ClobClient(venue.TRADING, POLYGON, key=venue.KEY).create_or_derive_api_key()
    return get_polymarket_http_client(
        api_key=creds.api_key,
        api_secret=creds.api_secret,
        passphrase=creds.api_passphrase,
        base_url=venue.TRADING,
        private_key=venue.KEY,
        funder=venue.WALLET,
    )


def instrument_of(client, market, use_gamma_markets):
    """The instrument of a market's first token, from the trading surface or from the catalog."""
    name = get_polymarket_instrument_id(market["condition_id"], market["tokens"][0]["token_id"])

    async def load():
        config = PolymarketInstrumentProviderConfig(use_gamma_markets=use_gamma_markets)
        provider = PolymarketInstrumentProvider(client, LiveClock(), config)
        await provider.load_ids_async([name])
        return provider.find(name)

    return asyncio.run(load())


@pytest.mark.parametrize("use_gamma_markets", [False, True], ids=["trading", "catalog"])
@pytest.mark.parametrize("market", venue.MARKETS, ids=venue.name_of)
def test_an_order_signed_by_its_instrument_rests_and_ends(client, market, use_gamma_markets):
    instrument = instrument_of(client, market, use_gamma_markets)
    assert instrument is not None
    assert instrument.info["neg_risk"] == market["neg_risk"]
    assert instrument.price_increment.as_decimal() == Decimal(str(market["minimum_tick_size"]))
    assert instrument.info["minimum_order_size"] == market["minimum_order_size"]
    assert instrument.taker_fee == Decimal(market["taker_base_fee"]) / 10_000
    order = client.create_order(
        OrderArgsV2(
            token_id=market["tokens"][0]["token_id"],
            price=float(instrument.price_increment),
            size=float(instrument.info["minimum_order_size"]),
            side="BUY",
        ),
        options=PartialCreateOrderOptions(neg_risk=instrument.info["neg_risk"]),
    )
    placed = client.post_order(order, OrderType.GTC)
    assert placed["status"] == "live", placed
    assert client.cancel_order(OrderPayload(orderID=placed["orderID"]))["canceled"] == [placed["orderID"]]
