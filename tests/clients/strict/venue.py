"""The exchange of the strict client: chain 137, and markets of what its models know.

They know four ticks, and base fees of 0 and 1000, a fee of 10 %.
"""

import json
import os
import tempfile
from types import SimpleNamespace

from exchange import ALICE, BOB, TRADING, deposit, eventually, operate
from polymarket_apis import PolymarketClobClient, PolymarketDataClient, PolymarketGammaClient
from polymarket_apis.types.clob_types import ApiCreds, OrderArgs

DATA = os.environ["EXCHANGE_DATA_SURFACE"]
CATALOG = os.environ["EXCHANGE_CATALOG"]

# The wallets of the two keys.
WALLETS = {ALICE: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", BOB: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}
FEE = {"rate_ppm": 100_000, "exponent": 1}
DELAY_MS = 1_500


def market(slug, **fields):
    """A market to register."""
    words = {"question": f"Will {slug} happen?", "description": f"Rules of {slug}.", "tags": ["Tests"]}
    return {"slug": slug, **words, "end_date": "2030-01-01T00:00:00Z", **fields}


PLAIN = [market(f"tick-{tick}".replace(".", "-"), tick_size=tick) for tick in ("0.1", "0.01", "0.001", "0.0001")]
OTHERS = [
    market("with-a-fee", fee=FEE),
    market("with-a-delay", taker_delay_ms=DELAY_MS),
    market("to-refine"),
    market("to-close"),
    market("to-resolve"),
]
QUESTIONS = [market(f"candidate-{name}", event_id=7) for name in "abc"]


def register(markets):
    """Registers markets, one at a time: the command prints an answer for each of a file."""
    for one in markets:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(one, file)
            file.flush()
            operate("market", "register", file.name)


def clob(key):
    """A stock client. Its address is no argument, so it gets its key after it is made."""
    nobody = ApiCreds(key="", secret="", passphrase="")
    made = PolymarketClobClient(key, WALLETS[key], creds=nobody, signature_type=0)
    made.base_url = TRADING
    made.set_api_creds(made.create_or_derive_api_creds())
    return made


def set_up():
    """Registers everything, funds both wallets; the clients, and facts of the markets by slug."""
    operate("market", "event", "7", "Who wins?")
    register(PLAIN + OTHERS)
    register(QUESTIONS)
    for question in QUESTIONS:
        operate("market", "activate", question["slug"])
    for wallet in WALLETS.values():
        deposit(wallet, 10_000)
    alice, bob = clob(ALICE), clob(BOB)
    count = len(PLAIN + OTHERS + QUESTIONS)
    listed = eventually(
        alice.get_all_markets,
        lambda markets: len(markets) == count and all(market.accepting_orders for market in markets),
    )
    gamma = PolymarketGammaClient(base_url=CATALOG)
    eventually(lambda: gamma.get_markets(limit=100), lambda markets: len(markets) == count)
    return SimpleNamespace(
        alice=alice,
        bob=bob,
        data=PolymarketDataClient(base_url=DATA),
        gamma=gamma,
        markets={market.market_slug: market for market in listed},
    )


def token(market, outcome=0):
    """A token of a market."""
    return market.token_ids[outcome].token_id


def limit(token_id, price, size=10, side="BUY", **more):
    """The terms of a limit order."""
    return OrderArgs(token_id=token_id, price=price, size=size, side=side, **more)
