"""What each write route of the trading surface costs the journal, with money and without, and what one address can write.

The routes are those of the OpenAPI document that take credentials and change something: one without a body here ends
the run. First each is asked some times, one request after the other, and the journal's growth is divided by them. Then
one address sends as fast as it can: wallets without money what writes, and eight owners with a few dollars sets of
quotes that all move. Two gateways serve, and requests go to both.
"""

import asyncio
import functools
import itertools
import json
import re
import time
from pathlib import Path

from client import Client
from exchange import Exchange
from preparation import deposit, good, issue_keys, register, signing_domain
from wallets import Wallet, body_of, domain_separator, moved_quotes, quote_set, request, sign, signed_request, typed_digest

ROOT = Path(__file__).parents[2]
# Requests of each route.
REPEATS = 10
FLOOD_SECONDS = 30
UNFUNDED, OWNERS = 16, 8
# What an address without money may write, in bytes a second.
UNFUNDED_BYTES = 100_000
# Routes that with money get an order of their own each time.
ON_AN_ORDER = {
    "DELETE /order",
    "DELETE /orders",
    "DELETE /cancel-all",
    "DELETE /cancel-market-orders",
    "POST /order/decrease",
    "POST /replace",
}
# Routes with credentials that write nothing.
READS = {"POST /orders-scoring", "DELETE /notifications"}
# New keys are limited by address, and each gateway enforces its part.
KEYS_PER_ADDRESS = 8
NEVER = "0x" + 64 * "7"


def documented(setting):
    """KiB that a limit of docs/api/limits.md admits in 10 s."""
    text = (ROOT / "docs/api/limits.md").read_text()
    return int(re.search(rf"`{setting}`[^|]*\|[^|]*\| (\d+) \|", text).group(1))


def write_routes():
    document = json.loads((ROOT / "docs/openapi/trading.json").read_text())
    routes = [
        f"{method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in ("post", "put", "delete") and operation.get("security")
    ]
    return [route for route in routes if route not in READS]


class Routes:
    """Requests of a wallet, one for each route; each call is a new request."""

    def __init__(self, wallet, market, domains):
        self.wallet, self.market, self.domains, self.number = wallet, market, domains, time.time_ns() // 1_000
        self.live = NEVER
        self.bodies = {
            "POST /order": lambda: self.order(),
            "POST /orders": lambda: [self.order() for _ in range(15)],
            "POST /replace": lambda: {"cancel": [self.live], "place": [self.order()]},
            "DELETE /order": lambda: {"orderID": self.live},
            "DELETE /orders": lambda: [self.live],
            "POST /order/decrease": lambda: {"orderID": self.live, "remaining": "6"},
            "POST /quotes/heartbeat": lambda: {"group": 0, "revision": self.next()},
            "PUT /quotes/groups/{n}": lambda: {"lease_ms": 500 + self.next() % 50_000},
            "DELETE /cancel-all": lambda: {"n": self.next()},
            "DELETE /cancel-market-orders": lambda: {"market": market["condition_id"], "n": self.next()},
            "POST /heartbeats": lambda: {},
            "POST /v1/heartbeats": lambda: {},
            "POST /positions/split": lambda: self.action(amount="1000000"),
            "POST /positions/merge": lambda: self.action(amount="1000000"),
            "POST /positions/redeem": lambda: self.action(),
            "POST /positions/convert": lambda: {
                "event": NEVER,
                "markets": [market["condition_id"]],
                "amount": "1000000",
                "reference": f"convert {self.next()}",
            },
            "POST /withdrawals": lambda: self.withdrawal(),
            "DELETE /withdrawals/{number}": lambda: None,
            "DELETE /auth/api-key": lambda: None,
            "DELETE /auth/api-keys": lambda: None,
            "POST /auth/readonly-api-key": lambda: {"n": self.next()},
            "DELETE /auth/readonly-api-key": lambda: {"key": "00000000-0000-0000-0000-000000000007"},
        }

    def next(self):
        self.number += 1
        return self.number

    def order(self):
        return self.wallet.buy(self.market["tokens"][0], 1 + self.next() % 20, 700)

    def action(self, **more):
        return {"conditionId": self.market["condition_id"], "reference": f"action {self.next()}", **more}

    def withdrawal(self):
        domain = self.domains["withdrawals"]
        valid_until = max(self.next() // 1_000, time.time_ns() // 1_000_000) + 60_000
        fields = {
            "wallet": self.wallet.address,
            "destination": "a bank",
            "amount": "1000000",
            "reference": f"withdrawal {self.next()}",
            "validUntil": valid_until,
        }
        digest = typed_digest(domain_separator(domain), domain["type"], fields)
        return fields | {"signature": sign(self.wallet.key, digest)}

    def quotes(self):
        """A set in which all quotes move."""
        revision, condition = self.next(), self.market["condition_id"]
        return quote_set(self.wallet, self.domains["quotes"], condition, moved_quotes(revision), revision)

    def request(self, route):
        method, path = route.split(" ")
        path = path.replace("{n}", "1").replace("{number}", "1")
        if route == "POST /quotes":
            body = self.quotes()
        elif route == "POST /auth/api-key":
            self.wallet.nonce = self.next()
            return request(method, path, self.wallet.l1())
        else:
            value = self.bodies[route]()
            body = b"" if value is None else body_of(value)
        return signed_request(self.wallet, method, path, body)


class Run:
    def __init__(self, exchange, market):
        self.exchange, self.market, self.failures = exchange, market, []
        self.address, self.networks = exchange.addresses["trading"], itertools.count(8)

    async def wallets(self, name, count, dollars):
        wallets = [Wallet.new(f"journal {name} {number}") for number in range(count)]
        for wallet in wallets if dollars else ():
            await asyncio.to_thread(deposit, self.exchange, wallet, dollars)
        await issue_keys(self.address, wallets, f"127.0.{next(self.networks)}", KEYS_PER_ADDRESS)
        return wallets

    async def by_route(self):
        """Statuses and journal bytes of each route, without money and with it."""
        table, wallets = {}, {}
        routes = write_routes()
        # Each pair of route and kind has a wallet and an address of its own: none meets another's limits.
        for kind, dollars in (("without", None), ("with", "1000")):
            wallets[kind] = await self.wallets(kind, len(routes), dollars)
        for number, route in enumerate(routes):
            table[route] = {}
            for kind, of_kind in wallets.items():
                requests = Routes(of_kind[number], self.market, self.domains)
                client = Client(f"127.0.{5 + (kind == 'with')}.{1 + number}", self.address)
                written, statuses = 0, {}
                for _ in range(REPEATS):
                    if kind == "with" and route in ON_AN_ORDER:
                        order = signed_request(requests.wallet, "POST", "/order", body_of(requests.order()))
                        requests.live = (await good(client, order))["orderID"]
                    if kind == "with" and route == "POST /positions/merge":
                        await good(client, requests.request("POST /positions/split"))
                    before = self.exchange.journal_bytes()
                    status, _ = await client.ask(requests.request(route))
                    written += self.exchange.journal_bytes() - before
                    statuses[status] = statuses.get(status, 0) + 1
                table[route][kind] = {"statuses": statuses, "bytes": written / REPEATS}
        return table

    async def flood(self, source, senders):
        """Bytes a second that some senders write from one address; a sender makes its next request."""
        counts, connections = {}, 4
        begun, before = time.monotonic(), self.exchange.journal_bytes()

        async def one(make):
            clients = [Client(source, self.address) for _ in range(connections)]

            async def lane(client):
                while time.monotonic() < begun + FLOOD_SECONDS:
                    status = await client.status(make())
                    counts[status] = counts.get(status, 0) + 1

            await asyncio.gather(*(lane(client) for client in clients))

        await asyncio.gather(*(one(make) for make in senders))
        seconds = time.monotonic() - begun
        return {"statuses": counts, "bytes_a_second": (self.exchange.journal_bytes() - before) / seconds}

    async def all(self):
        client = Client("127.0.4.9", self.address)
        self.domains = {name: await signing_domain(client, name) for name in ("quotes", "withdrawals")}
        table = await self.by_route()
        show(table)
        writing = [route for route, row in table.items() if row["without"]["bytes"]]
        print(f"without money these write: {', '.join(writing) or 'none'}", flush=True)
        unfunded = [Routes(wallet, self.market, self.domains) for wallet in await self.wallets("poor", UNFUNDED, None)]
        # A wallet that revokes its key is done.
        often = [route for route in writing if not route.startswith("DELETE /auth/")]

        def in_turn(routes):
            return lambda: routes.request(often[routes.next() % len(often)])

        poor = await self.flood("127.0.0.2", [in_turn(routes) for routes in unfunded])
        owners = [Routes(wallet, self.market, self.domains) for wallet in await self.wallets("owner", OWNERS, "6.4")]

        rich = await self.flood("127.0.0.7", [functools.partial(routes.request, "POST /quotes") for routes in owners])
        allowed = documented("address_journal_burst`, `address_journal_sustained") * 1_024 / 10
        for name, found, most in (("without money", poor, UNFUNDED_BYTES), ("eight owners with $6.40", rich, allowed)):
            print(f"one address, {name}: {found['bytes_a_second'] / 1_000:.0f} KB/s, {most / 1_000:.0f} allowed: {found['statuses']}")
            if found["bytes_a_second"] > most:
                self.failures.append(f"{name}: one address wrote {found['bytes_a_second']:.0f} bytes/s, {most:.0f} are allowed")
        return {"routes": table, "unfunded": poor, "funded": rich}


def show(table):
    print("\n| route | without money | bytes | with money | bytes |\n|---|---|---|---|---|")
    for route, row in table.items():
        cells = [f"{', '.join(f'{count} × {status}' for status, count in one['statuses'].items())} | {one['bytes']:.0f}" for one in row.values()]
        print(f"| {route} | {' | '.join(cells)} |")


def run(chosen, directory):
    exchange = Exchange(chosen.binary, directory, {"FORETELL_GATEWAY_PROCESSES": "2"})
    try:
        found = Run(exchange, register(exchange, 1)[0])
        figures = asyncio.run(found.all())
    finally:
        exit_code = exchange.stop()
    _, _, failures = exchange.end(exit_code)
    return figures | {"failures": found.failures + failures}
