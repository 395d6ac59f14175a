"""A stream whose text PONG is lost: a proxy between a client and the streams of an exchange."""

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import serve


@dataclass
class Connection:
    """One connection of the client: when it opened, when it ended, and when messages passed."""

    opened: float = field(default_factory=time.monotonic)
    ended: float | None = None
    passed: list = field(default_factory=list)
    pongs: int = 0


class Silence:
    """Passes everything but the text PONG."""

    def __init__(self, target):
        self._target = target
        self.connections = []
        self._server = serve(self._pass, "127.0.0.1", 0, ping_interval=None)
        host, port = self._server.socket.getsockname()
        self.url = f"ws://{host}:{port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _pass(self, client):
        kept = Connection()
        self.connections.append(kept)
        with connect(self._target + client.request.path, ping_interval=None) as exchange:
            threading.Thread(target=self._answers, args=(exchange, client, kept), daemon=True).start()
            with suppress(ConnectionClosed):
                for message in client:
                    exchange.send(message)
            kept.ended = time.monotonic()

    @staticmethod
    def _answers(exchange, client, kept):
        with suppress(ConnectionClosed):
            for message in exchange:
                if message == "PONG":
                    kept.pongs += 1
                    continue
                kept.passed.append(time.monotonic())
                client.send(message)

    def close(self):
        """Ends it."""
        self._server.shutdown()


class Flow:
    """A message on a market's stream every second: an order of somebody else."""

    def __init__(self, sandbox, market, wallet):
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(sandbox, market, wallet), daemon=True)
        self._thread.start()

    def _run(self, sandbox, market, wallet):
        while not self._closed.wait(1):
            sandbox.place(wallet, market.yes, "BUY", "0.1", "5")

    def close(self):
        """Ends it."""
        self._closed.set()
        self._thread.join()
