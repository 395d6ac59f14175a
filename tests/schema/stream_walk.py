"""A walk through both stream channels: every message is held against the AsyncAPI document.

Connections of both channels look on while wallets trade and the operator changes markets. Every message that the
document says the server sends must be seen, and must be found wrong with a field too many or too few. The books
that stock clients keep are proved by their hashes on the way.
"""

import hashlib
import json
import sys
import time

from websockets.sync.client import connect

from exchange import ALICE, BOB, L2, URLS, Token, Wallet, operate
from streams import Document
from surface import Surface

PATIENCE = 30
BOOK = ("market", "asset_id", "timestamp", "hash", "bids", "asks")
BOOK += ("min_order_size", "tick_size", "neg_risk", "last_trade_price")


class Connection:
    """One connection; it holds what it reads against the document."""

    def __init__(self, document, channel, **subscription):
        self.document, self.channel = document, channel
        self.link = connect(f"{URLS['trading'].replace('http', 'ws', 1)}/ws/{channel}", max_size=None)
        self.read, self.held = [], []
        if subscription:
            self.send(type=channel, **subscription)

    def send(self, **fields):
        self.link.send(json.dumps(fields))

    def until(self, kind, **fields):
        """Reads on to a message of a type and with these fields; returns all messages read on the way."""
        passed, deadline = [], time.monotonic() + PATIENCE
        while True:
            if not self.held:
                text = self.link.recv(max(0.0, deadline - time.monotonic()))
                self.held += self.document.hold(self.channel, text)
            message = self.held.pop(0)
            passed.append(message)
            if message == kind or not isinstance(message, str) and fits(message, event_type=kind, **fields):
                self.read += passed
                return passed

    def last(self, kind, **fields):
        return self.until(kind, **fields)[-1]


def fits(message, **fields):
    return all(message.get(name) == value for name, value in fields.items())


def prove(book):
    """A `book` proves itself: its hash is that of its own fields."""
    shown = {**{key: book[key] for key in BOOK}, "hash": ""}
    text = json.dumps(shown, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha1(text.encode()).hexdigest() == book["hash"], f"the hash of {text} is not {book['hash']}"


class Walk:
    """The steps, each using what the ones before it left."""

    def __init__(self):
        self.document, self.trading = Document(), Surface("trading")
        self.alice, self.bob = (Wallet(key).connect() for key in (ALICE, BOB))
        for wallet in (self.alice, self.bob):
            operate("account", "deposit", wallet.address, "5000")

    def all(self):
        for step in (self.registration, self.subscriptions, self.trades, self.withdrawal, self.changes, self.resumes, self.modes):
            step()
            print(f"   {step.__name__}", flush=True)

    def registration(self):
        """A new market."""
        watcher = Connection(self.document, "market", assets_ids=[], custom_feature_enabled=True)
        watcher.link.send("ping")
        watcher.until("PONG")
        now, operator, token = time.time_ns(), Surface("operator"), Token()
        command = lambda path, body: operator.post(path, body, auth=token)
        self.market, self.yes, self.no = f"0x{now:064x}", str(now), str(now + 1)
        texts = {"question": "Will it snow in Harbour City?", "slug": f"snow-{now}"}
        command("/markets", {"condition_id": self.market, "token_ids": [self.yes, self.no], **texts})
        new = watcher.last("new_market", market=self.market)
        assert new["question"] == texts["question"] and new["slug"] == texts["slug"], new

    def subscriptions(self):
        """A stock client, one of the extension, and both wallets."""
        both = [self.yes, self.no]
        self.stock = Connection(self.document, "market", assets_ids=both, custom_feature_enabled=True)
        for _ in both:
            prove(self.stock.last("book"))
        self.extended = Connection(self.document, "market", assets_ids=[*both, "7"], heartbeat_ms=500, acks=True)
        subscribed = self.extended.last("subscribed")
        assert fits(subscribed, assets="2", unknown=["7"], heartbeat_ms="500", conflate_ms="0"), subscribed
        self.before = self.extended.last("heartbeat")["sequence"]
        self.makers, self.takers = (self.user(wallet) for wallet in (self.alice, self.bob))
        for connection in (self.makers, self.takers):
            connection.link.send("PING")
            connection.until("PONG")

    def user(self, wallet, **more):
        trio = {name: wallet.trio[name] for name in ("apiKey", "secret", "passphrase")}
        connection = Connection(self.document, "user", auth=trio, acks=True, **more)
        connection.until("subscribed")
        return connection

    def post(self, wallet, token, cents, size, **more):
        order = wallet.order(token, "BUY", size * cents * 10_000, size * 1_000_000, **more)
        return self.trading.post("/order", order, auth=L2(wallet))["orderID"]

    def trades(self):
        """A resting order, one that takes a part of it, and a cancel."""
        resting = self.post(self.alice, self.yes, 50, 20)
        self.makers.until("order", id=resting, type="PLACEMENT", status="LIVE")
        taking = self.post(self.bob, self.no, 50, 10)
        self.stock.until("last_trade_price", asset_id=self.no, size="10")
        self.stock.until("price_change")
        for _ in (self.yes, self.no):
            prove(self.stock.last("book"))
        self.makers.until("trade", status="CONFIRMED", trader_side="MAKER")
        self.takers.until("order", id=taking, type="PLACEMENT")
        self.takers.until("order", id=taking, type="UPDATE", status="MATCHED")
        self.takers.until("trade", status="CONFIRMED", trader_side="TAKER")
        self.trading.delete("/order", {"orderID": resting}, auth=L2(self.alice))
        self.makers.until("order", id=resting, type="CANCELLATION", status="CANCELED")
        self.stock.until("best_bid_ask", asset_id=self.yes, best_bid="0")

    def withdrawal(self):
        """A withdrawal is asked for and cancelled."""
        domain, now = self.trading.get("/withdrawals/domain"), time.time_ns()
        body = self.alice.withdrawal(domain, 5, f"rent {now}", now // 1_000_000 + 600_000)
        number = self.trading.post("/withdrawals", body, auth=L2(self.alice))["withdrawal"]
        self.makers.until("withdrawal", withdrawal=number, status="requested")
        self.trading.delete("/withdrawals/{number}", auth=L2(self.alice), number=number)
        self.makers.until("withdrawal", withdrawal=number, status="cancelled")

    def changes(self):
        """The market gets another tick and minimum size, is paused, resumed, closed, disputed and resolved."""
        operate("market", "tick", self.market, "0.001")
        self.stock.until("tick_size_change", asset_id=self.no, old_tick_size="0.01", new_tick_size="0.001")
        prove(self.stock.last("book", tick_size="0.001"))
        operate("market", "minimum-size", self.market, "1")
        prove(self.stock.last("book", min_order_size="1"))
        operate("market", "terms", self.market, "--rebate-ppm", "250000")
        terms = self.extended.until("market_status", state="active")[-1]["terms"]
        assert terms["rebate_ppm"] == "250000" and "closes_at" not in terms, terms
        operate("market", "pause", self.market)
        self.extended.until("market_status", state="paused")
        operate("market", "resume", self.market)
        operate("market", "close", self.market)
        self.extended.until("market_status", state="closed")
        proposed = operate("market", "propose", self.market, "no", "--source", "https://news.example/snow")
        self.extended.until("market_status", state="proposed", payout="no")
        operate("market", "dispute", self.market, "--counter", "yes", "--reason", "it snowed at night")
        self.extended.until("market_status", state="disputed", counter="yes")
        operate("market", "resolve", self.market, "yes", "--proposal", str(proposed["sequence"]))
        for stage in ("resolved", "settled"):
            self.extended.until("market_status", state=stage)
        resolved = self.stock.last("market_resolved", market=self.market)
        assert fits(resolved, winning_asset_id=self.yes, winning_outcome="Yes", payouts=["1", "0"]), resolved

    def resumes(self):
        """Another connection continues where the first one began, and reads the same; one of another history does not."""
        chain = lambda messages: [
            {name: value for name, value in message.items() if name != "server_ts_ms"}
            for message in messages
            if "prev_sequence" in message
        ]
        stream = self.extended.read[-1]["stream_id"]
        wanted = {"assets_ids": [self.yes, self.no], "resume_from": self.before}
        again = Connection(self.document, "market", **wanted, stream_id=stream)
        replayed = again.until("market_status", state="settled")
        assert [message["mode"] for message in replayed if message["event_type"] == "resumed"] == ["replay"]
        assert chain(replayed) == chain(self.extended.read), "a replay differs from what was sent first"
        other = Connection(self.document, "market", **wanted, stream_id=16 * "0")
        other.until("resumed", mode="snapshot", reason="other stream")
        other.until("book")
        own = self.user(self.alice, resume_from=self.before, stream_id=stream)
        own.until("order", type="CANCELLATION")
        assert own.read[0]["channel"] == "user" and any(fits(message, mode="replay") for message in own.read)

    def modes(self):
        """The mode of the exchange, and a message that is none."""
        for connection in (self.extended, self.makers):
            connection.send(operation="resubscribe")
            connection.until("error", code="unknown_operation")
            connection.send(heartbeat_ms=500)
            connection.until("heartbeat")
        operate("system", "mode", "post-only")
        for connection in (self.extended, self.makers):
            connection.until("system_status", state="post_only")
        operate("system", "mode", "running")


def main():
    walk = Walk()
    walk.all()
    document = walk.document
    unseen, loose = document.never_seen(), list(document.loose())
    for line in unseen:
        print(f"never seen: {line}", file=sys.stderr)
    for line in loose:
        print(f"the document takes a wrong message: {line}", file=sys.stderr)
    print(f"{document.seen.total()} messages of {len(document.seen)} kinds held against the document")
    return 1 if unseen or loose else 0


if __name__ == "__main__":
    sys.exit(main())
