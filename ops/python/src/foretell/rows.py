"""The JSON of the exchange, read into values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from foretell.decimals import EPOCH, instant
from foretell.types import Account, Book, Explanation, Fill, Happening, Level, MetBook, Order, Placed, Position

Row = Mapping[str, Any]


def book(row: Row) -> Book:
    """Reads the answer of `GET /book`, whose best levels are the last ones."""
    return Book(
        token_id=row["asset_id"],
        bids=tuple(reversed(levels(row["bids"]))),
        asks=tuple(reversed(levels(row["asks"]))),
        tick_size=Decimal(row["tick_size"]),
        min_size=Decimal(row["min_order_size"]),
        last_trade_price=Decimal(row["last_trade_price"]) if row["last_trade_price"] else None,
        hash=row["hash"],
    )


def levels(side: Iterable[Row]) -> list[Level]:
    return [Level(Decimal(level["price"]), Decimal(level["size"])) for level in side]


def placed(row: Row) -> Placed:
    """Reads the answer of `POST /order`."""
    return Placed(
        order_id=row["orderID"],
        status=row["status"],
        taking=Decimal(row["takingAmount"] or 0),
        making=Decimal(row["makingAmount"] or 0),
        trade_ids=tuple(row["tradeIDs"]),
    )


def order(row: Row) -> Order:
    """Reads a row of `GET /data/orders`."""
    return Order(
        order_id=row["id"],
        condition_id=row["market"],
        token_id=row["asset_id"],
        outcome=row["outcome"],
        side=row["side"],
        price=Decimal(row["price"]),
        size=Decimal(row["original_size"]),
        filled=Decimal(row["size_matched"]),
        order_type=row["order_type"],
        status=row["status"],
        created_at=instant(row["created_at"]),
        expiration=None if row["expiration"] in ("", "0") else instant(row["expiration"]),
    )


def fills(row: Row) -> list[Fill]:
    """Reads a row of `GET /data/trades`: one fill of a taker, one for each own order of a maker."""
    is_taker = row["trader_side"] == "TAKER"
    parts = [row] if is_taker else row["maker_orders"]
    return [
        Fill(
            trade_id=row["id"],
            order_id=own["taker_order_id" if is_taker else "order_id"],
            condition_id=row["market"],
            token_id=own["asset_id"],
            outcome=own["outcome"],
            side=own["side"],
            price=Decimal(own["price"]),
            size=Decimal(own["size" if is_taker else "matched_amount"]),
            fee=Decimal(row["fee_usdc"] if is_taker else 0),
            liquidity="taker" if is_taker else "maker",
            time=EPOCH + timedelta(microseconds=int(row["match_time_nano"]) // 1000),
            transaction_hash=row["transaction_hash"],
        )
        for own in parts
    ]


def account(row: Row) -> Account:
    """Reads the answer of `GET /accounts/{wallet}`."""
    return Account(
        free=Decimal(row["free"]),
        reserved=Decimal(row["reserved"]),
        positions=tuple(
            Position(
                condition_id=position["condition_id"],
                outcome_index=position["outcome_index"],
                free=Decimal(position["free"]),
                reserved=Decimal(position["reserved"]),
            )
            for position in row["positions"]
        ),
    )


def explanation(row: Row) -> Explanation:
    """Reads the answer of `GET /sandbox/orders/{order_id}`."""
    return Explanation(
        order_id=row["order"],
        status=row["status"],
        text=row["text"],
        code=row.get("code"),
        received=instant(row["received"]),
        met=met_book(row["met"]) if "met" in row else None,
    )


def met_book(row: Row) -> MetBook:
    return MetBook(
        sequence=row["sequence"],
        token_id=row["token_id"],
        side=row["side"],
        order_type=row["order_type"],
        price=Decimal(row["price"]),
        size=Decimal(row["size"]),
        matched=Decimal(row["matched"]),
        reached=Decimal(row["reached"]),
        bids=tuple(levels(row["bids"])),
        asks=tuple(levels(row["asks"])),
    )


def happening(row: Row) -> Happening:
    """Reads an entry of `happened` in the answer of `POST /sandbox/clock`."""
    return Happening(
        what=row["what"],
        sequence=row["sequence"],
        order_id=row.get("order"),
        condition_id=row.get("market"),
        detail=row.get("detail"),
    )
