"""The client of PyPI's polymarket-apis: it takes contract and tick from the trading surface."""

import pytest
from polymarket_apis.clients.clob_client import PolymarketClobClient
from polymarket_apis.types.clob_types import ApiCreds, OrderArgs

import venue


@pytest.fixture(scope="module")
def client():
    """A stock client. Its address is no argument, so it gets its key after it is made."""
    nobody = ApiCreds(key="", secret="", passphrase="")
    made = PolymarketClobClient(venue.KEY, venue.WALLET, creds=nobody, signature_type=0)
    made.base_url = venue.TRADING
    made.set_api_creds(made.create_or_derive_api_creds())
    return made


@pytest.mark.parametrize("market", venue.MARKETS, ids=venue.name_of)
def test_an_order_rests_and_ends(client, market):
    order = OrderArgs(
        token_id=market["tokens"][0]["token_id"],
        price=market["minimum_tick_size"],
        size=market["minimum_order_size"],
        side="BUY",
    )
    placed = client.create_and_post_order(order)
    assert placed.status == "live", placed
    assert client.cancel_order(placed.order_id).canceled == [placed.order_id]
