"""An HTTP/1.1 client on asyncio: connections from a chosen source address, one deadline a request."""

import asyncio
import time

# Longer than that and the request counts as failed.
DEADLINE = 10.0
# An idle connection is not used again after this many seconds: the server closes idle ones at 75.
FRESH = 20.0


class Broken(Exception):
    """The connection gave no answer; the text says how."""


class Connection:
    """One connection, one request at a time."""

    @classmethod
    async def open(cls, source, address):
        self = cls()
        opening = asyncio.open_connection(*address, local_addr=(source, 0), limit=16 << 20)
        self.reader, self.writer = await asyncio.wait_for(opening, DEADLINE)
        self.used, self.reusable = time.monotonic(), True
        return self

    def is_usable(self):
        return self.reusable and not self.reader.at_eof() and time.monotonic() - self.used < FRESH

    async def ask(self, data):
        """Sends a request; returns status, body and header fields (in lower case)."""
        self.writer.write(data)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in head[1:] if line)
        if fields.get("connection") == "close":
            self.reusable = False
        if fields.get("transfer-encoding") == "chunked":
            body = await self.chunks()
        else:
            body = await self.reader.readexactly(int(fields.get("content-length", "0")))
        self.used = time.monotonic()
        return int(head[0].split(" ")[1]), body, fields

    async def chunks(self):
        body = b""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            body += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)
        return body

    def close(self):
        self.reusable = False
        self.writer.transport.abort()


class Client:
    """A client at a source address; a request waits for no other one."""

    def __init__(self, source, address, deadline=DEADLINE):
        self.source, self.address, self.deadline, self.idle = source, address, deadline, []

    async def ask(self, data, fresh=False):
        """Status and body; see `answer`."""
        status, body, _ = await self.answer(data, fresh)
        return status, body

    async def status(self, data):
        """Status as a text, or how the request failed."""
        try:
            status, _ = await self.ask(data)
        except Broken as error:
            return str(error)
        return str(status)

    async def answer(self, data, fresh=False):
        """Status, body and header fields, on an idle connection or a new one (`fresh`: always a new one, closed after).

        Raises `Broken` when there is no answer by the deadline.
        """
        connection = None
        try:
            async with asyncio.timeout(self.deadline):
                connection = None if fresh else self.take_idle()
                if connection is None:
                    connection = await Connection.open(self.source, self.address)
                answer = await connection.ask(data)
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:  # TimeoutError is an OSError
            if connection is not None:
                connection.close()
            raise Broken(type(error).__name__) from error
        if fresh or not connection.is_usable():
            connection.close()
        else:
            self.idle.append(connection)
        return answer

    def take_idle(self):
        """The idle connection that was used last, if one is usable."""
        while self.idle:
            connection = self.idle.pop()
            if connection.is_usable():
                return connection
            connection.close()
        return None
