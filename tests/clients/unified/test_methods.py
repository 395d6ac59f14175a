"""Every public method of every class of the unified client, called against a running exchange."""

import asyncio
import itertools
import json
import os
import subprocess
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest
from polymarket import (
    PRODUCTION,
    AsyncPublicClient,
    AsyncSecureClient,
    PriceRequest,
    PublicClient,
    SecureClient,
)
from polymarket.environments import _create_environment

from calls import BUILDER, METHODS, settled
from outcomes import Recorder, assert_classified, assert_table, public_names

CLASSES = [PublicClient, AsyncPublicClient, SecureClient, AsyncSecureClient]
TRADING = os.environ["EXCHANGE_TRADING"]
# A host of the family that is not here: a path of the exchange that nobody serves.
ABSENT = f"{TRADING}/absent"

# Keys 4 and 5 of the development mnemonic of Hardhat and Anvil. Never fund them.
TRADER = "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a"
MAKER = "0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba"

EVENT, MARKET, SERIES, TAG = "991001", "991002", "991003", "991004"
CONDITION = "0x" + "d7" * 32
TOKENS = ["7" * 76, "6" * 76]
RECORD = {
    "id": EVENT, "slug": "methods-event", "title": "An event for every method", "negRisk": False,
    "active": True, "closed": False, "updatedAt": "2026-02-08T12:00:00.5Z",
    "tags": [{"id": TAG, "label": "Methods", "slug": "methods"}],
    "series": [{"id": SERIES, "slug": "methods-series", "title": "A series"}],
    "markets": [{
        "id": MARKET, "slug": "is-it-called", "question": "Is it called?", "conditionId": CONDITION,
        "outcomes": '["Yes", "No"]', "clobTokenIds": json.dumps(TOKENS),
        "active": True, "closed": False, "enableOrderBook": True, "acceptingOrders": True,
        "orderPriceMinTickSize": 0.01, "orderMinSize": 5, "feesEnabled": True,
        "feeSchedule": {"exponent": 1, "rate": 0.04, "takerOnly": True, "rebateRate": 0.25},
    }],
}  # fmt: skip


def operate(*arguments):
    """Runs an operator's command."""
    environment = dict(os.environ)
    environment["FORETELL_OPERATOR_LISTEN"] = os.environ["EXCHANGE_OPERATOR"].removeprefix("http://")
    command = [os.environ["EXCHANGE_BINARY"], "--json", "--data", os.environ["EXCHANGE_DATA"], *arguments]
    done = subprocess.run(
        command, env=environment, cwd=os.environ["EXCHANGE_DATA"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"


def environment():
    """The client's settings with the addresses of the exchange."""
    config = PRODUCTION._config
    urls = {name: ABSENT for name in config.__slots__ if name.endswith("_url")}
    sockets = {name: url.replace("http", "ws", 1) for name, url in urls.items() if "_ws_" in name}
    own = {
        "chain_id": 80002,
        "clob_url": TRADING,
        "gamma_url": os.environ["EXCHANGE_CATALOG"],
        "data_url": os.environ["EXCHANGE_DATA_SURFACE"],
    }
    return _create_environment(name="foretell", config=replace(config, **{**urls, **sockets, **own}))


@dataclass
class Facts:
    """What calls need to know of the exchange."""

    recorder: Recorder
    environment: object
    condition: str
    yes: str
    no: str
    wallet: str = ""
    maker: str = ""
    day: str = ""
    name: str = ""
    rebate_condition: str = CONDITION
    market_id: str = MARKET
    event_id: str = EVENT
    series_id: str = SERIES
    tag_id: str = TAG
    heartbeats: dict = field(default_factory=dict)
    nonces: object = field(default_factory=lambda: itertools.count(int(time.time())))

    async def disposable(self, client):
        """A client of the same class with a key of its own."""
        kind = type(client)
        if not hasattr(kind, "create"):
            return kind(self.environment)
        return await secure(kind, TRADER, self.environment, nonce=next(self.nonces))

    async def fresh(self, client):
        """The client again, having read nothing yet: clients keep what they know of a market."""
        return await secure(type(client), TRADER, self.environment, credentials=client.credentials)

    def price_requests(self):
        return [PriceRequest(asset_id=self.yes, side="BUY"), PriceRequest(asset_id=self.no, side="SELL")]

    def merges(self):
        return [{"condition_id": self.condition, "amount": 1}]


async def secure(kind, key, settings, **more):
    """An authenticated client that acts for its own key's address."""
    from eth_account import Account

    address = Account.from_key(key).address
    return await settled(kind.create(private_key=key, wallet=address, environment=settings, **more))


async def prepare(recorder):
    """A market with a book on both sides and a trade, catalog records, and a trade with a rebate."""
    path = Path(os.environ["EXCHANGE_DATA"]) / "methods.jsonl"
    path.write_text(json.dumps(RECORD) + "\n")
    operate("catalog", "import", str(path))
    for _ in range(200):  # reads are milliseconds behind
        if httpx.get(f"{TRADING}/markets/{CONDITION}").is_success:
            break
        await asyncio.sleep(0.1)
    rows = httpx.get(f"{TRADING}/markets").json()["data"]
    plain = [
        row for row in rows
        if not row["neg_risk"] and not row["taker_base_fee"] and str(row["minimum_tick_size"]) == "0.01"
        and not row["seconds_delay"]
    ]  # fmt: skip
    market = plain[-1]
    yes, no = (token["token_id"] for token in market["tokens"])
    facts = Facts(recorder, environment(), market["condition_id"], yes, no)
    maker = await secure(SecureClient, MAKER, facts.environment)
    trader = await secure(SecureClient, TRADER, facts.environment)
    facts.wallet, facts.maker = str(trader.wallet), str(maker.wallet)
    operate("profile", "set", facts.wallet, "--name", "Every Method")
    for client in (maker, trader):
        operate("account", "deposit", str(client.wallet), "10000")
    # The second meets the first, so that there is a last trade; the others rest.
    for client, outcome, price, size in [
        (maker, yes, "0.4", 50), (trader, no, "0.6", 50), (maker, yes, "0.45", 1000), (maker, no, "0.45", 1000),
        (maker, TOKENS[0], "0.5", 50), (trader, TOKENS[1], "0.5", 50),
    ]:  # fmt: skip
        order = client.place_limit_order(
            asset_id=outcome, price=price, size=size, side="BUY", builder_code=BUILDER
        )
        assert order.ok, order
    facts.day = time.strftime("%Y-%m-%d", time.gmtime())
    maker.close()
    trader.close()
    return facts


async def drive(kind, facts):
    """Calls every method of a class; returns what was seen of each."""
    facts.name = kind.__name__
    if hasattr(kind, "create"):
        client = await secure(kind, TRADER, facts.environment)
    else:
        client = kind(facts.environment)
    seen = {}
    for name in sorted(public_names(kind)):
        made, wanted = METHODS[name]
        if wanted.kind == "stream":
            continue
        with facts.recorder.recording() as seen[name]:
            await asyncio.wait_for(settled(made(client, facts)), 60)
    await settled(client.close())
    return seen


@pytest.fixture(scope="module")
def driven():
    """What every method of every class did."""
    recorder = Recorder()

    async def run():
        facts = await prepare(recorder)
        seen = {kind.__name__: await drive(kind, facts) for kind in CLASSES}
        for key in (MAKER, TRADER):
            client = await secure(SecureClient, key, facts.environment)
            client.cancel_all()
            client.close()
        return seen

    return asyncio.run(run())


def test_every_method_is_classified():
    found = set().union(*(public_names(kind) for kind in CLASSES))
    assert_classified(found, set(METHODS))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_method_does_what_is_said_of_it(driven, kind):
    wrong = {
        name: f"{METHODS[name][1].kind}: {seen.shown()}"
        for name, seen in driven[kind.__name__].items()
        if not seen.fits(METHODS[name][1])
    }
    assert wrong == {}, "\n".join(f"{name}: {told}" for name, told in wrong.items())


def test_the_table_of_outcomes_is_in_the_documentation(driven):
    rows = []
    for name, (_, wanted) in sorted(METHODS.items()):
        # The widest class that has the method: its outcome stands for all.
        classes = [kind for kind in reversed(CLASSES) if name in public_names(kind)]
        seen = driven[classes[0].__name__].get(name)
        if seen is None:
            rows.append((f"`{name}`", "–", f"stream: {wanted.reason}"))
        else:
            rows.append((f"`{name}`", seen.call(), seen.outcome(wanted)))
    assert_table("polymarket-client", rows)
