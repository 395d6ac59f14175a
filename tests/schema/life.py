"""The steps of a walk with a market of the operator's own: words, clock, rebates, proposals, payout."""

import hashlib
import hmac
import json
import os
import time
from pathlib import Path

from exchange import L2


def utc(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Life:
    """One market from its registration without ids to its payout by a second person."""

    def __init__(self, walk, people, eventually):
        self.walk, self.people, self.eventually = walk, people, eventually
        self.trading, self.operator = walk.trading, walk.operator
        self.secret = Path(os.environ["EXCHANGE_ORACLE_SECRET"]).read_text().strip().encode()

    def all(self):
        self.words()
        self.clock()
        self.rebates()
        self.policy()
        self.proposals()
        self.oracle()
        self.payout()

    def words(self):
        """The exchange generates ids from the slug; the words of its own market and group change."""
        command, now = self.walk.command, time.time_ns()
        wanted = {"question": "Will the harvest be good?", "slug": f"harvest-{now}", "tags": ["Farming"]}
        wanted |= {"fee": {"rate_ppm": 40_000, "exponent": 1}, "rebate_ppm": 250_000}
        wanted |= {"closes_at": utc(time.time() + 86_400)}
        command("/markets", {**wanted, "end_date": "2020-01-01T00:00:00Z"}, 400)
        for repeated in (False, True):
            registered = command("/markets", wanted)
            assert registered["duplicate"] is repeated and registered["status"] == "active"
        self.condition, (self.yes, self.no) = registered["condition_id"], registered["token_ids"]
        self.named = {"condition_id": self.condition}
        command("/markets/describe", {**self.named, "description": "Yes from 8 t/ha on.", "tags": ["Farming", "Food"]})
        command("/markets/describe", {"condition_id": "0x" + 64 * "1", "tags": []}, 404)
        wallet = self.walk.alice.address
        command("/accounts/describe", {"wallet": wallet, "bio": "grows oats"})
        command("/accounts/describe", {"wallet": wallet, "image": "javascript:alert(1)"}, 400)
        group = command("/events", {"title": f"Which crop wins in {now}?"})["event_id"]
        command("/events/describe", {"event_id": group, "title": f"Which crop won in {now}?", "tags": ["Farming"]})
        auth = self.walk.bearer
        newest = self.operator.get("/events", auth=auth, query={"limit": 1, "offset": 0})["events"][0]
        assert newest["event_id"] == group and newest["tags"] == ["Farming"], newest
        self.operator.get("/events", 400, auth=auth, query={"limit": 1001})
        command("/events/describe", {"event_id": 7, "title": "None"}, 404)

    def clock(self):
        command = self.walk.command
        start = utc(time.time() + 3_600)
        command("/markets/terms", {**self.named, "game_start_time": start, "clear_book_on_start": True})
        command("/markets/terms", {**self.named, "closes_at": "2020-01-01T00:00:00Z"}, 400)
        command("/markets/terms", {**self.named, "taker_delay_ms": 60_001}, 400)
        shown = self.operator.get("/markets", auth=self.walk.bearer, query=self.named)["markets"][0]
        assert shown["own"] and shown["terms"]["rebate_ppm"] == 250_000 and shown["terms"]["clear_book_on_start"], shown
        life = self.trading.get("/markets/{condition_id}", condition_id=self.condition)["life"]
        assert life["rebate_rate"] == 0.25 and life["game_start_time"] < life["closes_at"], life

    def rebates(self):
        """The maker accrues a quarter of the fee, and is paid."""
        walk, trading = self.walk, self.trading
        trading.post("/order", walk.buy(walk.alice, self.yes, 50, 100), auth=L2(walk.alice))
        matched = trading.post("/order", walk.buy(walk.bob, self.no, 50, 100), auth=L2(walk.bob))
        assert matched["status"] == "matched", matched
        query = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "maker_address": walk.alice.address.lower()}
        rows = self.eventually(lambda: trading.get("/rebates/current", query=query), bool)
        assert [row["rebated_fees_usdc"] for row in rows] == ["0.25"], rows
        trading.get("/rebates/current", 400, query={"date": query["date"]})
        totals = self.operator.get("/rebates", auth=walk.bearer, query=query)
        assert totals["total"] == "0.25" and totals["markets"][0]["condition_id"] == self.condition, totals
        self.operator.get("/rebates", auth=walk.bearer, query={"date": query["date"]})
        self.operator.get("/rebates", 400, auth=walk.bearer, query={"date": "2020-01-01"})
        walk.command("/rebates/pay", {"reason": "weekly"})
        account = lambda: self.operator.get("/accounts/{wallet}", auth=walk.bearer, wallet=walk.alice.address)
        self.eventually(account, lambda account: account["accrued"] == "0")
        walk.command("/rebates/pay", {}, 409)

    def policy(self):
        """This market asks for a second person, and lets a wallet dispute."""
        command = self.walk.command
        own = {"proposers": ["admin", "resolver"], "disputers": ["admin"], "second_person": True}
        command("/policy", {**self.named, **own, "by_time": True}, 400)
        command("/policy", {**self.named, "minimum_window_seconds": 60})
        command("/policy/clear", self.named)
        command("/policy", {**self.named, **own})
        command("/policy/wallets", {**self.named, "wallet": self.walk.bob.address, "propose": False, "dispute": True})
        shown = self.operator.get("/markets", auth=self.walk.bearer, query=self.named)["markets"][0]
        assert shown["policy"]["second_person"], shown

    def propose(self, payout, status=200, **more):
        body = {**self.named, "payout": payout, "reference": f"{payout} {time.time_ns()}", **more}
        return self.people.command(self.people.resolver, "/markets/propose", body, status)

    def proposals(self):
        """A proposal is disputed, replaced, withdrawn."""
        people = self.people
        self.propose("yes", 409)
        self.walk.command("/markets/close", self.named)
        review = self.operator.get("/review", auth=people.resolver)
        assert any(row["condition_id"] == self.condition for row in review["closed"]), review
        self.walk.command("/markets/resolve", {**self.named, "payout": "yes"}, 409)
        self.propose("yes", source="https://news.example/harvest", evidence_sha256="0x" + 64 * "2")
        self.propose("yes", 409)
        doubt = {**self.named, "counter": "no", "reason": "the report was corrected"}
        people.command(people.resolver, "/markets/dispute", doubt, 403)
        self.walk.command("/markets/dispute", {**doubt, "wallet": self.walk.bob.address})
        self.walk.command("/markets/dispute", doubt, 409)
        review = self.operator.get("/review", auth=people.resolver)
        assert review["proposals"][0]["dispute"]["reason"] == doubt["reason"], review
        life = self.trading.get("/markets/{condition_id}", condition_id=self.condition)["life"]
        assert life["stage"] == "disputed" and life["proposal"]["counter"] == "no", life
        self.propose("half", 409)
        self.propose("half", proposal=review["proposals"][0]["proposal"])
        people.command(people.resolver, "/markets/withdraw-proposal", self.named)
        people.command(people.resolver, "/markets/withdraw-proposal", self.named, 409)

    def oracle(self):
        """The adapter proposes, signed; its repeat changes nothing."""
        body = {**self.named, "payout": "no", "reference": f"oracle {time.time_ns()}"}
        for repeated in (False, True):
            answer = self.signed(body, int(time.time()))
            assert answer["duplicate"] is repeated
        self.signed(body, int(time.time()) - 400, 401)
        self.signed({**body, "reference": "another"}, int(time.time()), 409)

    def signed(self, body, timestamp, status=200):
        text = f"{timestamp}.{json.dumps(body, separators=(',', ':'))}"
        signature = hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()
        headers = {"x-oracle-timestamp": str(timestamp), "x-oracle-signature": signature}
        return self.operator.post("/oracle/proposals", body, status, headers=headers)

    def payout(self):
        """Another operator than the proposer makes it final; the holders are paid by themselves."""
        review = self.operator.get("/review", auth=self.people.resolver)["proposals"]
        proposal = next(row["proposal"] for row in review if row["condition_id"] == self.condition)
        self.walk.command("/markets/finalise", self.named, 400)
        people = self.people
        people.command(people.cashier, "/markets/finalise", {**self.named, "proposal": proposal}, 403)
        people.command(people.resolver, "/markets/finalise", {**self.named, "proposal": proposal})
        people.command(people.resolver, "/markets/finalise", {**self.named, "proposal": proposal}, 409)
        detail = lambda: self.operator.get("/markets/{condition_id}", auth=self.walk.bearer, condition_id=self.condition)
        self.eventually(detail, lambda market: market["life"]["stage"] == "settled")
