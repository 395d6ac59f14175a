#!/usr/bin/env python3
"""Quotes both outcomes of one market around the midpoint until Ctrl-C, then cancels its quotes.

    pip install py-clob-client-v2==1.2.1
    python examples/market_maker.py [--seconds 60] [--market SLUG] [--size 10] [--half-spread 0.02]
                                    [--max-inventory 100] [--report-seconds 10]

It needs collateral and no shares: a BUY of No at 0.58 is an offer of Yes at 0.42. It replaces all orders
of its wallet in that market. TRADING_URL and PRIVATE_KEY choose the exchange and the wallet; the defaults
are those of `foretell up --demo`.

It prints each fill, and after fills and every few seconds its inventory and its profit since the start.
Inventory is shares of the first outcome less shares of the second: one of each always pays 1 together.
A quote that could take the inventory beyond --max-inventory is left out.
"""

import argparse
import os
import re
import signal
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from decimal import ROUND_DOWN, Decimal

from py_clob_client_v2 import (
    AssetType,
    BalanceAllowanceParams,
    ClobClient,
    OpenOrderParams,
    OrderArgs,
    OrderMarketCancelParams,
    OrderType,
    PostOrdersV2Args,
    TradeParams,
)
from py_clob_client_v2.exceptions import PolyApiException

TRADING_URL = os.environ.get("TRADING_URL", "http://127.0.0.1:8080")
# A public development key: anybody can use it. Never send anything of value to its address.
DEMO_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
CHAIN = int(os.environ.get("CHAIN_ID", "80002"))
# Statuses that a later attempt may change: catching up, rate limit, busy or unavailable.
TEMPORARY = {425, 429, 503}
LONGEST_WAIT = 30.0

stopping = threading.Event()


def attempt(action, tries=None):
    """Runs a request again after each temporary rejection and each lost connection.

    An order that is sent again has the same id, so it is placed once, whatever became of the first
    request. That needs the same signed order: sign outside of `action`.
    """
    wait, tried = 0.5, 0
    while True:
        try:
            return action()
        except PolyApiException as problem:
            tried += 1
            if problem.status_code not in TEMPORARY | {None} or tried == tries:
                raise
            # The text of a 429 names the wait; the client does not show the Retry-After header.
            named = re.search(r"retry in (\d+) s", str(problem.error_msg))
            pause = float(named[1]) if named else wait
            wait = min(2 * wait, LONGEST_WAIT)
            print(f"waiting    {pause:g} s: {problem.status_code} {problem.error_msg}")
            if tries:
                time.sleep(pause)
            elif stopping.wait(pause):
                raise


def heartbeat(client, last):
    """Goes on with the chain of heartbeats; returns the id of the next one.

    The exchange cancels all orders of this owner 15 s after the last heartbeat. After a restart of the
    engine the chain has another id, which the rejection names.
    """
    try:
        return attempt(lambda: client.post_heartbeat(last))["heartbeat_id"]
    except PolyApiException as problem:
        if problem.status_code != 400:
            raise
        named = problem.error_msg["heartbeat_id"]
        return attempt(lambda: client.post_heartbeat(named))["heartbeat_id"]


@dataclass
class Account:
    """Inventory and profit of one market. Trades of the second outcome count as the opposite trade of the
    first at one less the price. Sold shares realise their profit over the average price of the inventory."""

    inventory: Decimal = Decimal(0)
    average: Decimal = Decimal(0)
    realised: Decimal = Decimal(0)

    def apply(self, outcome, side, size, price, fee=Decimal(0)):
        """Counts a fill; `outcome` is 0 or 1."""
        change = size if (side == "BUY") == (outcome == 0) else -size
        price = price if outcome == 0 else 1 - price
        reduced = min(abs(change), abs(self.inventory)) if change * self.inventory < 0 else Decimal(0)
        self.realised += reduced * (price - self.average) * (1 if self.inventory > 0 else -1) - fee
        added = abs(change) - reduced
        if added:
            held = abs(self.inventory) - reduced
            self.average = (self.average * held + price * added) / (held + added)
        self.inventory += change

    def unrealised(self, middle):
        """Profit of the inventory at this price of the first outcome."""
        return self.inventory * (middle - self.average)


@dataclass
class Fills:
    """Reads the wallet's new fills of a market, oldest first."""

    client: ClobClient
    condition: str
    tokens: list
    after: int
    known: set = field(default_factory=set)

    def new(self):
        params = TradeParams(market=self.condition, after=self.after)
        trades = attempt(lambda: self.client.get_trades(params))
        fills = [fill for trade in trades for fill in self.own(trade) if fill["key"] not in self.known]
        fills.sort(key=lambda fill: fill["time"])
        self.known.update(fill["key"] for fill in fills)
        if fills:
            # Trades of the same second may follow.
            self.after = fills[-1]["time"] - 1
        return fills

    def own(self, trade):
        """The wallet's part of a trade: that of the taker, or those of its maker orders."""
        mine = self.client.get_address().lower()
        if trade["trader_side"] == "TAKER":
            parts = [(trade["taker_order_id"], trade, trade["size"], trade.get("fee_usdc") or 0)]
        else:
            orders = [order for order in trade["maker_orders"] if order["maker_address"].lower() == mine]
            parts = [(order["order_id"], order, order["matched_amount"], 0) for order in orders]
        for order, part, size, fee in parts:
            yield {
                "key": (trade["id"], order),
                "time": int(trade["match_time"]),
                "side": part["side"],
                "outcome": self.tokens.index(part["asset_id"]),
                "name": part["outcome"],
                "size": Decimal(size),
                "price": Decimal(part["price"]),
                "fee": Decimal(fee),
            }


def shares(client, token):
    """Shares of an outcome that the wallet holds."""
    params = BalanceAllowanceParams(asset_type=AssetType.CONDITIONAL, token_id=token, signature_type=0)
    return Decimal(attempt(lambda: client.get_balance_allowance(params))["balance"]) / 1_000_000


def middle_of(book):
    """The price between the best bid and the best ask; `None` while a side of the book is empty."""
    if not book["bids"] or not book["asks"]:
        return None
    return (Decimal(book["bids"][-1]["price"]) + Decimal(book["asks"][-1]["price"])) / 2


def quotes(book, tokens, arguments, inventory):
    """A bid of each outcome, as (token, price, size); none while a side of the book is empty, and none that
    could take the inventory beyond its limit."""
    middle = middle_of(book)
    if middle is None:
        return []
    tick, size = Decimal(book["tick_size"]), arguments.size
    bids = []
    for token, value, held in zip(tokens, (middle, 1 - middle), (inventory, -inventory)):
        price = ((value - arguments.half_spread) / tick).to_integral_value(ROUND_DOWN) * tick
        if held + size <= arguments.max_inventory:
            bids.append((token, min(max(price, tick), 1 - tick), size))
    return bids


def place(client, wanted):
    """Posts the quotes in one request."""
    terms = [
        OrderArgs(token_id=token, side="BUY", price=float(price), size=float(size))
        for token, price, size in wanted
    ]
    # Signing reads the market's tick and kind, once.
    signed = attempt(lambda: [client.create_order(order) for order in terms])
    batch = [PostOrdersV2Args(order, OrderType.GTC) for order in signed]
    results = attempt(lambda: client.post_orders(batch, post_only=True))
    for result in results:
        if not result["success"]:
            # Such as a post-only quote that would trade: the next round quotes again.
            print("rejected  ", result["errorMsg"])


class Maker:
    """Quotes one market. Call `round` again and again, and `stop` at the end."""

    def __init__(self, client, market, arguments):
        self.client, self.arguments = client, arguments
        self.condition = market["condition_id"]
        self.names = {token["token_id"]: token["outcome"] for token in market["tokens"]}
        self.tokens = list(self.names)
        # Match times are the exchange's.
        now = int(attempt(client.get_server_time))
        self.fills = Fills(client, self.condition, self.tokens, after=now - 1)
        self.account = Account(inventory=self.first_inventory())
        self.shown, self.beat, self.middle, self.next_report = None, "", None, 0.0

    def first_inventory(self):
        """Reads the inventory at the start, and again after a fill in between: balances may include it or not."""
        self.fills.new()
        while True:
            first, second = [shares(self.client, token) for token in self.tokens]
            if not self.fills.new():
                return first - second

    def round(self):
        """Replaces the quotes when the midpoint has moved or a quote was filled."""
        self.beat = heartbeat(self.client, self.beat)
        book = attempt(lambda: self.client.get_order_book(self.tokens[0]))
        middle = middle_of(book)
        if self.middle is None and middle is not None:
            # Profit counts from the start: shares held before are worth the first midpoint.
            self.account.average = middle
        self.middle = middle or self.middle
        filled = self.take_fills()
        wanted = quotes(book, self.tokens, self.arguments, self.account.inventory)
        # What rests is asked, never remembered: a lost answer cannot leave an unknown quote.
        resting = attempt(lambda: self.client.get_open_orders(OpenOrderParams(market=self.condition)))
        if wanted != self.shown or len(resting) != len(wanted):
            if resting:
                self.cancel()
                # A quote may have been filled before it was cancelled.
                filled |= self.take_fills()
            self.place(quotes(book, self.tokens, self.arguments, self.account.inventory))
        if filled or time.monotonic() >= self.next_report:
            self.report()

    def place(self, wanted):
        if wanted:
            place(self.client, wanted)
        self.shown = wanted
        bids = [f"{size} {self.names[token]} at {price}" for token, price, size in wanted]
        print("quotes    ", " and ".join(bids) or "none: a side of the book is empty")
        if len(bids) == 1:
            print(f"limit      the other side would take the inventory beyond {self.arguments.max_inventory}")

    def take_fills(self):
        """Prints the new fills and counts them; returns whether there were any."""
        new = self.fills.new()
        for fill in new:
            moment = datetime.fromtimestamp(fill["time"], timezone.utc).strftime("%H:%M:%S")
            print(f"fill       {moment} {fill['side']} {fill['name']} {fill['size']} at {fill['price']}")
            self.account.apply(fill["outcome"], fill["side"], fill["size"], fill["price"], fill["fee"])
        return bool(new)

    def report(self):
        """Prints inventory and profit; the inventory is worth the last midpoint."""
        if self.middle is None:
            return
        account, name = self.account, self.names[self.tokens[0]]
        # Adding 0 makes a negative zero positive.
        profit, value = account.realised + 0, account.unrealised(self.middle) + 0
        print(f"inventory  {account.inventory:f} {name}, profit {profit:+.2f} realised, {value:+.2f} unrealised")
        self.next_report = time.monotonic() + self.arguments.report_seconds

    def cancel(self, tries=None):
        params = OrderMarketCancelParams(market=self.condition)
        return attempt(lambda: self.client.cancel_market_orders(params), tries)["canceled"]

    def stop(self):
        print("cancelled ", len(self.cancel(tries=5)), "orders")
        self.take_fills()
        self.report()


def run(client, market, arguments):
    """Quotes until the time is over or the program is asked to stop."""
    ends = time.monotonic() + arguments.seconds if arguments.seconds else float("inf")
    maker = Maker(client, market, arguments)
    try:
        while not stopping.is_set() and time.monotonic() < ends:
            maker.round()
            stopping.wait(1.0)
    finally:
        maker.stop()


def main():
    parser = argparse.ArgumentParser(description="Quotes both outcomes of one market.")
    parser.add_argument("--market", help="slug (default: the first by name)")
    parser.add_argument("--seconds", type=float, help="stop after this time (default: never)")
    parser.add_argument("--size", type=Decimal, default=Decimal(10), help="shares of each quote")
    parser.add_argument("--half-spread", type=Decimal, default=Decimal("0.02"))
    parser.add_argument("--max-inventory", type=Decimal, default=Decimal(100), help="shares (default: 100)")
    parser.add_argument("--report-seconds", type=float, default=10, help="time between reports (default: 10)")
    arguments = parser.parse_args()
    if arguments.size > arguments.max_inventory:
        allowed = f"at most --max-inventory, which is {arguments.max_inventory}"
        parser.error(f"--size is {arguments.size}, allowed: {allowed}; a larger quote would never be placed")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())

    client = ClobClient(TRADING_URL, CHAIN, key=os.environ.get("PRIVATE_KEY", DEMO_KEY))
    client.set_api_creds(attempt(client.create_or_derive_api_key))
    listed = attempt(client.get_markets)["data"]
    suitable = [
        market
        for market in listed
        if market["accepting_orders"] and arguments.market in (None, market["market_slug"])
    ]
    market = min(suitable, key=lambda market: market["market_slug"])
    print("market    ", market["question"])
    run(client, market, arguments)
    print("stopped")


if __name__ == "__main__":
    main()
