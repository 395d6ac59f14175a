"""Watchers of the market stream: they resume after every cut, and prove that no message is missing.

Everything a watcher sees must be in the journal in the end: a host shows nothing that a failover could take back.
"""

import asyncio
import json

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

PATIENCE = 3


class Watcher:
    """One client of the extension. `urls` take turns: one host's, or those of all hosts.

    A host that was started again has no history of before, and says so. A client of several hosts then asks the
    others; only when all have been started again it takes new books, as `snapshots` counts.
    """

    def __init__(self, name, urls, markets, ledger):
        self.name, self.urls, self.ledger = name, list(urls), ledger
        self.tokens = [token for market in markets for token in market["token_ids"]]
        self.last = {}  # sequence of the newest message, by market
        self.complete = self.stream_id = None
        self.replays, self.snapshots, self.too_old, self.failures = 0, 0, 0, []

    async def watch(self):
        """Watches until it is cancelled."""
        while True:
            self.urls.append(self.urls.pop(0))
            url = self.urls[0].replace("http", "ws", 1)
            try:
                async with connect(f"{url}/ws/market", max_size=None, open_timeout=PATIENCE, close_timeout=0.1,
                                   ping_interval=None) as link:  # fmt: skip
                    await link.send(json.dumps(self.subscription()))
                    await self.read(link)
            except (OSError, WebSocketException, TimeoutError):
                await asyncio.sleep(0.2)

    def subscription(self):
        wanted = {"type": "market", "assets_ids": self.tokens, "heartbeat_ms": 500}
        if self.complete is not None:
            wanted.update(resume_from=str(self.complete), stream_id=self.stream_id)
        return wanted

    async def read(self, link):
        """Reads until the connection is cut, or silent for longer than its heartbeats allow."""
        resuming = self.complete is not None
        while True:
            received = json.loads(await asyncio.wait_for(link.recv(), PATIENCE))
            if isinstance(received, list):  # first books
                for book in received if not resuming else ():
                    self.stream_id = book["stream_id"]
                    self.take(book)
                continue
            message = received
            kind = message["event_type"]
            if kind == "error":
                return  # this host has not reached the sequence yet
            self.stream_id = message["stream_id"]
            if kind == "resumed":
                if not self.is_resumed(message):
                    return
                resuming = False
            elif kind == "heartbeat":
                self.complete = max(self.complete or 0, int(message["sequence"]))
            elif message.get("market") and not resuming:
                self.take(message)

    def is_resumed(self, message):
        """Whether to stay at this host: it replays, or no other host does either."""
        if message["mode"] == "replay":
            self.replays, self.too_old = self.replays + 1, 0
            return True
        if message.get("reason") != "too old":
            self.failures.append(f"{self.name}: resumed from {self.complete} by {message}")
        self.too_old += 1
        if self.too_old < len(self.urls):
            return False
        self.snapshots, self.too_old, self.last = self.snapshots + 1, 0, {}
        return True

    def take(self, message):
        """Checks the chain of a market's messages, and keeps its trades."""
        market, sequence = message["market"], int(message["sequence"])
        last = self.last.get(market)
        if last is not None and int(message.get("prev_sequence", last)) > last:
            self.failures.append(f"{self.name}: messages of {market} are missing: {message['prev_sequence']} after {last}")
        self.last[market] = max(last or 0, sequence)
        self.complete = max(self.complete or 0, sequence - 1)
        if message["event_type"] == "last_trade_price":
            self.ledger.note_trade_seen(sequence, message["transaction_hash"])
