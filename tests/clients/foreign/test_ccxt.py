"""ccxt's client of the family: it takes token, contract, tick and minimum from the catalog."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from ccxt.prediction import polymarket

import venue


@asynccontextmanager
async def client():
    """A stock client; only its addresses and its wallet are settings."""
    made = polymarket(
        {
            "privateKey": venue.KEY,
            "walletAddress": venue.WALLET,
            "options": {"signatureType": 0, "builder": None},
        }
    )
    made.urls["api"] |= {"gamma": venue.CATALOG, "clob": venue.TRADING, "data": venue.DATA}
    try:
        yield made
    finally:
        await made.close()


@pytest.mark.parametrize("market", venue.MARKETS, ids=venue.name_of)
def test_an_order_signed_by_the_catalog_rests_and_ends(market):
    async def run():
        async with client() as ccxt:
            await ccxt.load_markets()
            outcome = ccxt.outcome(market["tokens"][0]["token_id"])
            assert outcome["negRisk"] == market["neg_risk"]
            assert outcome["precision"]["price"] == market["minimum_tick_size"]
            traded = ccxt.market(outcome["market"])
            assert traded["limits"]["amount"]["min"] == market["minimum_order_size"]
            order = await ccxt.create_order(
                outcome["outcomeId"], "limit", "buy", market["minimum_order_size"], market["minimum_tick_size"]
            )
            assert order["status"] == "open", order
            assert order["id"] in [row["id"] for row in await ccxt.fetch_open_orders()]
            await ccxt.cancel_order(order["id"])
            assert order["id"] not in [row["id"] for row in await ccxt.fetch_open_orders()]

    asyncio.run(run())
