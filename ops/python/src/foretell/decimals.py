"""Amounts, prices and times on their way in and out."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

Number: TypeAlias = Decimal | int | str
"""An exact number: what every price, size and amount is given as."""

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROS = 1_000_000


def number(value: Number, name: str) -> Decimal:
    """The value as a Decimal. A float raises TypeError, a text that is no finite number ValueError."""
    if isinstance(value, float):
        raise TypeError(
            f"{name} is the float {value!r}, allowed: Decimal, int or str. Write '{value!r}': "
            f"the float is {Decimal(value)}, and clients that floor it lose a tick or a share"
        )
    if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
        raise TypeError(f"{name} is {value!r}, allowed: Decimal, int or str")
    try:
        result = Decimal(value)
    except InvalidOperation:
        raise ValueError(f"{name} is {value!r}, allowed: a decimal number") from None
    if not result.is_finite():
        raise ValueError(f"{name} is {value!r}, allowed: a finite number")
    return result


def text(value: Number, name: str) -> str:
    """The value as a decimal text without an exponent."""
    return format(number(value, name), "f")


def micros(value: Number, name: str) -> str:
    """The value in micros (millionths), as digits. A finer value raises ValueError."""
    return digits(value, MICROS, name)


def digits(value: Number, scale: int, name: str) -> str:
    """The value times `scale`, as digits. A value that is then no whole number raises ValueError."""
    scaled = number(value, name) * scale
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{name} is {value}, allowed: multiples of 1/{scale}")
    return format(scaled.to_integral_value(), "f")


def instant(value: str | int) -> datetime:
    """The aware datetime of a time of the exchange: ISO 8601, or Unix seconds."""
    if isinstance(value, int) or value.isdigit():
        return EPOCH + timedelta(seconds=int(value))
    return datetime.fromisoformat(value.replace("Z", "+00:00"))


def iso(value: datetime, name: str) -> str:
    """The ISO 8601 text of an aware datetime, in milliseconds of UTC. A naive datetime raises ValueError."""
    if value.utcoffset() is None:
        raise ValueError(f"{name} is the naive {value!r}, allowed: one with a time zone")
    utc = value.astimezone(timezone.utc)
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")
