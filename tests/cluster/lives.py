"""Lives of markets under the load: registered, traded with fees and replaces, closed, proposed, finalised, paid in steps.

An operator's command is repeated at one host after the other until its effect is known. Every wallet that holds
shares must be paid once: afterwards no share of the market is left, and all money adds up to the micro.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import processes
from preparation import market_of
from wallets import MICROS, Wallet, body_of, request

HERE = Path(__file__).parent
# Of lives, after those of the load.
FIRST_MARKET = 100
# Accounts without shares, so that a settlement takes several steps of 1,024 accounts.
CROWD = 1_200
DEPOSIT = 100_000
SHARES = 500 * MICROS
FEE = {"rate_ppm": 40_000, "exponent": 1}
REBATE_PPM = 500_000
PAUSE = 0.3
# Answers that say that an earlier attempt had its effect.
DONE = ("the market has no proposal", "a market with a proposal", "is resolved", "no rebate is accrued")


class Lives:
    """One life after the other. `load` sends the requests of its two wallets."""

    def __init__(self, load, hosts):
        self.load, self.hosts, self.ledger = load, hosts, load.ledger
        self.maker, self.taker = Wallet.new("life maker"), Wallet.new("life taker")
        self.number = FIRST_MARKET

    def prepare(self, leader, directory):
        """Deposits, by the operator of the host that leads."""
        self.file = directory / "life.json"
        for wallet in (self.maker, self.taker):
            leader.operate("account", "deposit", wallet.address, str(DEPOSIT), "--reference", wallet.address[2:34])
        done = processes.run(leader.name, [sys.executable, HERE / "crowd.py", leader.data / "operator.token", str(CROWD)], 300)
        assert done.returncode == 0, done.stdout + done.stderr
        self.ledger.deposits += 2 * DEPOSIT + CROWD

    async def start(self):
        for wallet in (self.maker, self.taker):
            status, answer, _ = await self.load.insist(lambda wallet=wallet: request("POST", "/auth/api-key", wallet.l1()))
            assert status == 200, answer
            wallet.take_key(answer)

    async def live(self):
        """Until it is cancelled; a step waits while the load is paused."""
        while True:
            for step in self.life(market_of(self.number)):
                await self.load.running.wait()
                self.load.busy += 1
                try:
                    await step()
                finally:
                    self.load.busy -= 1
                await asyncio.sleep(PAUSE)
            self.number += 1

    def life(self, market):
        """The steps, in order."""
        slug, payout = market["slug"], ("yes", "no", "half")[self.number % 3]
        self.market, self.resting = market, []
        self.ledger.rebate_ppm[market["condition_id"]] = REBATE_PPM
        self.file.write_text(json.dumps([{**market, "fee": FEE}]))
        yield lambda: self.operate("market", "register", str(self.file))
        yield lambda: self.operate("market", "terms", slug, "--rebate-ppm", str(REBATE_PPM))
        yield self.split
        for cents in (40, 50, 60):
            yield lambda cents=cents: self.replace(cents)
            yield lambda cents=cents: self.take(cents)
        yield lambda: self.operate("market", "close", slug)
        yield lambda: self.operate("market", "propose", slug, payout, "--reference", slug)
        yield lambda: self.operate("market", "finalise", slug)
        self.ledger.finalised.add(market["condition_id"])
        yield lambda: self.operate("system", "pay-rebates")

    async def split(self):
        """Both get shares of both outcomes."""
        body = body_of({
            "conditionId": self.market["condition_id"], "amount": str(SHARES), "reference": self.market["slug"],
        })  # fmt: skip
        for wallet in (self.maker, self.taker):
            await self.accepted(wallet, "/positions/split", body)

    async def accepted(self, wallet, path, body):
        """Sends a request that must be 200: a host that is late refuses nothing from its old view."""
        status, answer, fields = await self.load.send(wallet, "POST", path, body)
        assert status == 200, f"{path} was answered {status} {answer}"
        return answer, fields

    async def replace(self, cents):
        """Cancels what rests, and places a bid and an offer."""
        [token, _] = self.market["token_ids"]
        orders = [self.maker.buy(token, cents - 1, 2_000), self.maker.sell(token, cents + 1, 2_000)]
        cancelled, self.resting = self.resting, []
        body = body_of({"cancel": cancelled, "place": orders})
        answer, fields = await self.accepted(self.maker, "/replace", body)
        self.ledger.note_cancels(answer, fields)
        for order in answer["orders"]:
            self.ledger.note_order(order, fields)
            if order.get("status") == "live":
                self.resting.append(order["orderID"])

    async def take(self, cents):
        """Trades with one of both, for a fee, and hands out the rebate."""
        [token, _] = self.market["token_ids"]
        order = self.taker.buy(token, cents + 1, 700, "FAK") if cents == 50 else self.taker.sell(token, cents - 1, 300, "FAK")
        status, answer, fields = await self.load.send(self.taker, "POST", "/order", body_of(order))
        if status not in (200, 400):
            self.load.failures.append(f"an order was answered {status} {answer}")
            return
        self.ledger.note_order(answer, fields)
        if cents == 50:
            await self.operate("system", "pay-rebates")

    async def operate(self, *arguments):
        """An operator's command, at one host after the other until it had its effect."""
        while True:
            for host in self.hosts:
                if not host.is_running() or host.is_frozen():
                    continue
                try:
                    return await asyncio.to_thread(host.operate, *arguments, timeout=10)
                except subprocess.TimeoutExpired:
                    continue
                except RuntimeError as failure:
                    if any(text in str(failure) for text in DONE):
                        return None
                    if "(503)" not in str(failure) and "(4" in str(failure):
                        raise
            await asyncio.sleep(0.2)

    async def conclude(self):
        """Pays what is accrued and waits for the settlements, while nobody trades."""
        for _ in range(600):
            if await self.operate("system", "pay-rebates") is None and await self.are_settled():
                return
            await asyncio.sleep(0.1)
        raise AssertionError("finalised markets are not settled, or rebates not paid, after a minute without trade")

    async def are_settled(self):
        slugs = [market_of(number)["slug"] for number in range(FIRST_MARKET, self.number + 1)][-2:]
        for slug in slugs:
            try:
                shown = await asyncio.to_thread(self.shown, slug)
            except RuntimeError as failure:
                if "no such market" in str(failure):
                    continue  # not registered yet
                return False
            if shown["status"] == "resolved" and shown["life"]["stage"] != "settled":
                return False
        return True

    def shown(self, slug):
        leading = [host for host in self.hosts if (status := host.status()) and status["leading"]]
        return (leading or self.hosts)[0].operate("market", "show", slug)
