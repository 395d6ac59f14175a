"""Writes into the log what nobody of the cluster signed, until it is ended: a program of its own, on a reader's machine.

    stranger.py SERVERS AUTHORITY CERTIFICATE KEY SECONDS_BETWEEN

It hears every message of the streams, with the certificate that hosts have, and writes forged, repeated and spoilt messages,
garbage, and messages under ids that hosts use, into the journal, the heartbeat and the hosts' records.
"""

import asyncio
import random
import ssl
import sys
from collections import deque

import nats
from nats.errors import Error

STREAM = "foretell"
HOSTS = ("alpha", "beta", "gamma")
HEARTBEAT = "host beta\naddress \nterm 1000000\ncount 1\nsequence 0\nwall_ms 0\nresigned true\n"
RECORD = "host {}\nrole standby\nsequence 99999999\nmessage 1\nformat 1\nfingerprint 00\nwall_ms 9999999999999\n"


class Stranger:
    """One connection, and the last messages that it heard, by the part of the log."""

    def __init__(self, connection):
        self.connection, self.heard, self.chance = connection, {}, random.Random(7)

    async def hear(self, message):
        part = message.subject.split(".")[1]
        self.heard.setdefault(part, deque(maxlen=64)).append((message.data, message.headers))

    async def write(self):
        """One message into each part of the log."""
        await self.send(f"{STREAM}.journal", "journal", b"22 bytes of garbage...")
        await self.send(f"{STREAM}.heartbeat", "heartbeat", HEARTBEAT.encode())
        host = self.chance.choice(HOSTS)
        await self.send(f"{STREAM}.hosts.{host}", "hosts", RECORD.format(host).encode())
        # Invented names would make the list of hosts endless.
        await self.send(f"{STREAM}.hosts.x{self.chance.randrange(10**9)}", "hosts", b"")

    async def send(self, subject, part, forged):
        seal = bytes(64) + bytes([4]) + b"beta"
        heard = self.heard.get(part)
        data, headers = self.chance.choice(heard) if heard else (b"", None)
        spoilt = bytearray(data or b"x")
        spoilt[self.chance.randrange(len(spoilt))] ^= 1
        payload = self.chance.choice((forged, seal + forged, data, data, bytes(spoilt)))
        names = [{}, {"Nats-Msg-Id": (headers or {}).get("Nats-Msg-Id", "x")}]
        await self.connection.publish(subject, payload, headers=self.chance.choice(names) or None)


async def ignore(_):
    """Lost connections are the point of the run."""


async def main(servers, authority, certificate, key, pause):
    context = ssl.create_default_context(cafile=authority)
    context.load_cert_chain(certificate, key)
    connection = await nats.connect(
        servers=servers.split(","), tls=context, max_reconnect_attempts=-1, reconnect_time_wait=0.2, connect_timeout=2,
        error_cb=ignore,
    )  # fmt: skip
    stranger = Stranger(connection)
    await connection.subscribe(f"{STREAM}.>", cb=stranger.hear)
    while True:
        try:
            await stranger.write()
        except Error:
            pass
        await asyncio.sleep(float(pause))


asyncio.run(main(*sys.argv[1:]))
