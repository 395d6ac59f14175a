#!/usr/bin/env python3
"""Keeps the books of one market from the market stream, and proves them.

    pip install websockets==15.0.1
    python examples/stream_book.py [--seconds 30] [--market SLUG]

Each message carries the hash of the whole book after it; each is compared with the hash of the book kept here.
At the end the books are compared with `GET /book` at the same sequence. A broken connection is resumed: no
message is lost. TRADING_URL chooses the exchange; the default is that of `foretell up --demo`.
"""

import argparse
import hashlib
import json
import os
import time
import urllib.request
from decimal import Decimal

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

TRADING_URL = os.environ.get("TRADING_URL", "http://127.0.0.1:8080")
BOOK_KEYS = ("market", "asset_id", "timestamp", "hash", "bids", "asks")
BOOK_KEYS += ("min_order_size", "tick_size", "neg_risk", "last_trade_price")


def read(path):
    """A JSON answer, and the sequence of the state that it shows."""
    with urllib.request.urlopen(TRADING_URL + path, timeout=30) as answer:
        return json.load(answer), int(answer.headers["x-sequence"])


def mirrored(price):
    """The price of the other token."""
    return format((1 - Decimal(price)).normalize(), "f")


class Book:
    """The book of one token, folded from messages."""

    def __init__(self, message):
        self.fields = {key: message[key] for key in BOOK_KEYS}
        self.sides = {
            side: {Decimal(level["price"]): level["size"] for level in message[name]}
            for side, name in (("BUY", "bids"), ("SELL", "asks"))
        }

    def apply(self, change, timestamp):
        """Sets the new total of a level; zero removes it."""
        level, levels = Decimal(change["price"]), self.sides[change["side"]]
        levels.pop(level, None)
        if change["size"] != "0":
            levels[level] = change["size"]
        self.fields["timestamp"] = timestamp

    def levels(self, side):
        """Levels as `GET /book` has them: the best one is the last."""
        ordered = sorted(self.sides[side].items(), reverse=side == "SELL")
        return [{"price": format(price.normalize(), "f"), "size": size} for price, size in ordered]

    def hash(self):
        """SHA-1 of the compact JSON with an empty hash."""
        shown = {**self.fields, "hash": "", "bids": self.levels("BUY"), "asks": self.levels("SELL")}
        text = json.dumps(shown, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha1(text.encode()).hexdigest()

    def top(self):
        bids, asks = self.levels("BUY"), self.levels("SELL")
        return f"{bids[-1]['price'] if bids else 'none'} / {asks[-1]['price'] if asks else 'none'}"


class Stream:
    """The messages of a market's tokens, over as many connections as it takes."""

    def __init__(self, tokens):
        self.tokens, self.books = tokens, {}
        self.proved = {token: [] for token in tokens}  # (sequence, hash), ascending
        self.link = self.stream_id = None
        self.last = 0  # sequence of the newest message of the market
        self.complete = None  # everything up to this sequence was received
        self.messages = self.resumes = 0
        self.connect()

    def connect(self):
        """Subscribes; after an earlier connection with what it received."""
        wanted = {"type": "market", "assets_ids": self.tokens, "heartbeat_ms": 500}
        if self.complete is not None:
            wanted.update(resume_from=str(self.complete), stream_id=self.stream_id)
            self.resumes += 1
        while True:
            try:
                self.link = connect(TRADING_URL.replace("http", "ws", 1) + "/ws/market", max_size=None)
                self.link.send(json.dumps(wanted))
                return
            except (OSError, WebSocketException) as problem:
                print("waiting   ", problem)
                time.sleep(1)

    def receive(self, timeout):
        """Reads and applies one message, or an array of them, if there is one in time."""
        try:
            received = json.loads(self.link.recv(timeout))
        except ConnectionClosed as end:
            print("resuming  ", end)
            return self.connect()
        except TimeoutError:
            return
        for message in received if isinstance(received, list) else [received]:
            self.messages += 1
            self.stream_id = message["stream_id"]
            if message["event_type"] == "heartbeat":
                self.complete = int(message["sequence"])
            elif message.get("market") and int(message["sequence"]) >= self.last:
                self.apply(message)

    def apply(self, message):
        """Applies a message of the market that is no repeat of an older one."""
        sequence = int(message["sequence"])
        previous = int(message.get("prev_sequence", self.last))
        if message["event_type"] == "book":
            self.books[message["asset_id"]] = Book(message)
            self.prove(message["asset_id"], message["hash"], sequence)
        else:
            assert previous <= self.last, f"messages are missing between {self.last} and {previous}"
            self.change(message, sequence)
        self.last = max(self.last, sequence)
        self.complete = max(self.complete or 0, sequence - 1)

    def change(self, message, sequence):
        if message["event_type"] == "last_trade_price":
            for token, book in self.books.items():
                same = token == message["asset_id"]
                book.fields["last_trade_price"] = message["price"] if same else mirrored(message["price"])
        elif message["event_type"] == "price_change":
            for change in message["price_changes"]:
                self.books[change["asset_id"]].apply(change, message["timestamp"])
            for token, expected in {change["asset_id"]: change["hash"] for change in message["price_changes"]}.items():
                self.prove(token, expected, sequence)

    def prove(self, token, expected, sequence):
        assert self.books[token].hash() == expected, f"the book of {token} is wrong at sequence {sequence}"
        self.proved[token].append((sequence, expected))


def main():
    parser = argparse.ArgumentParser(description="Keeps the books of one market and proves them.")
    parser.add_argument("--market", help="slug (default: the first by name)")
    parser.add_argument("--seconds", type=float, default=30, help="time to follow the market (default: 30)")
    arguments = parser.parse_args()

    listed = [market for market in read("/markets")[0]["data"] if market["accepting_orders"]]
    suitable = [market for market in listed if arguments.market in (None, market["market_slug"])]
    market = min(suitable, key=lambda market: market["market_slug"])
    tokens = {token["token_id"]: token["outcome"] for token in market["tokens"]}
    print("market    ", market["question"])

    stream, shown, ends = Stream(list(tokens)), {}, time.monotonic() + arguments.seconds
    while time.monotonic() < ends:
        stream.receive(timeout=1)
        for token, book in stream.books.items():
            if shown.get(token) != book.top():
                shown[token] = book.top()
                print("book      ", f"{tokens[token]}: {book.top()}", flush=True)

    for token, outcome in tokens.items():
        answer, reached = read(f"/book?token_id={token}")
        while (stream.complete or 0) < reached:
            stream.receive(timeout=1)
        proved = [expected for sequence, expected in stream.proved[token] if sequence <= reached]
        assert proved[-1] == answer["hash"], f"{outcome}: GET /book differs at sequence {reached}"
        print("compared  ", f"{outcome}: GET /book is the same at sequence {reached}")
    hashes = sum(map(len, stream.proved.values()))
    print("checked   ", f"{stream.messages} messages, {hashes} hashes, {stream.resumes} resumes")


if __name__ == "__main__":
    main()
