"""Registering markets and event groups on the operator surface."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from foretell import decimals
from foretell.decimals import Number
from foretell.link import Link
from foretell.types import Event, Fee, Market, Token

SLUG_LENGTH = 80
PPM = 1_000_000


class Registrar:
    """Registers markets under slugs made from their questions; a second use of a question gets a number."""

    def __init__(self, link: Link, suffix: str) -> None:
        """`suffix` ends every slug: other programs may register markets at an exchange that is shared."""
        self._link = link
        self._suffix = suffix
        self._slugs: set[str] = set()

    def market(self, question: str, terms: dict[str, Any]) -> Market:
        """Registers a market with terms of `POST /markets`. It opens at once unless the terms say otherwise."""
        fields = {"question": question, "slug": self._slug(question), **terms}
        answer = self._link.command("/markets", **fields)
        return self._read(answer["condition_id"], fields.get("event_id"))

    def event(self, title: str, questions: Sequence[str], terms: dict[str, Any]) -> Event:
        """Registers an event group, then its questions, and activates them."""
        slug = self._slug(title)
        event_id = self._link.command("/events", title=title, slug=slug)["event_id"]
        members = {**terms, "event_id": event_id, "activate": False}
        markets = tuple(self.market(question, members) for question in questions)
        for market in markets:
            self._link.command("/markets/activate", condition_id=market.condition_id)
        return Event(_link=self._link, event_id=event_id, title=title, slug=slug, markets=markets)

    def _read(self, condition_id: str, event_id: int | None) -> Market:
        """Reads the record of a market."""
        row = self._link.read(f"/markets/{condition_id}")
        ids = [token["token_id"] for token in row["tokens"]]
        tokens = [
            Token(
                _link=self._link,
                token_id=ids[index],
                outcome=token["outcome"],
                index=index,
                condition_id=condition_id,
                opposite_id=ids[1 - index],
            )
            for index, token in enumerate(row["tokens"])
        ]
        return Market(
            _link=self._link,
            condition_id=condition_id,
            question=row["question"],
            slug=row["slug"],
            tick_size=Decimal(row["minimum_tick_size"]),
            min_size=Decimal(row["minimum_order_size"]),
            event_id=event_id,
            tokens=(tokens[0], tokens[1]),
        )

    def _slug(self, text: str) -> str:
        """A slug that this exchange has not yet."""
        words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:SLUG_LENGTH] or "market"
        number = 1
        while (slug := f"{words}-{number}" if number > 1 else words) in self._slugs:
            number += 1
        self._slugs.add(slug)
        return f"{slug}{self._suffix}"


def terms(
    *,
    tick_size: Number | None,
    min_size: Number | None,
    fee: Fee | Number | None,
    taker_delay: timedelta | Number | None,
    rebate: Number | None,
    opens_at: datetime | None,
    closes_at: datetime | None,
    outcomes: tuple[str, str] | None,
) -> dict[str, Any]:
    """Fields of `POST /markets`; None leaves a field to the exchange."""
    return {
        "tick_size": None if tick_size is None else decimals.text(tick_size, "tick_size"),
        "minimum_order_size": None if min_size is None else decimals.text(min_size, "min_size"),
        "fee": None if fee is None else fee_fields(fee),
        "taker_delay_ms": None if taker_delay is None else milliseconds(taker_delay, "taker_delay"),
        "rebate_ppm": None if rebate is None else int(decimals.digits(rebate, PPM, "rebate")),
        "opens_at": None if opens_at is None else decimals.iso(opens_at, "opens_at"),
        "closes_at": None if closes_at is None else decimals.iso(closes_at, "closes_at"),
        "outcomes": None if outcomes is None else list(outcomes),
    }


def fee_fields(fee: Fee | Number) -> dict[str, int]:
    """The fee of `POST /markets`. A number is a rate with exponent 1."""
    schedule = fee if isinstance(fee, Fee) else Fee(decimals.number(fee, "fee"))
    return {"rate_ppm": int(decimals.digits(schedule.rate, PPM, "fee")), "exponent": schedule.exponent}


def milliseconds(duration: timedelta | Number, name: str) -> int:
    """Milliseconds of a duration; a number is seconds."""
    if isinstance(duration, timedelta):
        return duration // timedelta(milliseconds=1)
    return int(decimals.digits(duration, 1000, name))
