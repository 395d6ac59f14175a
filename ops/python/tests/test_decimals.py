"""Numbers and times on their way in."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from foretell import decimals


@pytest.mark.parametrize(
    ("value", "text"),
    [("0.57", "0.57"), (20, "20"), (Decimal("1E+2"), "100"), ("1e-3", "0.001"), (Decimal("0.10"), "0.10")],
)
def test_numbers_are_sent_as_plain_decimals(value: decimals.Number, text: str) -> None:
    assert decimals.text(value, "price") == text


def test_a_float_is_rejected_and_the_error_names_the_trap() -> None:
    value: Any = 0.57
    with pytest.raises(TypeError, match=r"price is the float 0\.57.*Write '0\.57'.*0\.5699999999999999"):
        decimals.number(value, "price")


@pytest.mark.parametrize("value", [True, None, b"1"])
def test_other_types_are_rejected(value: Any) -> None:
    with pytest.raises(TypeError, match="size is"):
        decimals.number(value, "size")


@pytest.mark.parametrize("value", ["x", "", "NaN", "Infinity"])
def test_texts_that_are_no_finite_number_are_rejected(value: str) -> None:
    with pytest.raises(ValueError, match="size is"):
        decimals.number(value, "size")


def test_micros_are_exact() -> None:
    assert decimals.micros("1.5", "amount") == "1500000"
    with pytest.raises(ValueError, match="multiples of 1/1000000"):
        decimals.micros("0.0000001", "amount")


@pytest.mark.parametrize("value", ["2026-11-30T10:15:02.114Z", "2026-11-30T10:15:02.114+00:00"])
def test_iso_times_are_read_as_aware(value: str) -> None:
    assert decimals.instant(value) == datetime(2026, 11, 30, 10, 15, 2, 114000, timezone.utc)


def test_unix_times_are_read_as_aware() -> None:
    assert decimals.instant("10") == decimals.instant(10) == decimals.EPOCH + timedelta(seconds=10)


def test_times_are_sent_in_utc() -> None:
    east = timezone(timedelta(hours=5))
    assert decimals.iso(datetime(2026, 1, 1, 5, tzinfo=east), "to") == "2026-01-01T00:00:00.000Z"


def test_naive_times_are_rejected() -> None:
    with pytest.raises(ValueError, match="to is the naive"):
        decimals.iso(datetime(2026, 1, 1), "to")
