"""A prediction-market exchange as a test dependency.

    import foretell

    with foretell.Exchange() as ex:
        rain = ex.market("Will it rain?")

The exchange is the program `foretell`, started as a sandbox. This package starts and stops it, and sends it requests.
It contains no rule of the exchange: what Python does here, `curl` can do on the operator surface.

Names are imported on first use, because pytest imports this module at every start.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foretell.binary import find_binary
    from foretell.clock import Clock
    from foretell.errors import BinaryNotFound, ExchangeError, ProcessError, StaleHandle
    from foretell.exchange import Exchange
    from foretell.types import (
        Account,
        Book,
        Event,
        Explanation,
        Fee,
        Fill,
        Happening,
        Level,
        Market,
        MetBook,
        Order,
        Placed,
        Position,
        Token,
    )
    from foretell.wallet import Wallet

_MODULES = {
    "foretell.binary": ("find_binary",),
    "foretell.clock": ("Clock",),
    "foretell.errors": ("BinaryNotFound", "ExchangeError", "ProcessError", "StaleHandle"),
    "foretell.exchange": ("Exchange",),
    "foretell.types": (
        "Account",
        "Book",
        "Event",
        "Explanation",
        "Fee",
        "Fill",
        "Happening",
        "Level",
        "Market",
        "MetBook",
        "Order",
        "Placed",
        "Position",
        "Token",
    ),
    "foretell.wallet": ("Wallet",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Account",
    "BinaryNotFound",
    "Book",
    "Clock",
    "Event",
    "Exchange",
    "ExchangeError",
    "Explanation",
    "Fee",
    "Fill",
    "Happening",
    "Level",
    "Market",
    "MetBook",
    "Order",
    "Placed",
    "Position",
    "ProcessError",
    "StaleHandle",
    "Token",
    "Wallet",
    "find_binary",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'foretell' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
