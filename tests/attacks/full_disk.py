"""A disk that is nearly full, an attacker with 64 unfunded keys and one with money, and honest cancels.

The data directory lies on a tmpfs. A filler takes its space until new orders are refused for lack of it. Then the
attacker sends DELETE /cancel-all, and sets without quotes of a group that had some. At a page of the journal each,
these requests would fill the reserve `TIMES` times. An hour at the cap of an address (500 a second) is 1.8 million
requests. At a page each, they would fill the default reserve of 256 MiB 27 times. The limits are off, so that the
count is reached in minutes. Mounting takes root.
"""

import asyncio
import json
import os
import subprocess
import time

from client import Broken, Client
from exchange import PAGE, Exchange
from preparation import deposit, good, issue_keys, register, signing_domain
from report import MIB
from wallets import Wallet, body_of, quote_set, signed_request

DISK_MIB, RESERVE_MIB, SEGMENT_MIB = 192, 24, 1
KEYS = 64
# How often the attack's requests would fill the reserve, at a page each.
TIMES = 4
REQUESTS = TIMES * RESERVE_MIB * MIB // PAGE
# Honest orders that rest when the disk is full; one is cancelled after so many requests of the attacker.
RESTING = 300
EVERY = REQUESTS // RESTING
# Requests of the attacker at once: few, because commands that meet in a batch share its page.
OUTSTANDING = 2
# After answers that took that long an honest cancel is due at once.
STALL_SECONDS = 1.0
# The filler grows in such steps and leaves the reserve nearly whole.
STEP = MIB // 2


def mount(path):
    """Mounts a tmpfs; says why that cannot be."""
    if os.geteuid() != 0:
        return "mounting a tmpfs takes root"
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=0700", "foretell-attacks", path]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else None


def free_bytes(path):
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


def is_low(exchange):
    return exchange.operate("GET", "/status")["engine"]["diskLow"]


def fill(exchange, disk):
    """Grows the filler until the engine says that the disk is low."""
    deadline = time.monotonic() + 60
    with open(disk / "filler", "wb") as filler:
        while not is_low(exchange):
            if free_bytes(disk) > RESERVE_MIB * MIB:
                filler.write(bytes(STEP))
                filler.flush()
            elif time.monotonic() > deadline:
                raise SystemExit("the engine does not say that the disk is low")
            else:
                time.sleep(0.05)


class Run:
    """Honest cancels between those of the attacker."""

    def __init__(self, exchange, disk, condition):
        self.exchange, self.disk, self.condition = exchange, disk, condition
        self.honest = Wallet.new("honest")
        self.attackers = [Wallet.new(f"unfunded {number}") for number in range(KEYS)]
        self.quoting, self.revision = Wallet.new("quoting"), time.time_ns() // 1_000
        self.failures, self.latencies, self.statuses, self.least_free = [], [], {}, free_bytes(disk)

    async def prepare(self, token):
        self.honest_client = Client("127.0.0.1", self.exchange.addresses["trading"])
        self.clients = [Client("127.0.0.2", self.exchange.addresses["trading"]) for _ in range(4)]
        await issue_keys(self.exchange.addresses["trading"], [self.honest, self.quoting, *self.attackers])
        self.domain = await signing_domain(self.clients[0], "quotes")
        await good(self.clients[0], self.quotes([(1, 500)]))
        self.resting = []
        for number in range(RESTING):
            self.resting.append(await self.place(token, 1 + number % 40))

    def quotes(self, quotes):
        """A set of the attacker with money."""
        self.revision += 1
        body = quote_set(self.quoting, self.domain, self.condition, quotes, self.revision)
        return signed_request(self.quoting, "POST", "/quotes", body)

    async def place(self, token, cents):
        body = body_of(self.honest.buy(token, cents, 500))
        answer = await good(self.honest_client, signed_request(self.honest, "POST", "/order", body))
        return answer["orderID"]

    async def cancel(self, path, body, expected):
        """An honest cancel; it must end what it names."""
        begun = time.monotonic()
        try:
            status, text = await self.honest_client.ask(signed_request(self.honest, "DELETE", path, body))
        except Broken as error:
            status, text = str(error), b""
        self.latencies.append(time.monotonic() - begun)
        if status != 200 or set(json.loads(text)["canceled"]) != set(expected):
            self.failures.append(f"an honest {path} was answered {status} {text[:200]!r}")

    async def attack(self):
        """All requests of the attacker, some at a time, with an honest cancel now and then."""
        for first in range(0, REQUESTS, OUTSTANDING):
            begun = time.monotonic()
            await asyncio.gather(*(self.one(number) for number in range(first, first + OUTSTANDING)))
            stalled = time.monotonic() - begun > STALL_SECONDS
            if (stalled or first % EVERY < OUTSTANDING) and len(self.resting) > 5:
                order = self.resting.pop()
                await self.cancel("/order", body_of({"orderID": order}), [order])
                self.least_free = min(self.least_free, free_bytes(self.disk))
            if len(self.failures) >= 3:
                self.failures.append(f"given up after {first + OUTSTANDING} requests of the attacker")
                return
        await self.cancel("/cancel-all", b"", self.resting)

    async def one(self, number):
        if number % 2:
            data = self.quotes([])
        else:
            body = body_of({"n": number})
            data = signed_request(self.attackers[number % KEYS], "DELETE", "/cancel-all", body)
        status = await self.clients[number % len(self.clients)].status(data)
        self.statuses[status] = self.statuses.get(status, 0) + 1

    async def is_refused(self, token):
        """Whether a new order is refused for lack of room."""
        body = body_of(self.honest.buy(token, 1, 500))
        status, _ = await self.honest_client.ask(signed_request(self.honest, "POST", "/order", body))
        return status == 503

    async def all(self, token):
        await self.prepare(token)
        await asyncio.to_thread(fill, self.exchange, self.disk)
        if not await self.is_refused(token):
            self.failures.append("the disk is low and a new order was taken")
        self.free_before = free_bytes(self.disk)
        begun = time.monotonic()
        await self.attack()
        self.seconds = time.monotonic() - begun
        (self.disk / "filler").unlink()
        deadline = time.monotonic() + 60
        while await asyncio.to_thread(is_low, self.exchange):
            if time.monotonic() > deadline:
                self.failures.append("there is room again and the engine says that the disk is low")
                return
            await asyncio.sleep(0.1)
        await self.place(token, 1)


def run(chosen, directory):
    """The run; its figures. Without root it says that it was skipped."""
    disk = directory / "disk"
    disk.mkdir()
    if why := mount(disk):
        print(f"skipped: {why}")
        return {"skipped": why, "failures": []}
    try:
        return on(chosen, disk)
    finally:
        subprocess.run(["umount", disk], check=True)


def on(chosen, disk):
    settings = {
        "FORETELL_LIMITS_ENABLED": "false",
        "FORETELL_ENGINE_DISK_RESERVE_MIB": str(RESERVE_MIB),
        "FORETELL_ENGINE_SEGMENT_MIB": str(SEGMENT_MIB),
    }
    exchange = Exchange(chosen.binary, disk, settings)
    try:
        market = register(exchange, 1)[0]
        found = Run(exchange, disk, market["condition_id"])
        for wallet in (found.honest, found.quoting):
            deposit(exchange, wallet, "100000")
        print(f"a disk with {RESERVE_MIB} MiB of reserve, {REQUESTS} requests of {KEYS} unfunded keys and one with money", flush=True)
        asyncio.run(found.all(market["tokens"][0]))
    finally:
        exit_code = exchange.stop()
    code, _, failures = exchange.end(exit_code)
    found.failures += failures
    figures = {
        "requests": sum(found.statuses.values()),
        "statuses": found.statuses,
        "reserve_bytes": RESERVE_MIB * MIB,
        "free_bytes_before": found.free_before,
        "free_bytes_least": found.least_free,
        "journal_bytes": exchange.journal_bytes(),
        "honest_cancels": len(found.latencies),
        "honest_cancel_max_ms": max(found.latencies) * 1_000,
        "audit_exit_code": code,
        "failures": found.failures,
    }
    print(json.dumps(figures, indent=1))
    return figures
