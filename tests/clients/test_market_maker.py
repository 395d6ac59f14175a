"""The market maker of examples/, an unmodified client: it prints fills, inventory and profit, and stops at its limit."""

import importlib.util
import os
import re
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path

import pytest
from py_clob_client_v2.clob_types import OrderArgs

import exchange

PROGRAM = Path(__file__).parents[2] / "examples" / "market_maker.py"


@pytest.fixture(scope="module")
def program():
    spec = importlib.util.spec_from_file_location("market_maker", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "fills, inventory, realised, unrealised",
    [
        ([], "0", "0", "0"),
        ([(0, "BUY", "10", "0.40")], "10", "0", "1.00"),
        ([(0, "BUY", "10", "0.40"), (0, "SELL", "4", "0.45")], "6", "0.20", "0.60"),
        # One of each outcome pays 1: 10 pairs for 0.40 + 0.55.
        ([(0, "BUY", "10", "0.40"), (1, "BUY", "10", "0.55")], "0", "0.50", "0"),
        ([(1, "BUY", "10", "0.55")], "-10", "0", "-0.50"),
        ([(0, "BUY", "10", "0.40"), (0, "BUY", "10", "0.50"), (0, "SELL", "30", "0.60")], "-10", "3.00", "1.00"),
    ],
)
def test_inventory_and_profit_follow_from_fills(program, fills, inventory, realised, unrealised):
    account = program.Account()
    for outcome, side, size, price in fills:
        account.apply(outcome, side, Decimal(size), Decimal(price))
    assert account.inventory == Decimal(inventory)
    assert account.realised == Decimal(realised)
    assert account.unrealised(Decimal("0.50")) == Decimal(unrealised)


def test_it_prints_fills_inventory_and_profit_and_stops_at_its_limit(own_market, bob):
    exchange.operate("market", "activate", own_market.condition)
    slug = bob.get_market(own_market.condition)["market_slug"]

    def order(token, price, size):
        bob.create_and_post_order(OrderArgs(token_id=token, side="BUY", price=price, size=size))

    order(own_market.yes, 0.40, 500)
    order(own_market.no, 0.40, 500)
    command = [sys.executable, "-u", str(PROGRAM), "--market", slug, "--max-inventory", "20"]
    environment = dict(os.environ, TRADING_URL=exchange.TRADING, PRIVATE_KEY=exchange.ALICE)
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as maker:
        lines = []
        patience = threading.Timer(60, maker.kill)
        patience.start()

        def read_until(pattern):
            for line in maker.stdout:
                lines.append(line)
                if re.match(pattern, line):
                    return
            raise AssertionError("".join(lines))

        try:
            # Two of its bids for Yes are filled: bob buys No, and each pair is minted.
            for price in ("0.48", "0.44"):
                read_until(rf"quotes     10 Yes at {price} and 10 No at 0\.\d\d$")
                order(own_market.no, 0.60, 10)
            read_until("limit  ")
        except BaseException:
            maker.kill()
            raise
        patience.cancel()
        maker.terminate()
        lines += maker.stdout.readlines()
    text = "".join(lines)
    fills = re.findall(r"^fill       \d\d:\d\d:\d\d BUY Yes 10 at (0\.\d\d)$", text, re.MULTILINE)
    assert fills == ["0.48", "0.44"], text
    assert re.search(r"^quotes     10 No at 0\.\d\d\nlimit      the other side", text, re.MULTILINE), text
    profit = r"^inventory  20 Yes, profit \+0\.00 realised, [+-]\d\.\d\d unrealised$"
    assert re.search(profit, text, re.MULTILINE), text
    assert text.endswith("stopped\n"), text
