"""Errors of the package."""

from __future__ import annotations


class ExchangeError(Exception):
    """A request that the exchange rejected.

    `code` is the stable error code of the exchange (docs/api/error-codes.md), for example `fak_no_match`.
    `status` is the HTTP status. `message` is the error text. `order_id` is the rejected order, if it has an id.
    """

    def __init__(self, code: str, status: int, message: str, order_id: str | None = None) -> None:
        super().__init__(code, status, message, order_id)
        self.code = code
        self.status = status
        self.message = message
        self.order_id = order_id

    def __str__(self) -> str:
        return f"{self.message} ({self.code}, HTTP {self.status})"


class ProcessError(RuntimeError):
    """The exchange did not start, or it ended by itself. The text contains the last lines of its log."""


class BinaryNotFound(ProcessError):
    """There is no program `foretell` to start. The text says how to get one."""


class StaleHandle(RuntimeError):
    """A market, token, event or wallet of an exchange that has stopped, or of another exchange."""
