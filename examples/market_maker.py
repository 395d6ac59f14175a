#!/usr/bin/env python3
"""Quotes both outcomes of one market around the midpoint until Ctrl-C, then cancels its quotes.

    pip install py-clob-client-v2==1.2.1
    python examples/market_maker.py [--seconds 60] [--market SLUG] [--size 10] [--half-spread 0.02]

It needs collateral and no shares: a BUY of No at 0.58 is an offer of Yes at 0.42. It replaces all orders
of its wallet in that market. TRADING_URL and PRIVATE_KEY choose the exchange and the wallet; the defaults
are those of `foretell up --demo`.
"""

import argparse
import os
import re
import signal
import threading
import time
from decimal import ROUND_DOWN, Decimal

from py_clob_client_v2 import (
    ClobClient,
    OpenOrderParams,
    OrderArgs,
    OrderMarketCancelParams,
    OrderType,
    PostOrdersV2Args,
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


def quotes(book, tokens, half_spread, size):
    """A bid of each outcome, as (token, price, size); none while a side of the book is empty."""
    if not book["bids"] or not book["asks"]:
        return []
    tick = Decimal(book["tick_size"])
    middle = (Decimal(book["bids"][-1]["price"]) + Decimal(book["asks"][-1]["price"])) / 2
    yes = ((middle - half_spread) / tick).to_integral_value(ROUND_DOWN) * tick
    no = ((1 - middle - half_spread) / tick).to_integral_value(ROUND_DOWN) * tick
    prices = [min(max(price, tick), 1 - tick) for price in (yes, no)]
    return [(token, price, size) for token, price in zip(tokens, prices)]


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


def run(client, market, arguments):
    """Replaces the quotes whenever the midpoint has moved or a quote was filled."""
    condition = market["condition_id"]
    tokens = [token["token_id"] for token in market["tokens"]]
    ends = time.monotonic() + arguments.seconds if arguments.seconds else float("inf")
    mine, all_mine = OpenOrderParams(market=condition), OrderMarketCancelParams(market=condition)
    shown, beat = [], ""
    try:
        while not stopping.is_set() and time.monotonic() < ends:
            beat = heartbeat(client, beat)
            book = attempt(lambda: client.get_order_book(tokens[0]))
            wanted = quotes(book, tokens, arguments.half_spread, arguments.size)
            # What rests is asked, never remembered: a lost answer cannot leave an unknown quote.
            resting = attempt(lambda: client.get_open_orders(mine))
            if wanted != shown or len(resting) != len(wanted):
                if resting:
                    attempt(lambda: client.cancel_market_orders(all_mine))
                if wanted:
                    place(client, wanted)
                shown = wanted
                prices = " and ".join(f"{size} at {price}" for _, price, size in wanted)
                print("quotes    ", prices or "none: a side of the book is empty")
            stopping.wait(1.0)
    finally:
        gone = attempt(lambda: client.cancel_market_orders(all_mine), tries=5)["canceled"]
        print("cancelled ", len(gone), "orders")


def main():
    parser = argparse.ArgumentParser(description="Quotes both outcomes of one market.")
    parser.add_argument("--market", help="slug (default: the first by name)")
    parser.add_argument("--seconds", type=float, help="stop after this time (default: never)")
    parser.add_argument("--size", type=Decimal, default=Decimal(10), help="shares of each quote")
    parser.add_argument("--half-spread", type=Decimal, default=Decimal("0.02"))
    arguments = parser.parse_args()
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
