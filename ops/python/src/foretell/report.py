"""What a failing test says about its exchange."""

from __future__ import annotations

from collections.abc import Iterator

from foretell.exchange import Exchange
from foretell.types import Level, Order
from foretell.wallet import Wallet

REJECTIONS = 5


def text(exchange: Exchange) -> str:
    """The orders that did not fill and the last lines of the log; why there are none, if the exchange is gone."""
    try:
        return "\n".join(lines(exchange))
    except Exception as error:  # a report must not hide the failure that it is about
        return f"no report: {error}"


def lines(exchange: Exchange) -> Iterator[str]:
    yield f"engine time {exchange.clock.now().isoformat()}"
    for number, wallet in enumerate(exchange.wallets, 1):
        yield from unfilled(exchange, f"wallet {number} ({wallet.kind} {wallet.funder})", wallet)
    yield from rejected(exchange)
    log = exchange.log_tail()
    if log:
        yield "last lines of the log:"
        yield log


def unfilled(exchange: Exchange, name: str, wallet: Wallet) -> Iterator[str]:
    """Three lines for each live order of a wallet: the order, why it rests, its book. One line if it has none."""
    orders = wallet.orders()
    yield f"{name}: {len(orders)} orders did not fill" if orders else f"{name}: no order is live"
    for order in orders:
        book = exchange.book(order.token_id)
        yield f"  {described(order)}"
        yield f"    {exchange.explain(order).text}"
        yield f"    in the book now: bid {best(book.best_bid)}, ask {best(book.best_ask)}"


def rejected(exchange: Exchange) -> Iterator[str]:
    """A line for each of the newest orders that a check rejected or the book killed."""
    newest = exchange.rejections()[:REJECTIONS]
    if newest:
        yield "orders that were rejected or killed, newest first:"
    for rejection in newest:
        explanation = exchange.explain(rejection.order_id) if rejection.status == "killed" else rejection
        yield f"  {explanation.text}"


def best(level: Level | None) -> str:
    """The best level of a side."""
    return f"{level.size:f} at {level.price:f}" if level else "none"


def described(order: Order) -> str:
    """An order as one line."""
    return (
        f"{order.status} {order.side} {order.outcome} {order.size:f} at {order.price:f} {order.order_type}, "
        f"filled {order.filled:f}, {order.order_id}"
    )
