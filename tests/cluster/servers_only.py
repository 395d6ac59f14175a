"""The nemesis against the log's servers alone: a publisher numbers messages, and every acknowledged one must stay.

It proves the means of the run without an exchange: the servers' configuration, disks, cuts and what a fault costs.
"""

import asyncio
import random
import ssl
import time

import nats
from nats.errors import Error
from nats.js.api import RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import APIError

from exchange_run import goes_on
from machines import Machines
from nemesis import Nemesis, strikes

STREAM = "numbers"
# A publish without an answer is sent again after that many seconds.
PATIENCE = 2
WRONG_LAST_SEQUENCE = 10071


def tls(machines):
    """What a client of the servers needs."""
    context = ssl.create_default_context(cafile=machines.authority.certificate)
    context.load_cert_chain(*machines.user_certificate)
    return context


class Publisher:
    """Publishes numbers one after the other, each expecting the one before to be the last."""

    def __init__(self, machines):
        self.servers, self.context = machines.servers, tls(machines)
        self.acknowledged, self.longest_pause = 0, 0.0

    async def open(self):
        self.connection = await nats.connect(
            servers=[server.url for server in self.servers],
            tls=self.context,
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.2,
            ping_interval=1,
            max_outstanding_pings=2,
            connect_timeout=2,
            allow_reconnect=True,
            error_cb=ignore,
        )
        self.stream = self.connection.jetstream(timeout=PATIENCE)
        await self.make_stream()

    async def make_stream(self):
        """Makes the stream once a majority of servers is there."""
        config = StreamConfig(
            name=STREAM, subjects=[STREAM], num_replicas=3, storage=StorageType.FILE, retention=RetentionPolicy.LIMITS
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                return await self.stream.add_stream(config)
            except (Error, APIError, TimeoutError):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.3)

    async def round(self, action):
        """Publishes while something is done and until it goes on after it; then checks."""
        self.ended = False
        publishing = asyncio.create_task(self.publish())
        await action
        try:
            await goes_on(lambda: self.acknowledged)
        finally:
            self.ended = True
            await publishing
            await self.check()

    async def publish(self):
        """Publishes until it is ended."""
        last, self.longest_pause = time.monotonic(), 0.0
        while not self.ended:
            if await self.is_published(self.acknowledged + 1):
                self.acknowledged += 1
                self.longest_pause = max(self.longest_pause, time.monotonic() - last)
                last = time.monotonic()

    async def is_published(self, number):
        # No message id: servers before 2.11 answer that a message whose id they have seen is a duplicate, also when
        # it is not stored (nats-server, pull request 5827).
        headers = {"Nats-Expected-Last-Sequence": str(number - 1)}
        try:
            answer = await self.stream.publish(STREAM, str(number).encode() * 512, headers=headers)
        except APIError as error:
            if error.err_code != WRONG_LAST_SEQUENCE:
                await asyncio.sleep(0.1)
                return False
            # An earlier attempt was stored; or messages were lost.
            return (await self.numbers(number))[-1:] == [number]
        except (Error, TimeoutError):
            await asyncio.sleep(0.1)
            return False
        assert answer.seq == number, f"number {number} was stored as {answer.seq}"
        return True

    async def numbers(self, first=1):
        """The numbers that the stream holds from one on."""
        found = []
        try:
            last = (await self.stream.stream_info(STREAM)).state.last_seq
            for sequence in range(first, last + 1):
                message = await self.stream.get_msg(STREAM, sequence)
                found.append(int(message.data[: len(message.data) // 512]))
        except (Error, APIError, TimeoutError):
            return found
        return found

    async def check(self):
        """Every acknowledged number is in the stream, once and in order."""
        deadline = time.monotonic() + 60
        while True:
            found = await self.numbers()
            wanted = list(range(1, self.acknowledged + 1))
            if found[: len(wanted)] == wanted:
                return
            if time.monotonic() > deadline:
                missing = [number for number in wanted if number not in found]
                raise AssertionError(f"{len(missing)} of {len(wanted)} acknowledged numbers are lost: {missing[:5]}")
            await asyncio.sleep(0.5)


async def ignore(_):
    """Lost connections are the point here."""


async def rounds(chosen, network, directory, seed, count):
    """Rounds of the nemesis; after each every acknowledged message must be there."""
    chance = random.Random(seed)
    machines = Machines(network, directory, chosen.server, chosen.sync_interval)
    try:
        for server in machines.servers:
            server.start()
        publisher = Publisher(machines)
        await publisher.open()
        for number in range(1, count + 1):
            await publisher.round(strikes(Nemesis(machines, chance, chosen.acts), chance))
            pause = f"longest pause {publisher.longest_pause:.1f} s"
            print(f"  round {number}: {publisher.acknowledged} acknowledged, none lost, {pause}", flush=True)
        await publisher.connection.close()
    finally:
        network.mend_all()
        machines.kill()
    machines.remove()
