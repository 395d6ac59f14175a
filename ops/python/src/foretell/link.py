"""The running exchange, as its handles see it: its surfaces, and the sequence that reads wait for."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from foretell.api import Surface
from foretell.decimals import EPOCH, instant
from foretell.errors import ExchangeError, ProcessError, StaleHandle
from foretell.process import Process
from foretell.ready import Ready
from foretell.signing import Credentials, l2_headers

LAST_PAGE = "LTE="
# What a gateway answers while its engine ends.
DYING = ("outcome_unknown", "engine_unavailable")


class Link:
    """Requests to one run of an exchange. After `close`, every request raises StaleHandle."""

    def __init__(self, ready: Ready, process: Process | None) -> None:
        self.ready = ready
        self._process = process
        self._operator = Surface(ready.operator, {"Authorization": f"Bearer {ready.token}"})
        self._trading = Surface(ready.trading, {})
        self._is_open = True
        self._last_timestamp = 0
        gateways = [it for it in self._status()["processes"] if it["name"].startswith("gateway")]
        self._has_one_gateway = len(gateways) == 1

    def close(self) -> None:
        """Makes every handle of this exchange stale."""
        self._is_open = False
        self._operator.close()
        self._trading.close()

    def command(self, path: str, **body: Any) -> Any:
        """Sends `POST path` to the operator surface and returns the JSON of the answer. None values are left out."""
        fields = {name: value for name, value in body.items() if value is not None}
        return self._send(self._operator, "POST", path, body=encode(fields))

    def read(self, path: str, **query: str) -> Any:
        """Sends `GET path` to the operator surface, after everything that was acknowledged."""
        return self._send(self._operator, "GET", path, query=query, headers=self._wait())

    def public(self, path: str, **query: str) -> Any:
        """Sends `GET path` to the trading surface, after everything that was acknowledged."""
        return self._send(self._trading, "GET", path, query=query, headers=self._wait())

    def signed(self, method: str, path: str, credentials: Credentials, **body: Any) -> Any:
        """Sends a client's command to the trading surface and returns the JSON of the answer."""
        content = encode(body) if body else b""
        headers = l2_headers(credentials, self._timestamp(), method, path, content)
        return self._send(self._trading, method, path, body=content, headers=headers)

    def own(self, path: str, credentials: Credentials, **query: str) -> Any:
        """Sends a client's `GET path` to the trading surface, after everything that was acknowledged."""
        headers = l2_headers(credentials, self._timestamp(), "GET", path, b"")
        return self._send(self._trading, "GET", path, query=query, headers={**self._wait(), **headers})

    def own_pages(self, path: str, credentials: Credentials, **query: str) -> Iterator[dict[str, Any]]:
        """Reads the rows of all pages of a client's list."""
        cursor = "MA=="
        while cursor != LAST_PAGE:
            page = self.own(path, credentials, **query, next_cursor=cursor)
            yield from page["data"]
            cursor = page["next_cursor"]

    def now(self) -> tuple[datetime, datetime]:
        """The engine time and the wall time of the exchange."""
        clock = self._send(self._operator, "GET", "/sandbox/clock")
        return instant(clock["now"]), instant(clock["wall"])

    def env(self) -> dict[str, str]:
        """Addresses of the surfaces and the chain, under the names that bots use."""
        self.check_open()
        ready = self.ready
        return {
            "TRADING_URL": ready.trading,
            "DATA_URL": ready.data,
            "CATALOG_URL": ready.catalog,
            "CLOB_API_URL": ready.trading,
            "CLOB_HOST": ready.trading,
            "DATA_API_URL": ready.data,
            "GAMMA_API_URL": ready.catalog,
            "GAMMA_HOST": ready.catalog,
            "CLOB_WS_URL": ready.ws,
            "CHAIN_ID": str(ready.chain),
        }

    def log_tail(self) -> str:
        """The last lines of the exchange's log; empty for an exchange that another program started."""
        return self._process.log_tail() if self._process else ""

    def check(self, handle: str, link: Link) -> None:
        """Raises StaleHandle if a handle belongs to another exchange, or this exchange has stopped."""
        if link is not self:
            raise StaleHandle(f"{handle} belongs to another exchange, or to one that has stopped")
        self.check_open()

    def check_open(self) -> None:
        """Raises StaleHandle if this exchange has stopped."""
        if not self._is_open:
            raise StaleHandle("the exchange of this handle has stopped; make markets and wallets at the running one")

    def _wait(self) -> dict[str, str]:
        """The header that makes a read wait for the newest command, whoever sent it (docs/api/overview.md §3).

        The only gateway of an exchange needs none: its reads reflect everything that it acknowledged.
        """
        if self._has_one_gateway:
            return {}
        return {"x-min-sequence": str(self._status()["engine"]["sequence"])}

    def _status(self) -> Any:
        return self._send(self._operator, "GET", "/status")

    def _timestamp(self) -> int:
        """The exchange's wall time in ms, and never the same twice: two equal requests are sent as different ones.

        This process's clock may be moved by the test.
        """
        now = int((self.now()[1] - EPOCH) / timedelta(milliseconds=1))
        self._last_timestamp = max(now, self._last_timestamp + 1)
        return self._last_timestamp

    def _send(
        self,
        surface: Surface,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        self.check_open()
        try:
            return surface.request(method, path, query, body, headers)
        except (OSError, http.client.HTTPException, ExchangeError) as error:
            is_suspect = not isinstance(error, ExchangeError) or error.code in DYING
            if is_suspect and self._process and self._process.has_ended():
                raise ProcessError(self._process.epitaph()) from None
            raise


def encode(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
