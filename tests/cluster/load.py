"""Traders whose every answer goes into the ledger. A request without a definite answer is sent again, unchanged.

Each of eight wallets has one request at a time: orders of both outcomes that meet, cancels of what rests, and now
and then a read at any host that must show the last acknowledged state.
"""

import asyncio
import json
import random
import time

from acknowledged import Ledger
from client import Broken, Client
from hosts import TRADING
from network import OUTSIDE
from preparation import market_of
from wallets import MICROS, Wallet, body_of, request, signed_request

WALLETS, MARKETS = 8, 2
# A market and wallets beside the load's, those of the stock client: keys 0 and 1 of the development mnemonic.
STOCK_MARKET = market_of(MARKETS)
STOCK_WALLETS = ("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
DEPOSIT = 100_000
# Of both outcomes of each market, for each wallet, in micros.
SHARES = str(1_000 * MICROS)
# A frozen or unreachable host is given up after that many seconds.
DEADLINE = 2.0
PAUSE = 0.03
# Not the exchange's answer to the request, or one that says: later.
AGAIN = (425, 429, 500, 502, 503, 504)


class Load:
    """All traders. `hosts` take turns until one answers."""

    def __init__(self, hosts, seed):
        self.hosts, self.random, self.ledger = hosts, random.Random(seed), Ledger()
        self.clients = {host.url: Client(OUTSIDE, (host.address, TRADING), DEADLINE) for host in hosts}
        self.urls = list(self.clients)
        self.leader = self.urls[0]
        self.markets = [market_of(number) for number in range(MARKETS)]
        self.wallets = [Wallet.new(f"cluster {number}") for number in range(WALLETS)]
        # Orders by wallet: all acknowledged ones, and those that may rest.
        self.placed = {wallet.address: [] for wallet in self.wallets}
        self.resting = {wallet.address: [] for wallet in self.wallets}
        self.running = asyncio.Event()
        self.busy, self.answers, self.failures = 0, 0, []
        self.last_answer, self.longest_pause = time.monotonic(), 0.0

    def prepare(self, leader, directory):
        """Markets and deposits, by the operator of the host that leads."""
        file = directory / "markets.json"
        file.write_text(json.dumps([*self.markets, STOCK_MARKET]))
        leader.operate("market", "register", file)
        for address in (*(wallet.address for wallet in self.wallets), *STOCK_WALLETS):
            leader.operate("account", "deposit", address, str(DEPOSIT), "--reference", address[2:34])
            self.ledger.deposits += DEPOSIT

    async def start(self):
        """Issues keys, gives every wallet shares of both outcomes, and starts the traders, who wait for `resume`."""
        for wallet in self.wallets:
            status, answer, _ = await self.insist(lambda wallet=wallet: request("POST", "/auth/api-key", wallet.l1()))
            assert status == 200, answer
            wallet.take_key(answer)
            for market in self.markets:
                body = body_of({"conditionId": market["condition_id"], "amount": SHARES, "reference": market["slug"]})
                status, answer, _ = await self.send(wallet, "POST", "/positions/split", body)
                assert status == 200, answer
        self.tasks = [asyncio.create_task(self.trade(wallet)) for wallet in self.wallets]

    def resume(self):
        self.last_answer, self.longest_pause = time.monotonic(), 0.0
        self.running.set()

    async def pause(self, seconds=60):
        """Sends nothing new, and waits for the answers to what was sent."""
        self.running.clear()
        deadline = time.monotonic() + seconds
        while self.busy:
            self.raise_ended()
            assert time.monotonic() < deadline, f"{self.busy} requests have no answer {seconds} s after the last fault ended"
            await asyncio.sleep(0.02)

    def raise_ended(self):
        """Raises what ended a trader."""
        for task in self.tasks:
            if task.done():
                task.result()

    async def end(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def insist(self, make):
        """Sends a request, made anew each time, until the answer is definite: status, JSON, header fields."""
        while True:
            url = self.leader
            try:
                status, body, fields = await self.clients[url].answer(make())
            except Broken:
                status, fields = None, {}
            if status is None or status in AGAIN:
                self.turn_to(fields.get("x-leader"), url)
                await asyncio.sleep(0.05)
                continue
            self.answers += 1
            now = time.monotonic()
            self.longest_pause = max(self.longest_pause, now - self.last_answer)
            self.last_answer = now
            return status, json.loads(body), fields

    def turn_to(self, named, url):
        """The host that is named, else the next one; unless another request has turned already."""
        if self.leader == url:
            following = self.urls[(self.urls.index(url) + 1) % len(self.urls)]
            self.leader = named if named in self.clients and named != url else following

    async def send(self, wallet, method, path, body=b""):
        return await self.insist(lambda: signed_request(wallet, method, path, body))

    async def trade(self, wallet):
        """One wallet, one request at a time."""
        while True:
            await self.running.wait()
            self.busy += 1
            try:
                resting = self.resting[wallet.address]
                if len(resting) > 5 or resting and self.random.random() < 0.3:
                    await self.cancel(wallet, resting.pop(self.random.randrange(len(resting))))
                else:
                    await self.place(wallet)
                if self.random.random() < 0.1:
                    await self.read(wallet)
            finally:
                self.busy -= 1
            await asyncio.sleep(PAUSE)

    async def place(self, wallet):
        token = self.random.choice(self.random.choice(self.markets)["token_ids"])
        kind = self.random.choice(("GTC", "GTC", "GTC", "FAK"))
        action = self.random.choice((wallet.buy, wallet.buy, wallet.sell))
        order = action(token, self.random.randint(46, 54), 100 * self.random.randint(5, 20), kind)
        status, answer, fields = await self.send(wallet, "POST", "/order", body_of(order))
        if status not in (200, 400):
            self.failures.append(f"an order was answered {status} {answer}")
            return
        if self.ledger.note_order(answer, fields):
            self.placed[wallet.address].append(answer["orderHash"])
        if answer.get("status") == "live":
            self.resting[wallet.address].append(answer["orderID"])

    async def cancel(self, wallet, order):
        status, answer, fields = await self.send(wallet, "DELETE", "/order", body_of({"orderID": order}))
        if status != 200:
            self.failures.append(f"a cancel was answered {status} {answer}")
            return
        self.ledger.note_cancels(answer, fields)

    async def read(self, wallet):
        """Any host that answers a read from the newest acknowledged sequence on shows every acknowledged order."""
        if not self.placed[wallet.address]:
            return
        order = self.placed[wallet.address][-1]
        newest = max(self.ledger.orders[order].sequence, max(self.ledger.terms))
        client = self.clients[self.random.choice(self.urls)]
        fields = {**wallet.l2("GET", f"/data/order/{order}"), "x-min-sequence": str(newest)}
        try:
            status, body, fields = await client.answer(request("GET", f"/data/order/{order}", fields))
        except Broken:
            return
        if status == 200 and int(fields["x-sequence"]) < newest:
            self.failures.append(f"a read from {newest} on showed {fields['x-sequence']} at {client.address[0]}")
        if status == 404:
            self.failures.append(f"order {order}, acknowledged by {newest}, is not found at {client.address[0]}")
