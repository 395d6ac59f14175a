#!/usr/bin/env python3
"""Quotes both outcomes of one market in signed sets until Ctrl-C, then ends its quotes.

    pip install py-clob-client-v2==1.2.1 websockets==15.0.1
    python examples/quote_maker.py [--seconds 60] [--market SLUG] [--levels 3] [--size 10] [--half-spread 0.02]

One signature moves all quotes, with nothing between the old ones and the new ones. A lease ends them when this
program does not renew it, and limits end them when too much is filled. It learns of its fills on /ws/user, and
says in each set which it knows: what an unknown fill took is not offered again. It needs collateral and no
shares. TRADING_URL and PRIVATE_KEY choose the exchange and the wallet; the defaults are those of
`foretell up --demo`.
"""

import argparse
import json
import os
import signal
import time
import urllib.request
from decimal import ROUND_DOWN, Decimal
from urllib.error import HTTPError

from py_clob_client_v2 import ClobClient
from py_clob_client_v2.clob_types import RequestArgs
from py_clob_client_v2.headers.headers import create_level_2_headers
from quote_set import BUY, NO, NO_BUILDER, YES, sign, word
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

TRADING_URL = os.environ.get("TRADING_URL", "http://127.0.0.1:8080")
# A public development key: anybody can use it. Never send anything of value to its address.
DEMO_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
KEY = os.environ.get("PRIVATE_KEY", DEMO_KEY)
CHAIN = int(os.environ.get("CHAIN_ID", "80002"))
GROUP = 0
LEASE_MS, WINDOW_MS, VALID_MS = 5_000, 1_000, 3_600_000
# What a later attempt may change: catching up, rate limit, busy or unavailable. The lease ends the quotes meanwhile.
TEMPORARY = {425, 429, 503}

stopping = False


def stop(*_):
    global stopping
    stopping = True


class Refused(Exception):
    """An answer that is an error: its status and code."""

    def __init__(self, answer):
        super().__init__(answer.read().decode())
        self.status, self.code = answer.status, answer.headers["x-error-code"]


class Maker:
    """A wallet's quotes in one market."""

    def __init__(self, market):
        self.client = ClobClient(TRADING_URL, CHAIN, key=KEY)
        self.client.set_api_creds(self.client.create_or_derive_api_key())
        self.condition = market["condition_id"]
        self.domain = self.call("GET", "/quotes/domain")
        self.revision = 0
        self.link = self.stream_id = self.seen = None
        self.connect()
        while self.seen is None:
            self.receive(1)

    def call(self, method, path, body=None):
        """Sends a request that the API key signs."""
        text = None if body is None else json.dumps(body)
        signed = RequestArgs(method=method, request_path=path, body=body, serialized_body=text)
        headers = create_level_2_headers(self.client.signer, self.client.creds, signed)
        headers["Content-Type"] = "application/json"
        data = text and text.encode()
        request = urllib.request.Request(TRADING_URL + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except HTTPError as problem:
            raise Refused(problem) from None

    def limit(self, shares):
        """Sets the lease, and what may be filled in a second before the quotes end."""
        limits = {"lease_ms": LEASE_MS, "window_ms": WINDOW_MS, "shares": str(shares), "reset": True}
        self.call("PUT", f"/quotes/groups/{GROUP}", limits)

    def quote(self, quotes):
        """Replaces the quotes; the answer says what became of each."""
        now = time.time_ns() // 1_000_000
        # Rises with the clock, so that a maker that starts again needs no memory.
        self.revision = max(self.revision + 1, now * 1_000)
        fields = {
            "maker": self.client.get_address(),
            "signer": self.client.get_address(),
            "signatureType": 0,
            "group": GROUP,
            "revision": self.revision,
            "seen": self.seen,
            "timestamp": now,
            "validUntil": now + VALID_MS,
            "builder": NO_BUILDER,
            "conditions": [self.condition],
            "quotes": [word(*quote) for quote in quotes],
        }
        body, _ = sign(KEY, self.domain, fields)
        return self.call("POST", "/quotes", body)

    def renew(self):
        """Renews the lease; False when no quote is live."""
        try:
            self.call("POST", "/quotes/heartbeat", {"group": GROUP, "revision": str(self.revision)})
        except Refused as problem:
            if problem.code != "no_live_quotes":
                raise
            return False
        return True

    def connect(self):
        """Subscribes to the own fills; after an earlier connection from what was seen on."""
        creds = self.client.creds
        auth = {"apiKey": creds.api_key, "secret": creds.api_secret, "passphrase": creds.api_passphrase}
        wanted = {"type": "user", "auth": auth, "heartbeat_ms": 1_000}
        if self.seen is not None:
            wanted.update(resume_from=str(self.seen), stream_id=self.stream_id)
        self.link = connect(TRADING_URL.replace("http", "ws", 1) + "/ws/user")
        self.link.send(json.dumps(wanted))

    def receive(self, timeout):
        """Reads one message, if there is one in time; whether it is a fill."""
        try:
            message = json.loads(self.link.recv(timeout))
        except TimeoutError:
            return False
        except ConnectionClosed:
            self.connect()
            return False
        kind, sequence = message["event_type"], int(message["sequence"])
        is_fill = kind == "trade" and message["status"] == "MATCHED"
        if is_fill:
            for order in message["maker_orders"]:
                print("filled    ", f"{order['outcome']} {order['matched_amount']} at {order['price']}", flush=True)
        # A heartbeat comes after every message up to its sequence; after another one more of its command may follow.
        if kind == "heartbeat" or kind == "subscribed" and self.seen is None:
            self.seen = max(sequence, self.seen or 0)
        elif self.seen is not None:
            self.seen = max(sequence - 1, self.seen)
        self.stream_id = message["stream_id"]
        return is_fill

    def wait(self, seconds):
        """Reads messages for some time, or until the last of some fills."""
        ends, filled = time.monotonic() + seconds, False
        while not filled and not stopping and time.monotonic() < ends:
            filled = self.receive(max(0, ends - time.monotonic()))
        while self.receive(0):
            pass
        return filled


def read(path):
    with urllib.request.urlopen(TRADING_URL + path, timeout=10) as answer:
        return json.load(answer)


def ladder(book, arguments):
    """Bids of both outcomes around the midpoint; none while a side of the book is empty."""
    if not book["bids"] or not book["asks"]:
        return []
    tick = Decimal(book["tick_size"])
    middle = (Decimal(book["bids"][-1]["price"]) + Decimal(book["asks"][-1]["price"])) / 2
    quotes = []
    for outcome, best in ((YES, middle - arguments.half_spread), (NO, 1 - middle - arguments.half_spread)):
        best = (best / tick).to_integral_value(ROUND_DOWN) * tick
        prices = [best - level * tick for level in range(arguments.levels)]
        quotes += [(outcome, BUY, price, arguments.size) for price in prices if price >= tick]
    return quotes


def run(maker, token, arguments):
    """Quotes anew when the midpoint has moved or a quote was filled, and renews the lease otherwise."""
    shown, ends = None, time.monotonic() + (arguments.seconds or float("inf"))
    try:
        while not stopping and time.monotonic() < ends:
            try:
                wanted = ladder(read(f"/book?token_id={token}"), arguments)
                if wanted != shown or wanted and not maker.renew():
                    answer = maker.quote(wanted)
                    counts = (f"{answer[name]} {name}" for name in ("kept", "reduced", "placed", "ended"))
                    print("quotes    ", ", ".join(counts), flush=True)
                    for refused in answer["refused"]:
                        # Such as a quote that would trade, or a fill that is not seen yet: the next round quotes again.
                        print("refused   ", f"quote {refused['quote']}: {refused['error']}", flush=True)
                    shown = None if answer["refused"] else wanted
                if maker.wait(1):
                    shown = None
            except (Refused, OSError, WebSocketException) as problem:
                # A reached limit is for a human to look at.
                if isinstance(problem, Refused) and problem.status not in TEMPORARY:
                    raise
                print("waiting   ", problem, flush=True)
                shown = None
                time.sleep(1)
    finally:
        print("ended     ", maker.quote([])["ended"], "quotes")


def main():
    parser = argparse.ArgumentParser(description="Quotes both outcomes of one market in signed sets.")
    parser.add_argument("--market", help="slug (default: the first by name)")
    parser.add_argument("--seconds", type=float, help="stop after this time (default: never)")
    parser.add_argument("--levels", type=int, default=3, help="prices of each outcome")
    parser.add_argument("--size", type=Decimal, default=Decimal(10), help="shares of each quote")
    parser.add_argument("--half-spread", type=Decimal, default=Decimal("0.02"))
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)

    listed = [market for market in read("/markets")["data"] if market["accepting_orders"]]
    suitable = [market for market in listed if arguments.market in (None, market["market_slug"])]
    market = min(suitable, key=lambda market: market["market_slug"])
    print("market    ", market["question"])
    maker = Maker(market)
    maker.limit(2 * arguments.levels * arguments.size)
    run(maker, market["tokens"][0]["token_id"], arguments)
    print("stopped")


if __name__ == "__main__":
    main()
