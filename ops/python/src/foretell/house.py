"""The other traders of a test: one that quotes books, and one that takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import cached_property
from typing import TypeAlias

from foretell import decimals
from foretell.decimals import Number
from foretell.errors import ExchangeError
from foretell.types import Fill, Level, Side, Token
from foretell.wallet import Wallet

# The whole exchange has at most 10^9 units of collateral (docs/verify/rules.md §1).
COLLATERAL = 1_000_000

Quote: TypeAlias = Level | tuple[Number, Number] | Mapping[str, Number]
"""A level of a book to make: (price, size), a Level, or an entry of a recorded `/book`."""


class House:
    """Two rich wallets of the package. They are made when they are first needed."""

    def __init__(self, new_wallet: Callable[[int], Wallet]) -> None:
        self._new_wallet = new_wallet

    @cached_property
    def maker(self) -> Wallet:
        """The wallet whose orders `set_book` places."""
        return self._new_wallet(COLLATERAL)

    @cached_property
    def taker(self) -> Wallet:
        """The wallet that `trade` trades with."""
        return self._new_wallet(COLLATERAL)

    def set_book(self, token: Token, bids: Iterable[Quote], asks: Iterable[Quote]) -> None:
        """Replaces the maker's orders in the market of a token. Sides that cross raise ValueError.

        Asks are bids for the other outcome at 1 − price: they need collateral and no shares, and the book of this
        token shows them as asks.
        """
        buys, sells = list(map(pair, bids)), list(map(pair, asks))
        if buys and sells and max(buys)[0] >= min(sells)[0]:
            raise ValueError(f"bids go up to {max(buys)[0]}, allowed: below the best ask, which is {min(sells)[0]}")
        orders = [(token.token_id, price, size) for price, size in buys]
        orders += [(token.opposite_id, 1 - price, size) for price, size in sells]
        self.maker.cancel_all(token)
        for token_id, price, size in orders:
            self.maker.place(token_id, "BUY", price=price, size=size)

    def trade(self, token: Token, side: Side, price: Number, size: Number) -> list[Fill]:
        """Trades at once up to a size and a limit price. Returns the taker's fills; none if nothing stands there.

        In a market with a taker delay the order trades after the delay, so there are no fills yet.
        """
        if side == "SELL":
            self._split_missing(token, decimals.number(size, "size"))
            try:
                placed = self.taker.place(token, side, price=price, size=size, order_type="FAK")
            except ExchangeError as error:
                if error.code == "fak_no_match":
                    return []
                raise
        else:
            # A FAK BUY is limited by what it spends, not by its size: it would buy more at a better price.
            placed = self.taker.place(token, side, price=price, size=size)
            self.taker.cancel(placed)
        trades = set(placed.trade_ids)
        return [fill for fill in self.taker.fills() if fill.trade_id in trades]

    def _split_missing(self, token: Token, size: Decimal) -> None:
        """Gives the taker the shares that it lacks for a SELL."""
        missing = size - free_shares(self.taker, token)
        if missing > 0:
            self.taker.split(token, missing)


def free_shares(wallet: Wallet, token: Token) -> Decimal:
    """Shares of a wallet that no order reserves."""
    held = wallet.account().positions
    key = (token.condition_id, token.index)
    return sum((it.free for it in held if (it.condition_id, it.outcome_index) == key), Decimal(0))


def recorded(book: str | bytes | Mapping[str, object]) -> tuple[list[Quote], list[Quote]]:
    """Bids and asks of a recorded answer of `GET /book`: its JSON, as a text or as a mapping."""
    fields = json.loads(book, parse_float=Decimal) if isinstance(book, str | bytes) else book
    bids, asks = (fields.get("bids"), fields.get("asks")) if isinstance(fields, Mapping) else (None, None)
    if not isinstance(bids, list) or not isinstance(asks, list):
        raise ValueError("book is not the JSON of a /book, allowed: an object with the arrays bids and asks")
    return bids, asks


def pair(quote: Quote) -> tuple[Decimal, Decimal]:
    """Price and size of a level."""
    if isinstance(quote, Level):
        return quote.price, quote.size
    price, size = (quote["price"], quote["size"]) if isinstance(quote, Mapping) else quote
    return decimals.number(price, "price"), decimals.number(size, "size")
