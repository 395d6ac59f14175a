"""Clients and markets the tests share."""

import json
import time
from dataclasses import dataclass

import pytest
from py_clob_client_v2.client import ClobClient

import exchange


@pytest.fixture(scope="session")
def public():
    """A client without a key."""
    return ClobClient(exchange.TRADING, exchange.CHAIN)


@pytest.fixture(scope="session")
def _alice():
    return exchange.connect(exchange.ALICE)


@pytest.fixture(scope="session")
def _bob():
    return exchange.connect(exchange.BOB)


@pytest.fixture
def alice(_alice):
    """A funded EOA; what it leaves in the books is cancelled after the test."""
    yield _alice
    exchange.clear(_alice)


@pytest.fixture
def bob(_bob):
    """Another one."""
    yield _bob
    exchange.clear(_bob)


@pytest.fixture(scope="session")
def _markets():
    return exchange.markets()


def _one(markets, **wanted):
    def fits(market):
        return all(getattr(market, name) == value for name, value in wanted.items())

    found = [market for market in markets if fits(market)]
    assert found, f"there is no market with {wanted}"
    return found


@pytest.fixture(scope="module")
def market(_markets, request):
    """A plain market with tick 0.01, without fees and delay, of the test module's own."""
    plain = _one(_markets, tick="0.01", neg_risk=False, taker_fee=0, delay=0)
    modules = ["test_market_data", "test_orders", "test_matching", "test_cancels", "test_wallets", "test_streams"]
    return plain[modules.index(request.module.__name__) % len(plain)]


@pytest.fixture(scope="session")
def neg_risk_market(_markets):
    """A question of a neg-risk event."""
    return _one(_markets, tick="0.01", neg_risk=True, taker_fee=0, delay=0)[0]


@pytest.fixture(scope="session")
def fine_market(_markets):
    """A market with tick 0.001."""
    return _one(_markets, tick="0.001", neg_risk=False, taker_fee=0, delay=0)[0]


@pytest.fixture(scope="session")
def fee_market(_markets):
    """A market whose takers pay 4% of p(1 − p)."""
    return _one(_markets, tick="0.01", neg_risk=False, taker_fee=400, delay=0)[0]


@dataclass(frozen=True)
class Own:
    """A market of one test."""

    condition: str
    yes: str
    no: str


@pytest.fixture
def own_market(tmp_path):
    """A new market: what a test does to it is its own business."""
    number = time.time_ns()
    market = Own(f"0x{number:064x}", str(number), str(number + 1))
    record = tmp_path / "market.json"
    texts = {"question": "Does the stream hold?", "slug": f"stream-{number}"}
    record.write_text(
        json.dumps({"condition_id": market.condition, "token_ids": [market.yes, market.no], **texts})
    )
    exchange.operate("market", "register", str(record))
    return market
