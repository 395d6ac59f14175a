"""Honest clients at a fixed open-loop rate; latency counts from when a request was due.

    honest.py SITE SECONDS OUT

Traders at 127.0.0.1 place, cancel and read; readers at 127.0.0.3 read; clients at 127.0.0.4 connect
anew for each request; an operator at 127.0.0.1 pauses and resumes a market and asks for the status; a
trader at 127.0.0.5 uses the kill switch. OUT gets a JSON list of [kind, due, latency, result], in
seconds; the result is a status, or how the request failed.
"""

import asyncio
import gc
import itertools
import json
import os
import sys
import time

from client import Broken, Client
from wallets import Wallet, body_of, request, signed_request

TRADERS, READERS, NEWCOMERS, SWITCH = "127.0.0.1", "127.0.0.3", "127.0.0.4", "127.0.0.5"
# Requests a second. Far below the caps of one address and one key.
PLACES = 8  # of each trader, and as many cancels
BOOKS, OWN_ORDERS, POSITIONS, NEWCOMER = 15, 5, 10, 1
OPERATOR, KILLS = 1, 4
# An order rests that long.
REST = 1.0
# Raised when permitted: these clients stand for other machines.
NICE = -10


class Load:
    """The clients of one phase."""

    def __init__(self, site, seconds):
        self.site, self.seconds, self.samples, self.tasks = site, seconds, [], set()
        self.addresses = {name: tuple(address) for name, address in site["addresses"].items()}
        self.traders = [Wallet(**saved) for saved in site["traders"]]
        self.switch = Wallet(**site["switch"])
        self.operator_fields = {"Authorization": f"Bearer {site['token']}"}

    def client(self, source, surface):
        return Client(source, self.addresses[surface])

    async def timed(self, kind, due, client, data, fresh=False, holds=None):
        """Asks and records; returns the JSON answer, or None when it was not 200 or does not hold."""
        try:
            result, body = await client.ask(data, fresh)
        except Broken as error:
            result, body = str(error), b""
        latency = time.monotonic() - due
        answer = json.loads(body) if result == 200 and body[:1] in (b"[", b"{") else None
        if holds and answer is not None and not holds(answer):
            result, answer = "did not act", None
        self.samples.append((kind, due - self.begun, latency, result))
        return answer

    async def every(self, rate, action, offset):
        """Starts an action `rate` times a second, whatever became of the ones before."""
        for number in itertools.count():
            due = self.begun + (number + offset) / rate
            if due - self.begun >= self.seconds:
                return
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            task = asyncio.create_task(action(number, due))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    def trader(self, index, wallet):
        """Orders that rest for a second; every eighth meets that of the other trader in the market."""
        market = self.site["markets"][index // 2]
        client = self.client(TRADERS, "trading")
        yes, no = market["tokens"]

        async def place(number, due):
            if number % 8 == 0:  # two bids of 0.50 for the two outcomes make a pair of shares
                order = wallet.buy((yes, no)[(number // 8 + index) % 2], 50, 500)
            else:
                order = wallet.buy((yes, no)[number % 2], 10 + number % 30, 500)
            body = body_of(order)
            answer = await self.timed("place", due, client, signed_request(wallet, "POST", "/order", body))
            if not answer or answer["status"] != "live":
                return
            due = time.monotonic() + REST
            await asyncio.sleep(REST)
            body = body_of({"orderID": answer["orderID"]})
            await self.timed("cancel", due, client, signed_request(wallet, "DELETE", "/order", body))

        return self.every(PLACES, place, (index + 0.1) / len(self.traders))

    def reads(self):
        """Books, own orders, positions."""
        trading, data = self.client(READERS, "trading"), self.client(READERS, "data")
        tokens = [market["tokens"][0] for market in self.site["markets"]]

        async def book(number, due):
            await self.timed("book", due, trading, request("GET", f"/book?token_id={tokens[number % len(tokens)]}"))

        async def orders(number, due):
            wallet = self.traders[number % len(self.traders)]
            await self.timed("own orders", due, trading, signed_request(wallet, "GET", "/data/orders"))

        async def positions(number, due):
            wallet = self.traders[number % len(self.traders)]
            await self.timed("positions", due, data, request("GET", f"/positions?user={wallet.address}"))

        return self.every(BOOKS, book, 0.1), self.every(OWN_ORDERS, orders, 0.5), self.every(POSITIONS, positions, 0.7)

    def newcomers(self, surface, offset):
        """A connection of its own for each request."""
        client, data = self.client(NEWCOMERS, surface), request("GET", "/ok")

        async def come(_, due):
            await self.timed("new connection", due, client, data, fresh=True)

        return self.every(NEWCOMER, come, offset)

    def operator(self):
        """Status, and a market that is paused and resumed; each on a new connection, as the command line does."""
        client = self.client(TRADERS, "operator")
        body = body_of({"condition_id": self.site["paused"]["condition_id"]})
        turns = itertools.cycle(("pause", "resume"))

        async def status(_, due):
            await self.timed("operator", due, client, request("GET", "/status", self.operator_fields), fresh=True)

        in_order = asyncio.Lock()  # a resume that overtakes its pause is a conflict

        async def switch(_, due):
            async with in_order:
                data = request("POST", f"/markets/{next(turns)}", self.operator_fields, body)
                await self.timed("operator", due, client, data, fresh=True)

        return self.every(OPERATOR, status, 0.2), self.every(OPERATOR, switch, 0.6)

    def kill_switch(self):
        """Places, cancels all, places and cancels all within the same second: each must end what rests."""
        client, wallet = self.client(SWITCH, "trading"), self.switch
        token = self.site["markets"][-1]["tokens"][0]
        one_at_a_time = asyncio.Lock()

        async def kill(_number, _due):
            async with one_at_a_time:
                await place_and_kill()
                await place_and_kill()

        async def place_and_kill():
            placed = set()
            for index in range(2):
                body = body_of(wallet.buy(token, 5 + index, 500))
                data = signed_request(wallet, "POST", "/order", body)
                answer = await self.timed("place to kill", time.monotonic(), client, data)
                placed.add(answer["orderID"] if answer else None)
            acts = lambda answer: placed - {None} <= set(answer["canceled"])  # noqa: E731
            data = signed_request(wallet, "DELETE", "/cancel-all")
            await self.timed("kill switch", time.monotonic(), client, data, holds=acts)

        return self.every(KILLS, kill, 0.9)

    async def run(self):
        self.begun = time.monotonic() + 0.2
        await asyncio.gather(
            *(self.trader(index, wallet) for index, wallet in enumerate(self.traders)),
            *self.reads(),
            *(self.newcomers(name, 0.2 + index / 4) for index, name in enumerate(("trading", "data", "catalog"))),
            *self.operator(),
            self.kill_switch(),
        )
        while self.tasks:
            await asyncio.wait(self.tasks)


def main():
    site, seconds, out = sys.argv[1:]
    with open(site, encoding="utf-8") as file:
        load = Load(json.load(file), float(seconds))
    try:
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
    except PermissionError:
        pass
    gc.freeze()
    asyncio.run(load.run())
    with open(out, "w", encoding="utf-8") as file:
        json.dump(load.samples, file)


if __name__ == "__main__":
    main()
