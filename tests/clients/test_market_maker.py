"""The market maker of examples/, an unmodified client: it prints fills, inventory and profit, and stops at its limit."""

import importlib.util
import os
import queue
import re
import subprocess
import sys
import threading
import time
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


class FilledAtCall:
    """A client whose wallet buys 10 Yes just before one of its calls is answered."""

    def __init__(self, call):
        self.call, self.trades = call, []

    def answer(self):
        self.call -= 1
        if self.call == 0:
            fill = {"side": "BUY", "asset_id": "yes", "outcome": "Yes", "size": "10", "price": "0.40"}
            self.trades.append({"id": "1", "trader_side": "TAKER", "taker_order_id": "2", "match_time": "100", **fill})

    def get_address(self):
        return "0x01"

    def get_server_time(self):
        self.answer()
        return 100

    def get_trades(self, _):
        self.answer()
        return list(self.trades)

    def get_balance_allowance(self, params):
        self.answer()
        return {"balance": "10000000" if self.trades and params.token_id == "yes" else "0"}


@pytest.mark.parametrize("call", range(1, 9))
def test_a_fill_during_the_start_counts_once(program, call):
    market = {"condition_id": "0x02", "tokens": [{"token_id": name, "outcome": name} for name in ("yes", "no")]}
    maker = program.Maker(FilledAtCall(call), market, None)
    while maker.client.call > 0:
        maker.take_fills()
    assert maker.account.inventory == 10


def test_a_size_above_the_largest_inventory_is_refused():
    command = [sys.executable, str(PROGRAM), "--size", "30", "--max-inventory", "20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--size is 30, allowed: at most --max-inventory, which is 20" in done.stderr


PATIENCE_SECONDS = 60


def pass_on(lines, arrived):
    """Puts each line into a queue, and `None` at their end."""
    for line in lines:
        arrived.put(line)
    arrived.put(None)


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
        lines, arrived, ends = [], queue.SimpleQueue(), time.monotonic() + PATIENCE_SECONDS
        threading.Thread(target=pass_on, args=(maker.stdout, arrived), daemon=True).start()

        def next_line():
            """Awaits a line; `None` is the end of the output."""
            try:
                return arrived.get(timeout=max(0.0, ends - time.monotonic()))
            except queue.Empty:
                raise AssertionError("".join(lines)) from None

        def read_until(pattern):
            while (line := next_line()) is not None:
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
            maker.terminate()
            lines += iter(next_line, None)
        except BaseException:
            maker.kill()
            raise
    text = "".join(lines)
    fills = re.findall(r"^fill       \d\d:\d\d:\d\d BUY Yes 10 at (0\.\d\d)$", text, re.MULTILINE)
    assert fills == ["0.48", "0.44"], text
    assert re.search(r"^quotes     10 No at 0\.\d\d\nlimit      the other side", text, re.MULTILINE), text
    profit = r"^inventory  20 Yes, profit \+0\.00 realised, [+-]\d\.\d\d unrealised$"
    assert re.search(profit, text, re.MULTILINE), text
    assert text.endswith("stopped\n"), text
