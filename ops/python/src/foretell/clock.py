"""The clock of the exchange: it moves forward only, and what was due happens at once."""

from __future__ import annotations

from datetime import datetime, timedelta

from foretell import decimals, rows
from foretell.link import Link
from foretell.types import Happening


class Clock:
    """The engine time of a sandbox. Times are aware datetimes."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def now(self) -> datetime:
        """The engine time."""
        return self._link.now()[0]

    def advance(
        self,
        *,
        to: datetime | None = None,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        milliseconds: float = 0,
    ) -> list[Happening]:
        """Moves the clock forward by a duration, or to a time. Returns what was due, in sequence: the first 1,000.

        It returns after all of it is in the books and on the streams. A time in the past raises ExchangeError.
        """
        by = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
        if (to is None) == (by == timedelta(0)):
            raise ValueError("advance takes `to` or a duration, such as hours=2")
        if to is not None:
            return self._move(to=decimals.iso(to, "to"))
        return self._move(advance_ms=by // timedelta(milliseconds=1))

    def freeze(self) -> list[Happening]:
        """Stops the clock. Orders, cancels and fills go on, all at this time. `advance` still moves it."""
        return self._move(frozen=True)

    def run(self) -> list[Happening]:
        """Lets a frozen clock run again, from the time where it stands."""
        return self._move(frozen=False)

    def _move(self, **body: object) -> list[Happening]:
        answer = self._link.command("/sandbox/clock", **body)
        return [rows.happening(row) for row in answer["happened"]]
