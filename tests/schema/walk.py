"""A walk through every endpoint of the surfaces and the page: each answer is held against its document.

Random requests mostly meet refusals. Here wallets trade, hold, redeem and look, so that a good answer
of every operation is seen, with rows where there are lists. Each of them must also be found wrong
with a field too many or too few: a document that lets everything through proves nothing.
"""

import secrets
import sys
import time
from pathlib import Path

import requests

from exchange import ALICE, BOB, DAVE, L1, L2, SURFACES, ZERO, Token, Wallet, operate, word
from life import Life
from people import People
from surface import DOCUMENTS, Surface

NOBODY = "0x" + 40 * "0"
BUILDER = "0x" + 24 * "0" + 40 * "b"


def eventually(look, holds):
    """Looks until what is seen holds: reads are milliseconds behind what was acknowledged."""
    deadline = time.monotonic() + 60
    while not holds(seen := look()):
        assert time.monotonic() < deadline, f"still {seen}"
        time.sleep(0.1)
    return seen


def accepted(answer):
    """Whether an operator's command was applied."""
    return answer.get("success", False)


class Walk:
    """The steps, each using what the ones before it left."""

    def __init__(self):
        self.trading, self.data, self.catalog, self.operator, self.page = self.surfaces = [Surface(name) for name in SURFACES]
        self.bearer = Token()
        self.alice, self.bob = (Wallet(key).connect() for key in (ALICE, BOB))
        for wallet in (self.alice, self.bob):
            operate("account", "deposit", wallet.address, "5000")

    def all(self):
        for step in (
            self.health,
            self.keys,
            self.markets,
            self.orders,
            self.prices,
            self.own,
            self.refusals,
            self.replaces,
            self.decreases,
            self.quotes,
            self.cancels,
            self.heartbeats,
            self.positions,
            self.modes,
            self.wallets,
            self.records,
            self.checkpoints,
            self.accounts,
            self.withdrawals,
            self.registrations,
            self.people,
            self.life,
            self.views,
            self.system,
            self.sandbox,
            self.limits,
        ):
            step()
            print(f"   {step.__name__}", flush=True)

    def health(self):
        for surface in (self.trading, self.data, self.catalog):
            surface.get("/")
            surface.get("/ok")
        for surface in (self.trading, self.data, self.catalog, self.operator):
            surface.get("/openapi.json")
            committed = (DOCUMENTS / f"{surface.name}.json").read_bytes()
            for encoding in ("identity", "gzip"):
                headers = {"Accept-Encoding": encoding}
                served = requests.get(surface.url + "/openapi.json", headers=headers, timeout=60)
                assert served.headers.get("Content-Encoding", "identity") == encoding, surface.name
                assert served.content == committed, surface.name
        assert self.data.get("/") == {"data": "OK"}
        self.trading.get("/time")
        self.trading.get("/version")

    def checkpoints(self):
        eventually(lambda: self.trading.get("/audit/checkpoints")["data"], bool)
        self.trading.get("/audit/checkpoint")
        self.trading.get("/audit/checkpoints", 400, query={"next_cursor": "LTE="})

    def keys(self):
        trading, signed = self.trading, L2(self.alice)
        trading.post("/auth/api-key", auth=L1(self.alice))
        trading.get("/auth/derive-api-key", auth=L1(self.alice))
        trading.get("/auth/derive-api-key", 404, auth=L1(Wallet(ALICE, 77)))
        trading.post("/auth/api-key", status=401)
        leaving = Wallet(DAVE, 1_000_000 + int(time.time())).connect()
        trading.delete("/auth/api-key", {"cancel": True}, auth=L2(leaving))
        trading.post("/auth/api-key", status=400, auth=L1(leaving))
        trading.get("/auth/api-keys", auth=signed)
        trading.get("/auth/api-keys", auth=L2(Wallet(DAVE).connect()), query={"metadata": "true"})
        key = trading.post("/auth/readonly-api-key", auth=signed)["apiKey"]
        trading.get("/auth/readonly-api-keys", auth=signed)
        reader = {"SERVICE_ADDRESS": self.alice.address, "SERVICE_READONLY_API_KEY": key}
        trading.get("/auth/ban-status/closed-only", headers=reader)
        trading.delete("/orders", [], 401, headers=reader)
        trading.delete("/auth/readonly-api-key", {"key": key}, auth=signed)
        trading.delete("/auth/readonly-api-key", {"key": "00000000-0000-4000-8000-000000000000"}, 404, auth=signed)
        stranger = Wallet(f"0x{secrets.token_hex(32)}").connect()
        trading.delete("/auth/api-keys", auth=L2(stranger))

    def markets(self):
        trading = self.trading
        listed = trading.get("/markets")["data"]
        for path in ("/simplified-markets", "/sampling-markets", "/sampling-simplified-markets"):
            trading.get(path)
        trading.get("/markets", 400, query={"next_cursor": "LTE="})
        for market in listed:
            condition, token = market["condition_id"], market["tokens"][0]["token_id"]
            trading.get("/markets/{condition_id}", condition_id=condition)
            trading.get("/clob-markets/{condition_id}", condition_id=condition)
            trading.get("/markets-by-token/{token_id}", token_id=token)
            for path in ("/tick-size", "/neg-risk", "/fee-rate"):
                trading.get(f"{path}/{{token_id}}", token_id=token)
                trading.get(path, query={"token_id": token})
        trading.get("/markets/{condition_id}", 404, condition_id="0x" + 64 * "1")
        trading.get("/tick-size", 404, query={"token_id": "7"})
        trading.get("/fees/builder-fees/{builder}", builder=BUILDER)
        plain = [
            market
            for market in listed
            if not market["neg_risk"] and market["minimum_tick_size"] == 0.01 and market["taker_base_fee"] == 0
        ]
        self.market, self.ending = plain[0], plain[1]
        self.token, self.other = (token["token_id"] for token in self.market["tokens"])
        self.neg_risk = next(market for market in listed if market["neg_risk"])

    def buy(self, wallet, token, cents, size, **more):
        """A submission to buy shares at a price in cents."""
        return wallet.order(token, "BUY", size * cents * 10_000, size * 1_000_000, **more)

    def orders(self):
        trading, alice, bob = self.trading, L2(self.alice), L2(self.bob)
        later = str(int(time.time()) + 9_000)
        resting = self.buy(self.alice, self.token, 50, 20, builder=BUILDER)
        self.order = trading.post("/order", resting, auth=alice)["orderID"]
        assert trading.post("/order", resting, auth=alice)["duplicate"]
        matched = trading.post("/order", self.buy(self.bob, self.other, 50, 10), auth=bob)
        assert matched["status"] == "matched"
        self.taken = matched["orderID"]
        results = trading.post(
            "/orders",
            [
                self.buy(self.alice, self.token, 45, 10),
                self.buy(self.bob, self.token, 44, 10),
                self.buy(self.alice, self.other, 40, 10, terms={"orderType": "GTD"}, expiration=later),
            ],
            auth=alice,
        )
        assert [result["status"] for result in results] == ["live", "", "live"]

    def prices(self):
        trading, one = self.trading, {"token_id": self.token}
        both = [one, {"token_id": self.other, "side": "BUY"}, {"token_id": "7"}]
        eventually(lambda: trading.get("/book", query=one), lambda book: book["bids"] and book["asks"])
        trading.get("/book", 404, query={"token_id": "7"})
        trading.get("/book", 400, query={"token_id": "x"})
        trading.get("/book", query={"token_id": f"{self.market['condition_id']}:1"})
        trading.post("/books", both)
        trading.get("/price", query={**one, "side": "BUY"})
        for path in ("/midpoint", "/spread", "/last-trade-price"):
            trading.get(path, query=one)
        quiet = {"token_id": self.ending["tokens"][0]["token_id"]}
        assert trading.get("/last-trade-price", query=quiet) == {"price": "0.5", "side": ""}
        for path in ("/prices", "/midpoints", "/spreads", "/last-trades-prices"):
            trading.post(path, both)
        named = {"token_ids": f"{self.token},{self.other},7"}
        for path in ("/books", "/prices", "/midpoints", "/spreads", "/last-trades-prices"):
            trading.get(path, query=named)
            trading.get(path, 400)
        for path in ("/books", "/prices"):
            trading.get(path, query={**named, "sides": "BUY,SELL,BUY"})
            trading.get(path, 400, query={**named, "sides": "BUY"})
        for path in ("/live-activity/events/{condition_id}", "/markets/live-activity/{condition_id}"):
            assert trading.get(path, condition_id=self.market["condition_id"])
            trading.get(path, 404, condition_id="0x" + 64 * "1")
        hour = int(time.time()) - 3_600
        trading.get("/prices-history", query={"market": self.token, "interval": "1h"})
        trading.get("/prices-history", query={"market": self.token, "startTs": hour})
        trading.get("/prices-history", 400, query={"market": self.token})
        trading.post("/batch-prices-history", {"markets": [self.token, "7"], "start_ts": hour, "fidelity": 1})
        trading.post("/batch-prices-history", {"markets": []}, 400)
        reached = int(requests.get(trading.url + "/book", params=one, timeout=60).headers["x-sequence"])
        trading.get("/book", query=one, headers={"x-min-sequence": str(reached)})
        trading.get("/midpoint", 503, query=one, headers={"x-min-sequence": str(reached + 9_000)})
        trading.get("/book", 400, query=one, headers={"x-min-sequence": str(reached + 9_000_000)})

    def own(self):
        trading, alice, bob = self.trading, L2(self.alice), L2(self.bob)
        trading.get("/data/orders", auth=alice)
        trading.get("/data/orders", auth=alice, query={"market": self.market["condition_id"], "asset_id": self.token})
        trading.get("/data/orders", 401)
        for wallet, order in ((alice, self.order), (bob, self.taken)):
            trading.get("/data/order/{id}", auth=wallet, id=order)
        trading.get("/data/order/{id}", 404, auth=bob, id=self.order)
        for wallet in (alice, bob):
            assert trading.get("/data/trades", auth=wallet)["count"]
        assert trading.get("/builder/trades")
        trading.get("/builder/trades", query={"builder_code": BUILDER})
        trading.get("/data/pre-migration-orders", auth=alice)
        for path in ("/balance-allowance", "/balance-allowance/update"):
            trading.get(path, auth=alice, query={"asset_type": "COLLATERAL", "signature_type": 0})
            trading.get(path, auth=alice, query={"asset_type": "CONDITIONAL", "token_id": self.token})
        trading.get("/balance-allowance", 400, auth=alice)
        trading.get("/order-scoring", auth=alice, query={"order_id": self.order})
        trading.post("/orders-scoring", [self.order], auth=alice)
        trading.get("/notifications", auth=alice)
        trading.delete("/notifications", auth=alice)

    def refusals(self):
        trading, bob = self.trading, L2(self.bob)
        crossing = self.buy(self.bob, self.other, 55, 10, terms={"postOnly": True})
        killed = self.buy(self.bob, self.other, 55, 9_000, terms={"orderType": "FOK"})
        nothing = self.buy(self.bob, self.token, 5, 100, terms={"orderType": "FAK"})
        broken = self.buy(self.bob, self.token, 40, 10)
        broken["order"]["signature"] = "0x" + 130 * "1"
        for order in (crossing, killed, nothing, broken, {"order": {}, "owner": ""}, {}):
            trading.post("/order", order, 400, auth=bob)
        trading.post("/orders", [], 400, auth=bob)
        trading.post("/order", crossing, 401)

    def replaces(self):
        """Cancels and orders that are applied together."""
        trading, alice = self.trading, L2(self.alice)
        old = trading.post("/order", self.buy(self.alice, self.token, 20, 10), auth=alice)["orderID"]
        wanted = {"cancel": [old, ZERO], "place": [self.buy(self.alice, self.token, 21, 10)]}
        answer = trading.post("/replace", wanted, auth=alice)
        assert answer["canceled"] == [old] and list(answer["not_canceled"]) == [ZERO], answer
        assert [order["status"] for order in answer["orders"]] == ["live"], answer
        careful = {"cancel": [old], "place": [self.buy(self.alice, self.token, 22, 10)], "if_all_canceled": True}
        answer = trading.post("/replace", careful, auth=alice)
        assert not answer["canceled"] and not answer["orders"][0]["success"], answer
        trading.post("/replace", {}, 400, auth=alice)
        trading.post("/replace", {"place": [{"order": {}, "owner": ""}]}, 400, auth=alice)
        trading.post("/replace", wanted, 401)

    def decreases(self):
        """A resting order that gets smaller, and one that ends."""
        trading, alice, bob = self.trading, L2(self.alice), L2(self.bob)
        order = trading.post("/order", self.buy(self.alice, self.token, 20, 10), auth=alice)["orderID"]
        smaller = {"orderID": order, "remaining": "6"}
        assert trading.post("/order/decrease", smaller, auth=alice)["status"] == "LIVE"
        trading.post("/order/decrease", smaller, 409, auth=bob)
        trading.post("/order/decrease", {**smaller, "remaining": "0"}, 400, auth=alice)
        assert trading.post("/order/decrease", {**smaller, "remaining": "1"}, auth=alice)["status"] == "CANCELED"
        trading.post("/order/decrease", smaller, 404, auth=alice)
        trading.post("/order/decrease", smaller, 401)

    def quotes(self):
        """A set that places, one that keeps and one that ends quotes; the lease and the limits of a group."""
        trading, alice, bob = self.trading, L2(self.alice), L2(self.bob)
        domain, condition = trading.get("/quotes/domain"), self.market["condition_id"]
        far, near, crossing = word(0, 0, 1_100, 1_000), word(1, 0, 1_200, 2_000), word(0, 0, 9_900, 1_000)
        first = self.alice.quotes(domain, [condition], [far, near])
        limits = {"lease_ms": 60_000, "window_ms": 1_000, "shares": "500", "reset": True}
        trading.put("/quotes/groups/{n}", limits, auth=alice, n=0)
        trading.put("/quotes/groups/{n}", {"window_ms": 1_000}, 400, auth=alice, n=0)
        trading.put("/quotes/groups/{n}", limits, 400, auth=alice, n=16)
        trading.put("/quotes/groups/{n}", limits, 401, n=0)
        beat = {"group": 0, "revision": first["set"]["revision"]}
        trading.post("/quotes/heartbeat", beat, 409, auth=alice)
        placed = trading.post("/quotes", first, auth=alice)
        assert placed["placed"] == 2 and all(placed["orders"]), placed
        assert trading.post("/quotes", first, auth=alice)["duplicate"]
        trading.get("/data/order/{id}", auth=alice, id=placed["orders"][1])
        assert trading.post("/quotes/heartbeat", beat, auth=alice)["live"] == 2
        trading.post("/quotes/heartbeat", {**beat, "revision": "1"}, 409, auth=alice)
        trading.post("/quotes/heartbeat", {"group": 0}, 400, auth=alice)
        trading.post("/quotes/heartbeat", beat, 401)
        old = self.alice.quotes(domain, [condition], [far], revision=1)
        trading.post("/quotes", old, 409, auth=alice)
        moved = trading.post("/quotes", self.alice.quotes(domain, [condition], [far, crossing]), auth=alice)
        assert (moved["kept"], moved["ended"], moved["placed"]) == (1, 1, 0), moved
        assert [refused["code"] for refused in moved["refused"]] == ["crosses_book"], moved
        taken = self.alice.quotes(domain, [condition], [far, word(0, 0, 5_500, 1_000)])
        assert trading.post("/quotes", taken, auth=alice)["placed"] == 1
        matched = trading.post("/order", self.buy(self.bob, self.other, 45, 10), auth=bob)
        assert matched["status"] == "matched", matched
        self.quoted = matched["tradeIDs"][0]
        blind = self.alice.quotes(domain, [condition], [far, word(0, 0, 5_400, 1_000)], seen=1)
        assert trading.post("/quotes", blind, auth=alice)["refused"][0]["code"] == "filled_since"
        for wrong in (word(0, 0, 1_101, 1_000), word(2, 0, 1_100, 1_000), word(0, 0, 1_100, 0)):
            trading.post("/quotes", self.alice.quotes(domain, [condition], [wrong]), 400, auth=alice)
        trading.post("/quotes", self.alice.quotes(domain, [ZERO], []), 400, auth=alice)
        trading.post("/quotes", {**first, "signature": "0x" + 130 * "1"}, 400, auth=alice)
        trading.post("/quotes", {}, 400, auth=alice)
        trading.post("/quotes", first, 400, auth=bob)
        trading.post("/quotes", first, 401)
        assert trading.post("/quotes", self.alice.quotes(domain, [condition], []), auth=alice)["ended"] == 1

    def cancels(self):
        trading, alice, bob = self.trading, L2(self.alice), L2(self.bob)
        assert trading.delete("/order", {"orderId": self.order}, auth=bob)["not_canceled"]
        assert trading.delete("/order", {"orderID": self.order}, auth=alice)["canceled"]
        trading.delete("/order", {}, 400, auth=alice)
        resting = trading.get("/data/orders", auth=alice)["data"][0]["id"]
        trading.delete("/orders", [resting, "nonsense"], auth=alice)
        for path, body in (("/cancel-market-orders", {"market": self.market["condition_id"]}), ("/cancel-all", None)):
            trading.post("/order", self.buy(self.bob, self.token, 30, 10), auth=bob)
            assert trading.delete(path, body, auth=bob)["canceled"]
        trading.delete("/cancel-market-orders", {"asset_id": "7"}, 404, auth=alice)

    def heartbeats(self):
        for path in ("/heartbeats", "/v1/heartbeats"):
            chain = self.trading.post(path, {"heartbeat_id": ""}, auth=L2(self.bob))
            self.trading.post(path, chain, auth=L2(self.bob))
            self.trading.post(path, {"heartbeat_id": "another"}, 400, auth=L2(self.bob))

    def act(self, kind, name, status=200, **more):
        body = {"reference": f"{name} {time.time_ns()}", **more}
        return self.trading.post(f"/positions/{kind}", body, status, auth=L2(self.alice))

    def positions(self):
        condition = self.ending["condition_id"]
        self.act("split", "s", conditionId=condition, amount="9000000")
        self.act("merge", "m", conditionId=condition, amount="1000000")
        self.act("redeem", "early", 409, conditionId=condition)
        self.act("split", "unknown", 404, conditionId="0x" + 64 * "1", amount="10000")
        self.act("split", "odd", 400, conditionId=condition, amount="1")
        once = {"conditionId": condition, "amount": "1000000", "reference": f"once {time.time_ns()}"}
        for repeated in (False, True):
            answer = self.trading.post("/positions/merge", once, auth=L2(self.alice))
            assert answer["duplicate"] is repeated
        operate("market", "resolve", condition, "yes")
        self.act("redeem", "r", conditionId=condition)
        event = self.trading.get("/markets/{condition_id}", condition_id=self.neg_risk["condition_id"])["event"]["id"]
        questions = [
            market["condition_id"]
            for market in self.trading.get("/sampling-markets")["data"]
            if market["event"]["id"] == event
        ]
        for question in questions:
            self.act("split", "q", conditionId=question, amount="5000000")
        self.act("convert", "c", eventId=event, indexSet=str(2 ** len(questions) - 1), amount="1000000")

    def modes(self):
        trading, condition = self.trading, self.market["condition_id"]
        operate("market", "pause", condition)
        trading.post("/order", self.buy(self.bob, self.token, 40, 10), 409, auth=L2(self.bob))
        operate("market", "resume", condition)
        operate("system", "mode", "cancel-only")
        trading.post("/order", self.buy(self.bob, self.token, 40, 10), 503, auth=L2(self.bob))
        operate("system", "mode", "running")

    def wallets(self):
        data, user = self.data, {"user": self.alice.address}
        operate("profile", "set", self.alice.address, "--name", "Alice", "--image", "https://example.com/alice.png")
        market = {"market": self.market["condition_id"]}
        closed = eventually(lambda: data.get("/closed-positions", query=user), bool)
        assert closed[0]["size"] == 0
        assert data.get("/trades", query={"takerOnly": "false", "filterType": "CASH", "filterAmount": "0.5"})
        data.get("/trades", 400, query={"filterType": "CASH"})
        assert data.get("/positions", query={**user, "sizeThreshold": 0})
        data.get("/positions", 400)
        data.get("/positions", 400, query={**user, "colour": "red"})
        assert data.get("/positions", query={"user": NOBODY}) == []
        fills = {**user, "takerOnly": "false"}
        eventually(lambda: data.get("/trades", query=fills), lambda rows: rows[0]["name"] == "Alice")
        assert data.get("/holders", query=market)[0]["holders"]
        kinds = {row["type"] for row in data.get("/activity", query={**user, "limit": 500})}
        assert kinds == {"TRADE", "SPLIT", "MERGE", "REDEEM", "CONVERSION"}, kinds
        for kind in kinds:
            assert data.get("/activity", query={**user, "type": kind})
        assert data.get("/value", query=user)[0]["value"]
        assert data.get("/traded", query=user)["traded"]
        assert data.get("/oi", query=market)
        assert data.get("/oi")[0]["market"] == "GLOBAL"
        assert data.get("/live-volume", query=market)[0]["markets"]
        data.get("/live-volume", 400)
        data.get("/live-volume", query={"id": 1})
        data.get("/live-volume", 400, query={"id": 1, **market})
        assert data.get("/activity", query={**user, "sortBy": "CASH", "sortDirection": "ASC"})
        assert data.get("/trades", query={"eventId": 1, "start": 1}) == []
        self.leaderboards()

    def leaderboards(self):
        data, user = self.data, {"user": self.alice.address}
        for path in ("/v1/leaderboard", "/leaderboard"):
            for order in ("PNL", "VOL"):
                assert data.get(path, query={"timePeriod": "ALL", "orderBy": order})
            assert data.get(path, query={**user, "timePeriod": "week"})[0]["userName"] == "Alice"
            assert data.get(path, query={"userName": "ALICE"})[0]["proxyWallet"] == self.alice.address.lower()
            data.get(path, 400, query={"category": "POLITICS"})
        assert data.get("/v1/builders/leaderboard", query={"timePeriod": "MONTH"})
        data.get("/v1/builders/leaderboard", 400, query={"limit": 51})
        assert data.get("/v1/builders/volume")
        self.version_two(user)

    def version_two(self, user):
        data = self.data
        first = data.get("/v2/trades", query={"limit": 1, "taker_only": "false"})
        assert first["pagination"]["has_more"]
        following = {"limit": 1, "taker_only": "false", "cursor": first["pagination"]["next_cursor"]}
        second = data.get("/v2/trades", query=following)
        assert second["data"] != first["data"]
        assert (second["pagination"]["limit"], second["pagination"]["offset"]) == (1, 1)
        refused = data.get("/v2/trades", 400, query={"offset": 1})
        assert (refused["code"], refused["parameter"], refused["retryable"]) == ("invalid_request", "offset", False)
        data.get("/v2/trades", 400, query={"market": self.market["condition_id"]})
        kinds = {row["type"] for row in data.get("/v2/activity", query={**user, "limit": 1000})["data"]}
        assert kinds == {"TRADE", "SPLIT", "MERGE", "REDEEM", "CONVERSION"}, kinds
        market = {"condition_id": self.market["condition_id"]}
        for status in ("OPEN", "REDEEMABLE", "REDEEMABLE_LOST", "MERGEABLE", "CLOSED"):
            data.get("/v2/positions", query={**user, "status": status})
        assert data.get("/v2/positions", query=market)["data"]
        assert data.get("/v2/positions", query={**user, "status": "CLOSED"})["data"][0]["name"] == "Alice"
        data.get("/v2/positions", 400, query={**market, "status": "CLOSED"})
        assert data.get("/v2/holders", query={**market, "include_pnl": "true"})["data"]
        data.get("/v2/holders", 400)
        prices = {"token_id": self.token, "interval": "1h"}
        data.get("/v2/prices-history", query=prices)
        data.get("/v2/prices-history", query={"token_id": self.token, "as_of": 1})
        data.get("/v2/prices-history", 400, query={**prices, "as_of": 1})
        assert data.get("/v2/value", query=user)["data"]["value"]
        assert data.get("/v2/oi")["data"][0]["condition_id"] == "GLOBAL"
        data.get("/v2/live-volume", query={"event_id": 1})
        data.get("/v2/live-volume", 400)
        assert data.get("/v2/leaderboard", query={"time_period": "all", "sort_by": "VOLUME"})["data"]
        standing = data.get("/v2/leaderboard", query={**user, "time_period": "all"})["data"]
        assert standing["rank_pnl"] and standing["rank_volume"]
        assert data.get("/v2/leaderboard", query={"user": NOBODY})["data"] is None
        assert data.get("/v2/builders/leaderboard")["data"]
        assert data.get("/v2/builders/volume", query={"limit": 2})["data"]
        data.get("/v2/builders/volume", 400, query={"interval": "week"})
        data.get("/v1/builders/volume", 400, query={"timePeriod": "YEAR"})

    def records(self):
        catalog = self.catalog
        record = Path(__file__).parent / "event.json"
        operate("catalog", "import", "--catalog-only", str(record))
        events = eventually(lambda: catalog.get("/events", query={"slug": "schema-test-event"}), bool)
        assert events[0]["series"] and events[0]["tags"] and events[0]["markets"]
        event, market, tag = events[0], events[0]["markets"][0], events[0]["tags"][0]
        catalog.get("/events", query={"order": "volume,title", "ascending": "true", "limit": 500})
        catalog.get("/events/{id}", id=event["id"])
        catalog.get("/events/slug/{slug}", slug=event["slug"])
        assert catalog.get("/markets", query={"event_slug": event["slug"]})
        assert catalog.get("/markets", query={"active": "true", "tag_slug": tag["slug"]})
        for name in (market["id"], market["conditionId"]):
            catalog.get("/markets/{id}", id=name)
        catalog.get("/markets/slug/{slug}", slug=market["slug"])
        assert catalog.get("/series")[0]["events"]
        assert catalog.get("/tags")
        catalog.get("/tags/{id}", id=tag["id"])
        catalog.get("/tags/slug/{slug}", slug=tag["slug"])
        catalog.get("/status")
        assert catalog.get("/markets/keyset", query={"limit": 1})["next_cursor"]
        assert catalog.get("/events/keyset", query={"slug": event["slug"]})["events"]
        assert catalog.get("/events/{id}/tags", id=event["id"]) == event["tags"]
        assert catalog.get("/markets/{id}/tags", id=market["id"]) == event["tags"]
        catalog.get("/series/{id}", id=event["series"][0]["id"])
        for path, name in (("/tags/{id}", {"id": tag["id"]}), ("/tags/slug/{slug}", {"slug": tag["slug"]})):
            catalog.get(f"{path}/related-tags", **name)
            catalog.get(f"{path}/related-tags/tags", **name)
        for path in ("/sports", "/sports/market-types", "/teams", "/comments", "/comments/keyset"):
            catalog.get(path)
        catalog.get("/comments/user_address/{address}", address=NOBODY)
        catalog.get("/comments/{id}", 404, id="1")
        catalog.get("/public-profile", 404, query={"address": NOBODY})
        catalog.get("/public-profile", query={"address": self.alice.address})
        catalog.get("/markets", 400, query={"related_tags": "true"})
        found = catalog.get("/public-search", query={"q": "schema"})
        assert found["events"] and found["tags"]
        for path in ("/markets/{id}", "/events/{id}", "/tags/{id}"):
            catalog.get(path, 404, id="999999999")
        catalog.get("/events/{id}", 400, id="one")
        catalog.get("/public-search", 400)
        catalog.get("/markets", 400, query={"colour": "red"})

    def command(self, path, body, status=200):
        return self.operator.post(path, body, status, auth=self.bearer)

    def accounts(self):
        """Money, wallets and keys, as an operator sees them."""
        operator, token = self.operator, self.bearer
        owner, wallet = (Wallet(f"0x{secrets.token_hex(32)}") for _ in range(2))
        invoice = {"wallet": owner.address, "amount": "1000.5", "reference": f"invoice {time.time_ns()}"}
        for repeated in (False, True):
            assert self.command("/accounts/deposit", invoice)["duplicate"] is repeated
        self.command("/accounts/deposit", {**invoice, "amount": "7"}, 409)
        self.command("/accounts/deposit", {**invoice, "colour": "red"}, 400)
        operator.post("/accounts/deposit", invoice, 401)
        self.command("/accounts/withdraw", {**invoice, "amount": "0.5", "reference": "payout-1"})
        self.command("/accounts/withdraw", {**invoice, "reference": "payout-2"}, 400)
        self.command("/accounts/bind", {"owner": owner.address, "wallet": wallet.address, "kind": "safe"})
        self.command("/accounts/bind", {"owner": self.alice.address, "wallet": wallet.address, "kind": "proxy"}, 409)
        self.command("/accounts/unbind", {"wallet": wallet.address})
        for mark in (True, False):
            self.command("/accounts/closed-only", {"wallet": owner.address, "closed_only": mark})
        assert operator.get("/accounts/{wallet}", auth=token, wallet=self.alice.address)["positions"]
        operator.get("/accounts/{wallet}", 404, auth=token, wallet=wallet.address[:-4].lower() + "0000")
        operator.get("/accounts/{wallet}", 400, auth=token, wallet="alice")
        listed = operator.get("/accounts", auth=token, query={"wallet": self.alice.address[:12]})
        assert listed["accounts"][0]["wallet"] == self.alice.address.lower(), listed
        assert operator.get("/accounts/{wallet}/orders", auth=token, wallet=self.alice.address)["data"]
        operator.get("/accounts/{wallet}/orders", 404, auth=token, wallet=wallet.address[:-4].lower() + "0000")
        for path, both_sides in (("/positions", {}), ("/trades", {"takerOnly": "false"})):
            assert operator.get(path, auth=token, query={"user": self.alice.address, **both_sides}), path
            operator.get(path, 400, auth=token, query={"user": "alice"})
        key = owner.connect().trio["apiKey"]
        assert operator.get("/keys", auth=token, query={"owner": owner.address})["keys"]
        operator.get("/keys", 400, auth=token)
        self.command("/keys/revoke", {"api_key": key, "cancel_orders": True})
        self.command("/keys/revoke", {"api_key": "00000000-0000-4000-8000-000000000000"}, 404)

    def withdrawals(self):
        """Asked for by a signature, cancelled or paid, and opened where they are open."""
        operator, trading, token = self.operator, self.trading, self.bearer
        domain = trading.get("/withdrawals/domain")
        now, numbers = int(time.time() * 1000) + 600_000, []
        for turn in range(3):
            body = self.alice.withdrawal(domain, 5, f"rent {now} {turn}", now + turn)
            numbers.append(trading.post("/withdrawals", body, auth=L2(self.alice))["withdrawal"])
            trading.post("/withdrawals", {**body, "amount": "6"}, 400, auth=L2(self.alice))
        assert trading.get("/withdrawals", auth=L2(self.alice))["data"]
        trading.delete("/withdrawals/{number}", auth=L2(self.alice), number=numbers[0])
        trading.delete("/withdrawals/{number}", None, 409, auth=L2(self.alice), number=numbers[0])
        assert operator.get("/withdrawals", auth=token)["withdrawals"]
        self.command("/withdrawals/claim", {"withdrawal": numbers[1]})
        self.command("/withdrawals/pay", {"withdrawal": numbers[2], "payment": f"wire {now}"}, 409)
        self.command("/withdrawals/pay", {"withdrawal": numbers[1], "payment": f"wire {now}"})
        self.command("/withdrawals/fail", {"withdrawal": numbers[2]})
        self.command("/withdrawals/open", {})
        assert operator.get("/v2/activity", auth=token, query={"user": self.alice.address})["data"]

    def registrations(self):
        """A market from its registration to its resolution, and a question of an event group."""
        operator, token, now = self.operator, self.bearer, time.time_ns()
        texts = {"question": "Will it rain in Harbour City on 1 May?", "slug": f"rain-{now}"}
        one = {"condition_id": f"0x{now:064x}", "token_ids": [str(now), str(now + 1)]}
        fee = {"rate_ppm": 20_000, "exponent": 1}
        assert self.command("/markets", {**one, **texts, "fee": fee, "activate": False})["status"] == "registered"
        named = {"condition_id": one["condition_id"]}
        self.command("/markets/activate", named)
        self.command("/markets/tick", {**named, "tick_size": "0.001"})
        self.command("/markets/tick", {**named, "tick_size": "0.1"}, 400)
        self.command("/markets/minimum", {**named, "minimum_order_size": "1"})
        resting = self.buy(self.alice, one["token_ids"][0], 50, 100)
        eventually(lambda: self.trading.post("/order", resting, None, auth=L2(self.alice))["success"], bool)
        taking = self.buy(self.bob, one["token_ids"][1], 50, 100)
        assert self.trading.post("/order", taking, auth=L2(self.bob))["status"] == "matched"
        for repeated in (False, True):
            fees = {"amount": "0.25", "reference": f"fees {now}"}
            assert self.command("/fees/withdraw", fees)["duplicate"] is repeated
        self.command("/fees/withdraw", {"amount": "1000000", "reference": f"all fees {now}"}, 400)
        self.command("/markets/fee", {**named, "rate_ppm": 10_000, "exponent": 1})
        for step in ("pause", "resume", "close", "close"):
            self.command(f"/markets/{step}", named)
        self.command("/markets/pause", named, 409)
        eventually(lambda: self.operator.post("/markets/resolve", {**named, "payout": "yes"}, None, auth=token), accepted)
        self.command("/markets/archive", {**named, "archived": True})
        self.command("/markets/pause", {"condition_id": "0x" + 64 * "1"}, 404)
        group = int(now // 1_000)
        self.command("/events", {"event_id": group, "title": "Weather in Harbour City", "slug": f"weather-{now}"})
        two = {"condition_id": f"0x{now + 2:064x}", "token_ids": [str(now + 2), str(now + 3)]}
        question = self.command("/markets", {**two, **texts, "slug": f"snow-{now}", "event_id": group})
        assert question["status"] == "registered"
        self.command("/markets", {**two, **texts, "event_id": group + 1}, 404)
        listed = operator.get("/markets", auth=token, query={"condition_id": one["condition_id"], "event_id": group})
        assert [market["status"] for market in listed["markets"]] == ["resolved", "registered"]
        operator.get("/markets", 400, auth=token, query={"limit": 0})
        query = {"search": f"RAIN {now}", "status": "resolved", "archived": "true"}
        found = operator.get("/markets/figures", auth=token, query=query)
        assert len(found["markets"]) == 1 and float(found["markets"][0]["volume"]) > 0, found
        operator.get("/markets/figures", 400, auth=token, query={"status": "open"})
        operator.get("/markets/{condition_id}", auth=token, condition_id=one["condition_id"])
        operator.get("/markets/{condition_id}", 404, auth=token, condition_id="0x" + 64 * "1")

    def people(self):
        """Operators with roles, and what needs two of them."""
        self.others = People(self)
        self.others.all()

    def life(self):
        """A market of the operator's own, to its payout."""
        Life(self, self.others, eventually).all()

    def system(self):
        operator, token = self.operator, self.bearer
        for probe in ("/livez", "/readyz", "/metrics"):
            operator.get(probe)
        status = operator.get("/status", auth=token)
        operator.get("/status", 401)
        self.command("/system/mode", {"mode": "running"})
        self.command("/system/mode", {"mode": "asleep"}, 400)
        self.command("/system/settings", status["exchange"]["settings"])
        self.command("/snapshot", None)
        operator.get("/site")
        operator.get("/admin", 307)
        operator.get("/admin/")
        for file in ("admin/admin.js", "admin/desk.css", "favicon.svg", "admin/index.html"):
            operator.get("/admin/{file}", file=file)
        operator.get("/admin/{file}", 404, file="missing.js")

    def sandbox(self):
        """The demo is a sandbox: a wallet, an order that nobody signs, why it rests, one that is refused, the clock."""
        operator, token = self.operator, self.bearer
        wallet = self.command("/sandbox/wallets", {"kind": "safe", "amount": "100"})
        market = operator.get("/markets", auth=token)["markets"][0]
        order = {"wallet": wallet["funder"], "token_id": market["tokenIds"][0], "side": "BUY", "price": "0.01", "size": "100"}
        placed = self.command("/sandbox/orders", order)
        self.command("/sandbox/orders", {**order, "size": "100000"}, 400)
        operator.get("/sandbox/orders/{order_id}", auth=token, order_id=placed["orderID"])
        operator.get("/sandbox/rejections", auth=token)
        self.command("/sandbox/clock", {"frozen": True})
        self.command("/sandbox/clock", {"to": "2020-01-01T00:00:00Z"}, 400)
        self.command("/sandbox/clock", {"frozen": False, "advance_ms": 1})
        operator.get("/sandbox/clock", auth=token)

    def views(self):
        """What the page reads, with a trade to prove."""
        page = self.page
        for path in ("/ui", "/ui/", "/ui/logo"):
            page.get(path)
        page.get("/ui/{file}", file="portfolio")
        page.get("/ui/api/site")
        eventually(lambda: page.get("/ui/api/engine")["checkpoint"], bool)
        trade = self.trading.get("/data/trades", auth=L2(self.alice))["data"][0]
        rows = page.get("/ui/api/markets/summary", query={"condition_ids": trade["market"]})
        assert rows[0]["last_price"], rows
        page.get("/ui/api/markets/summary", 400)
        proof = page.get("/ui/api/proof/{trade}", trade=trade["id"])
        assert proof["taker"]["valid"] and proof["maker"]["valid"], proof
        proof = page.get("/ui/api/proof/{trade}", trade=self.quoted)
        assert proof["maker"]["valid"] and proof["maker"]["set"]["quote"] == 1, proof
        page.get("/ui/api/proof/{trade}", 404, trade="00000000-0000-0000-0000-000000000000")
        call = {"jsonrpc": "2.0", "id": 1, "method": "eth_accounts", "params": []}
        assert self.alice.address in page.post("/ui/wallet", call)["result"]
        page.post("/ui/wallet", {**call, "method": "eth_sign"})
        page.post("/ui/wallet", call, 403, headers={"Origin": "http://evil.example"})

    def limits(self):
        """The one small cap of the run: past it the answer says when to come back."""
        for _ in range(1_000):
            self.trading.get("/ok", None)
            if self.trading.seen["GET", "/ok", 429]:
                return
        raise AssertionError("a thousand requests met no cap")


def main():
    walk = Walk()
    walk.all()
    surfaces = walk.surfaces
    unseen = [line for surface in surfaces for line in surface.never_good()]
    loose = [line for surface in surfaces for line in surface.loose()]
    for line in unseen:
        print(f"no good answer was seen: {line}", file=sys.stderr)
    for line in loose:
        print(f"the document takes a wrong answer: {line}", file=sys.stderr)
    operations = sum(len(surface.operations) for surface in surfaces)
    answers = sum(surface.seen.total() for surface in surfaces)
    statuses = sorted({status for surface in surfaces for _, _, status in surface.seen})
    print(f"{answers} answers of {operations} operations held against the documents, statuses {statuses}")
    return 1 if unseen or loose else 0


if __name__ == "__main__":
    sys.exit(main())
