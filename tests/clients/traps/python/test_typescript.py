"""Orders that the TypeScript client signs; `typescript.cjs` has the cases."""

import json
import os
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif("EXCHANGE_NPM" not in os.environ, reason="no TypeScript client is installed")
PROGRAM = Path(__file__).resolve().parents[1] / "typescript.cjs"
CASES = ["lowerCase", "keptPrice", "zeroBalance", "otherChain", "refused", "sized", "deep", "tick", "rounded"]


def facts(sandbox):
    """A wallet with 20 shares of Yes of a market, whose book has asks of 100 at 0.5 and of 10 at 0.99."""
    book, wallet = sandbox.market(), sandbox.wallet()
    sandbox.asks(book, ("0.5", "120"), ("0.99", "10"))
    sandbox.place(wallet, book.yes, "BUY", "0.5", "20")
    surfaces = {"trading": sandbox.trading, "operator": sandbox.operator, "operatorToken": sandbox.ready["token"]}
    named = {"condition": book.condition, "token": book.yes}
    return {**surfaces, **named, "chain": sandbox.chain, "wallet": asdict(wallet)}


@pytest.fixture(scope="module")
def results(sandbox):
    """The results of all cases: starting the client takes longer than they do."""
    command = ["node", str(PROGRAM), json.dumps({case: facts(sandbox) for case in CASES})]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_side_in_lower_case_sells(sandbox, results):
    result = results["lowerCase"]
    assert result["signed"] == ["SELL", "10000000", "5000000"]
    assert result["market"] == "SELL"
    assert result["answer"]["status"] == "live"
    assert sandbox.explain(result["answer"]["orderID"])["met"]["side"] == "SELL"


def test_a_market_order_keeps_its_first_price(results):
    assert results["keptPrice"] == {"kept": 0.5, "best": "0.4"}


def test_a_balance_of_zero_signs_an_order_of_nothing(results):
    result = results["zeroBalance"]
    assert result["market"] == result["limit"] == ["BUY", "0", "0"]
    assert "makerAmount is '0'" in result["refused"]


def test_an_api_key_that_is_refused_is_returned_empty(results):
    assert results["otherChain"] == {"returned": [], "thrown": "Invalid L1 Request headers"}


def test_a_refused_order_is_returned(results):
    result = results["refused"]
    assert (result["success"], result["status"]) == (False, 400)
    assert result["error"].startswith("not enough balance / allowance")


def test_a_sized_order_of_fok_spends_its_value(results):
    assert results["sized"] == {"makingAmount": "8", "takingAmount": "16"}, "not 10 shares"


def test_a_market_order_beyond_the_depth_takes_the_worst_price(sandbox, results):
    explained = sandbox.explain(results["deep"])
    assert (explained["met"]["price"], explained["met"]["matched"]) == ("0.99", "110")


def test_a_tick_is_read_once(results):
    assert results["tick"] == ["BUY", "5800000", "10000000"], "0.576 is a price of the new tick"


def test_prices_and_sizes_are_not_floored_in_binary(results):
    """Prices off the tick are rounded to the nearest one, as in Python."""
    result = results["rounded"]
    assert result["prices"] == [0.29, 0.57, 0.58]
    assert result["sizes"] == [2.01, 10.2, 1.15]
    assert result["off"] == ["BUY", "5800000", "10000000"]
