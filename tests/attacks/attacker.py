"""One attacker at 127.0.0.2: every attack at once, held to a fifth of a core.

    attacker.py SITE SECONDS OUT NAME...

The share is kept by its own clock: whenever the CPU time of this process (user and system) is above a
fifth of the time passed, it sleeps until it is not. Keys exist before it starts; signatures of orders
cost microseconds (`wallets.py`). It reads answers only to count statuses. OUT gets the counts.

H1  lists of all markets over HTTP/2 with a window of 0 and PINGs, and over HTTP/1.1 without reading
H2  fresh wallets without money send DELETE /cancel-all with bodies that change
H5  as many idle connections as it gets, on every surface
M1  a wallet with $1 and 16 keys sends batches of 15 FAK bids of $1 at 0.01
M4  own orders with many trades, trades by taker, lists of all markets
"""

import asyncio
import collections
import itertools
import json
import re
import resource
import signal
import struct
import sys
import time

from wallets import Wallet, body_of, request, signed_request

SOURCE = "127.0.0.2"
SHARE = 0.2
# CPU time it may be ahead of its share by.
BURST = 0.02
# Requests a second of each attack: alone, and with the others, where the cap of 500 a second on the
# trading surface is shared out.
RATES = {"H1": (400, 60), "H2": (480, 200), "H5": (400, 150), "M1": (300, 120), "M4": (400, 80)}
# Of M4: own orders and trades, which have a cap of 15 a second and an address; the rest are lists.
LEDGER = 15
LISTS = ("/sampling-markets", "/markets", "/simplified-markets")
# More idle connections than any default allows an address.
IDLE = 15_000
# Requests on a connection that are not answered yet.
OUTSTANDING = 16
STREAMS = 16
STATUS = re.compile(rb"HTTP/1\.1 (\d\d\d)")

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM_AND_HEADERS = 0x5
ACK = 0x1
INITIAL_WINDOW_SIZE = 4
# HPACK: ":status: 200" of the static table.
STATUS_200 = 0x88


def frame(kind, flags, stream, payload=b""):
    """An HTTP/2 frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header field in HPACK: literal, not indexed."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


class Counted(asyncio.BufferedProtocol):
    """A connection whose answers are counted by status and dropped."""

    buffer = bytearray(1 << 18)

    def __init__(self, counts):
        self.counts, self.tail, self.sent, self.answered = counts, b"", 0, 0
        self.open = self.heard = False

    def connection_made(self, transport):
        self.transport, self.open = transport, True

    def get_buffer(self, _):
        return self.buffer

    def buffer_updated(self, length):
        self.heard = True
        data = self.tail + self.buffer[:length]
        statuses = STATUS.findall(data)
        # Nothing of it can be a whole status line, so none is counted twice.
        self.tail = bytes(data[-11:]) if not STATUS.search(data[-11:]) else b""
        self.answered += len(statuses)
        for status in statuses:
            self.counts[status.decode()] += 1

    def connection_lost(self, _):
        self.open = False
        self.counts["connections lost"] += 1

    def send(self, data):
        """Sends a request unless too many wait for their answers; says whether it did."""
        if self.sent - self.answered >= OUTSTANDING:
            return False
        self.transport.write(data)
        self.sent += 1
        self.counts["sent"] += 1
        return True


class Unread(Counted):
    """An HTTP/1.1 connection whose answers are never read."""

    def connection_made(self, transport):
        super().connection_made(transport)
        transport.pause_reading()


class Starved(asyncio.Protocol):
    """An HTTP/2 connection that grants no window and pings."""

    def __init__(self, counts):
        self.counts, self.data, self.streams, self.next = counts, b"", set(), 1
        self.open = self.heard = False

    def connection_made(self, transport):
        self.transport, self.open = transport, True
        settings = struct.pack(">HI", INITIAL_WINDOW_SIZE, 0)
        transport.write(PREFACE + frame(SETTINGS, 0, 0, settings))

    def data_received(self, data):
        self.heard = True
        self.data += data
        while len(self.data) >= 9:
            length, (kind, flags, stream) = int.from_bytes(self.data[:3], "big"), struct.unpack(">BBI", self.data[3:9])
            if len(self.data) < 9 + length:
                return
            payload, self.data = self.data[9 : 9 + length], self.data[9 + length :]
            self.frame(kind, flags, stream, payload)

    def frame(self, kind, flags, stream, payload):
        if kind in (SETTINGS, PING) and not flags & ACK:
            self.transport.write(frame(kind, ACK, 0, payload if kind == PING else b""))
        elif kind == HEADERS and payload[:1] == bytes([STATUS_200]):
            self.counts["200"] += 1
        elif kind == HEADERS:
            # An error: give the stream back and ask again later.
            self.counts["not 200"] += 1
            self.streams.discard(stream)
            self.transport.write(frame(RST_STREAM, 0, stream, struct.pack(">I", 8)))
        elif kind == RST_STREAM:
            self.counts["streams reset"] += 1
            self.streams.discard(stream)
        elif kind == GOAWAY:
            self.counts["goaway"] += 1
            self.open = False

    def connection_lost(self, _):
        self.open = False
        self.counts["connections lost"] += 1

    def ask(self, path):
        """Opens a stream; says whether there was one left."""
        if len(self.streams) >= STREAMS:
            return False
        fields = [(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"foretell"), (b":path", path.encode())]
        block = b"".join(literal(*field) for field in fields)
        self.transport.write(frame(HEADERS, END_STREAM_AND_HEADERS, self.next, block))
        self.streams.add(self.next)
        self.next += 2
        self.counts["sent"] += 1
        return True

    def ping(self):
        self.transport.write(frame(PING, 0, 0, bytes(8)))


class Attacker:
    """The attacks, and what came of each."""

    def __init__(self, site, seconds, names):
        self.site, self.names, self.seconds = site, names, seconds
        self.counts = {name: collections.Counter() for name in names}
        self.addresses = {name: tuple(address) for name, address in site["addresses"].items()}
        self.idle, self.hold_after = collections.deque(), 0.0
        self.starved, self.unread = [], collections.deque()

    def rate(self, name):
        return RATES[name][len(self.names) > 1]

    def make_room(self, connection):
        """When a connection that attacks was turned away, an idle one gives way and none replaces it for a second."""
        if connection is None or not connection.open and not connection.heard:
            self.hold_after = time.monotonic() + 1.0
            if self.idle:
                self.idle.popleft().transport.abort()

    async def connect(self, name, make, surface="trading"):
        """A connection, or None."""
        host, port = self.addresses[surface]
        counts = self.counts[name]
        opening = asyncio.get_running_loop().create_connection(
            lambda: make(counts), host, port, local_addr=(SOURCE, 0)
        )
        try:
            _, protocol = await asyncio.wait_for(opening, 5)
        except OSError:
            counts["connections failed"] += 1
            return None
        counts["connections"] += 1
        return protocol

    async def steady(self, rate, action):
        """Runs an action `rate` times a second as far as the share of the core goes."""
        for number in itertools.count():
            due = self.begun + number / rate
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if time.monotonic() - due < 1.0:  # what it could not do in time it drops
                await action(number)

    def senders(self, name, count, make_request):
        """An action that sends a request on one of `count` connections."""
        connections = [None] * count

        async def send(number):
            index = number % count
            if connections[index] is None or not connections[index].open:
                if number >= count:
                    self.make_room(connections[index])
                connections[index] = await self.connect(name, Counted)
            elif connections[index].sent - connections[index].answered < OUTSTANDING:
                connections[index].send(make_request(number))

        return send

    def unread_lists(self):
        async def starve(number):
            while self.starved and not self.starved[-1].open:
                self.make_room(self.starved.pop())
            if not self.starved or not self.starved[-1].ask(LISTS[0]):
                self.starved = [connection for connection in self.starved if connection.open]
                free = next((one for one in self.starved if len(one.streams) < STREAMS), None)
                if free is not None:
                    free.ask(LISTS[0])
                elif (new := await self.connect("H1", Starved)) is not None:
                    self.starved.append(new)

        async def ping(_):
            for connection in self.starved:
                if connection.open:
                    connection.ping()

        async def leave_unread(_):
            if (connection := await self.connect("H1", Unread)) is not None:
                for _ in range(OUTSTANDING):
                    connection.send(request("GET", LISTS[0]))
                self.unread.append(connection)

        # A connection asks 16 times.
        return self.steady(self.rate("H1"), starve), self.steady(0.2, ping), self.steady(2, leave_unread)

    def empty_cancels(self):
        wallets = [Wallet(**saved) for saved in self.site["unfunded"]]

        def cancel(number):
            body = body_of({"n": number})
            return signed_request(wallets[number % len(wallets)], "DELETE", "/cancel-all", body)

        return (self.steady(self.rate("H2"), self.senders("H2", 8, cancel)),)

    def idle_connections(self):
        surfaces = itertools.cycle(self.addresses)

        async def hold(_):
            while self.idle and not self.idle[0].open:
                self.idle.popleft()
            if time.monotonic() < self.hold_after:
                return
            if len(self.idle) < IDLE:
                connection = await self.connect("H5", Counted, next(surfaces))
                if connection is not None:
                    self.idle.append(connection)
            else:
                self.idle.rotate()
            open_now = self.counts["H5"]["connections"] - self.counts["H5"]["connections lost"]
            self.counts["H5"]["most open"] = max(self.counts["H5"]["most open"], open_now)

        return (self.steady(self.rate("H5"), hold),)

    def killed_orders(self):
        keys = [Wallet(**saved) for saved in self.site["dollar"]]
        token = self.site["quiet"]["tokens"][0]

        def batch(number):
            wallet = keys[number % len(keys)]
            orders = [wallet.buy(token, 1, 10_000, "FAK", ahead_ms=60_000) for _ in range(15)]
            return signed_request(wallet, "POST", "/orders", body_of(orders))

        return (self.steady(self.rate("M1"), self.senders("M1", 8, batch)),)

    def costly_reads(self):
        maker, takers = Wallet(**self.site["maker"]), [Wallet(**saved) for saved in self.site["takers"]]

        def ledger(number):
            if number % 3:
                return signed_request(maker, "GET", "/data/orders")
            if number % 2:
                return signed_request(maker, "GET", "/data/trades", query=f"?taker={maker.address}")
            return request("GET", f"/builder/trades?taker={takers[0].address}")

        def lists(number):
            return request("GET", LISTS[number % len(LISTS)])

        return (
            self.steady(LEDGER, self.senders("M4", 4, ledger)),
            self.steady(self.rate("M4") - LEDGER, self.senders("M4", 8, lists)),
        )

    async def govern(self):
        """Holds the process to its share; sleeping stops everything here, on purpose."""
        while True:
            over = time.process_time() - self.cpu - BURST - SHARE * (time.monotonic() - self.begun)
            if over > 0:
                time.sleep(over / SHARE)
            await asyncio.sleep(0.005)

    async def run(self):
        attacks = {
            "H1": self.unread_lists,
            "H2": self.empty_cancels,
            "H5": self.idle_connections,
            "M1": self.killed_orders,
            "M4": self.costly_reads,
        }
        self.begun, self.cpu = time.monotonic(), time.process_time()
        coroutines = [coroutine for name in self.names for coroutine in attacks[name]()]
        tasks = [asyncio.create_task(coroutine) for coroutine in (self.govern(), *coroutines)]
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, tasks[0].cancel)
        # None ends by itself: one that is done failed, or the run is over early.
        done, _ = await asyncio.wait(tasks, timeout=self.seconds, return_when=asyncio.FIRST_COMPLETED)
        share = (time.process_time() - self.cpu) / (time.monotonic() - self.begun)
        for task in tasks:
            task.cancel()
        for task in done:
            if not task.cancelled():
                task.result()
        counts = {name: dict(counted) for name, counted in self.counts.items()}
        return {"share": share, "seconds": time.monotonic() - self.begun, "counts": counts}


def raise_files_limit():
    """Raises this process's soft limit of open files to the hard one."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main():
    site, seconds, out, *names = sys.argv[1:]
    raise_files_limit()
    with open(site, encoding="utf-8") as file:
        attacker = Attacker(json.load(file), float(seconds), names)
    result = asyncio.run(attacker.run())
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main()
