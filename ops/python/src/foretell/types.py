"""What the exchange answers: frozen values with Decimals and aware datetimes.

Prices are collateral per share, sizes are shares, amounts are whole units of collateral.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias

from foretell.decimals import Number

if TYPE_CHECKING:
    from foretell.link import Link

Side: TypeAlias = Literal["BUY", "SELL"]
OrderType: TypeAlias = Literal["GTC", "GTD", "FOK", "FAK"]
Kind: TypeAlias = Literal["eoa", "proxy", "safe", "deposit"]
Liquidity: TypeAlias = Literal["maker", "taker"]


@dataclass(frozen=True, kw_only=True)
class Handle:
    """A thing of one running exchange."""

    _link: Link = field(repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Token(Handle):
    """One outcome of a market. `index` is 0 or 1; `opposite_id` is the token of the other outcome."""

    token_id: str
    outcome: str
    index: int
    condition_id: str
    opposite_id: str


def token_id(token: Token | str) -> str:
    """The id of a token that is given as such, or as its id."""
    return token.token_id if isinstance(token, Token) else token


@dataclass(frozen=True, kw_only=True)
class Market(Handle):
    """A market as it was registered. The tick may become finer by trading (docs/verify/rules.md §3)."""

    condition_id: str
    question: str
    slug: str
    tick_size: Decimal
    min_size: Decimal
    event_id: int | None
    tokens: tuple[Token, Token]

    @property
    def yes(self) -> Token:
        """The first outcome, whatever its label."""
        return self.tokens[0]

    @property
    def no(self) -> Token:
        """The second outcome, whatever its label."""
        return self.tokens[1]


@dataclass(frozen=True, kw_only=True)
class Event(Handle):
    """A neg-risk event group: at most one of its markets resolves to Yes."""

    event_id: int
    title: str
    slug: str
    markets: tuple[Market, ...]


@dataclass(frozen=True)
class Fee:
    """The fee of takers: shares × rate × (p(1−p))^exponent. `rate` is from 0 to 1, `exponent` 0, 1 or 2."""

    rate: Number
    exponent: int = 1


@dataclass(frozen=True)
class Level:
    """A price of a book, and the shares of all orders there."""

    price: Decimal
    size: Decimal


@dataclass(frozen=True)
class Book:
    """The book of a token, with the best level first on both sides."""

    token_id: str
    bids: tuple[Level, ...]
    asks: tuple[Level, ...]
    tick_size: Decimal
    min_size: Decimal
    last_trade_price: Decimal | None
    hash: str

    @property
    def best_bid(self) -> Level | None:
        """The highest bid; None in a book without bids."""
        return self.bids[0] if self.bids else None

    @property
    def best_ask(self) -> Level | None:
        """The lowest ask; None in a book without asks."""
        return self.asks[0] if self.asks else None


@dataclass(frozen=True)
class Placed:
    """The result of an order. `status` is `live`, `matched` or `delayed` (docs/api/orders.md §2).

    `taking` and `making` are the amounts that the order received and gave, without the fee.
    """

    order_id: str
    status: str
    taking: Decimal
    making: Decimal
    trade_ids: tuple[str, ...]


@dataclass(frozen=True)
class Order:
    """An order of a wallet. `filled` is the part of `size` that has traded; `expiration` is that of a GTD order."""

    order_id: str
    condition_id: str
    token_id: str
    outcome: str
    side: Side
    price: Decimal
    size: Decimal
    filled: Decimal
    order_type: OrderType
    status: str
    created_at: datetime
    expiration: datetime | None


@dataclass(frozen=True)
class Fill:
    """A fill as its wallet sees it: token, side and price are those of the wallet's order.

    What an order takes at once is one fill, at the average price rounded to 6 decimals. Each order that it meets has
    a fill of its own. All of them have one `trade_id`.

    `fee` is the collateral that the wallet paid as a taker; makers pay none.
    """

    trade_id: str
    order_id: str
    condition_id: str
    token_id: str
    outcome: str
    side: Side
    price: Decimal
    size: Decimal
    fee: Decimal
    liquidity: Liquidity
    time: datetime
    transaction_hash: str


@dataclass(frozen=True)
class Position:
    """Shares of an outcome. `reserved` shares back live orders."""

    condition_id: str
    outcome_index: int
    free: Decimal
    reserved: Decimal


@dataclass(frozen=True)
class Account:
    """Collateral and positions of a wallet. `reserved` collateral backs live orders."""

    free: Decimal
    reserved: Decimal
    positions: tuple[Position, ...]


@dataclass(frozen=True)
class MetBook:
    """An order, and the book of its token just before it arrived: at most ten levels, best first.

    `matched` is the shares that the order has traded, `reached` the shares of others that its limit reached.
    """

    sequence: int
    token_id: str
    side: Side
    order_type: OrderType
    price: Decimal
    size: Decimal
    matched: Decimal
    reached: Decimal
    bids: tuple[Level, ...]
    asks: tuple[Level, ...]


@dataclass(frozen=True)
class Explanation:
    """Why an order filled, or did not: `text` says it in sentences.

    `status` is `live`, `delayed`, `matched`, `killed`, `ended` or `rejected`. `code` is the code of a rejection. `met`
    is None for an order that was rejected before it met a book.
    """

    order_id: str
    status: str
    text: str
    code: str | None
    received: datetime
    met: MetBook | None


@dataclass(frozen=True)
class Happening:
    """Something that happened because the clock moved.

    `what` is `order_expired`, `order_cancelled`, `market_changed`, `market_cleared` or `market_resolved`. `detail` is
    the reason of an order's end, the new state of a market, or its payout.
    """

    what: str
    sequence: int
    order_id: str | None
    condition_id: str | None
    detail: str | None
