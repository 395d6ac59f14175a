"""HTTP requests to one surface of the exchange."""

from __future__ import annotations

import http.client
import json
import os
import select
import threading
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode, urlsplit

from foretell.errors import ExchangeError

SECONDS = 60.0


class Surface:
    """One surface: its URL, and one connection per thread that stays open between requests."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url = url.rstrip("/")
        self._headers = dict(headers)
        self._local = threading.local()

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Sends a request once and returns the JSON of the answer.

        A status other than 2xx raises ExchangeError, a lost connection OSError or HTTPException.
        """
        target = f"{path}?{urlencode(query)}" if query else path
        everything = {**self._headers, **(headers or {})}
        if body:
            everything["Content-Type"] = "application/json"
        connection = self._connection()
        try:
            connection.request(method, target, body or None, everything)
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            connection.close()
            raise
        if not 200 <= response.status < 300:
            raise rejection(response, content)
        return json.loads(content, parse_float=Decimal) if content else None

    def close(self) -> None:
        """Closes the connection of this thread. Those of other threads close with the exchange."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        """An open connection of this thread and process, or a new one."""
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        # A forked child has a copy of its parent's connection: two processes must not share a socket.
        if connection is None or self._local.process != os.getpid():
            connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=SECONDS)
            self._local.connection, self._local.process = connection, os.getpid()
        elif connection.sock is not None and is_closed_by_peer(connection.sock.fileno()):
            connection.close()
        return connection


def is_closed_by_peer(descriptor: int) -> bool:
    """Whether the exchange has closed an idle connection: there is something to read, and no request waits."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def rejection(response: http.client.HTTPResponse, content: bytes) -> ExchangeError:
    """The error of a response that is not 2xx."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    fields = body if isinstance(body, dict) else {}
    code = response.headers.get("x-error-code") or fields.get("code") or "unknown"
    message = fields.get("error") or fields.get("errorMsg") or content.decode(errors="replace") or response.reason
    return ExchangeError(str(code), response.status, str(message), fields.get("orderHash") or None)
