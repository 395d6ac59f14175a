"""Orders that the TypeScript client signs; `typescript.cjs` has the cases."""

import json
import os
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif("EXCHANGE_NPM" not in os.environ, reason="no TypeScript client is installed")
CASES = Path(__file__).resolve().parents[1] / "typescript.cjs"


@pytest.fixture
def book(sandbox):
    return sandbox.market()


@pytest.fixture
def run(sandbox, wallet, book):
    """Runs a case and returns its result."""

    def run(case):
        facts = {"trading": sandbox.trading, "chain": sandbox.chain, "wallet": asdict(wallet), "token": book.yes}
        command = ["node", str(CASES), case, json.dumps(facts)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def buy(sandbox, wallet, book):
    """Gives the wallet 20 shares of Yes."""
    sandbox.asks(book, ("0.5", "20"))
    sandbox.place(wallet, book.yes, "BUY", "0.5", "20")


def test_a_side_in_lower_case_sells(sandbox, wallet, book, run):
    buy(sandbox, wallet, book)
    result = run("lowerCase")
    assert result["signed"] == ["SELL", "10000000", "5000000"]
    assert result["market"] == "SELL"
    assert result["answer"]["status"] == "live"
    explained = sandbox.explain(result["answer"]["orderID"])
    assert explained["met"]["side"] == "SELL"


def test_a_market_order_keeps_its_first_price(sandbox, wallet, book, run):
    buy(sandbox, wallet, book)
    sandbox.asks(book, ("0.5", "100"))
    assert run("keptPrice") == {"kept": 0.5, "best": "0.4"}


def test_a_balance_of_zero_signs_an_order_of_nothing(run):
    result = run("zeroBalance")
    assert result["market"] == result["limit"] == ["BUY", "0", "0"]
    assert "makerAmount is '0'" in result["refused"]


def test_an_api_key_that_is_refused_is_returned_empty(run):
    assert run("otherChain") == {"returned": [], "thrown": "Invalid L1 Request headers"}


def test_a_refused_order_is_returned(run):
    result = run("refused")
    assert (result["success"], result["status"]) == (False, 400)
    assert result["error"].startswith("not enough balance / allowance")


def test_prices_and_sizes_are_not_floored_in_binary(run):
    """Prices off the tick are rounded to the nearest one, as in Python."""
    result = run("rounded")
    assert result["prices"] == [0.29, 0.57, 0.58]
    assert result["sizes"] == [2.01, 10.2, 1.15]
    assert result["off"] == ["BUY", "5800000", "10000000"]
