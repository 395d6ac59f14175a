"""A trader: a funded wallet with its key and API credentials, and what its client would send."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from foretell import decimals, rows
from foretell.decimals import EPOCH, Number
from foretell.signing import Credentials
from foretell.types import Account, Fill, Handle, Kind, Market, Order, OrderType, Placed, Side, Token, token_id

if TYPE_CHECKING:
    from py_clob_client_v2.client import ClobClient

NO_CLIENT = """the stock client is not installed: pip install "py-clob-client-v2==1.2.1" coincurve
(the extra `clob` of this package names both)"""


@dataclass(frozen=True, kw_only=True)
class Wallet(Handle):
    """A wallet of the sandbox.

    `address` is the owner, whose private key signs. `funder` is the wallet that trades and holds the money: for kind
    `eoa` it is the owner's address. `signature_type` is 0 for eoa, 1 proxy, 2 safe, 3 deposit.
    """

    kind: Kind
    address: str
    funder: str
    signature_type: int
    api_key: str
    private_key: str = field(repr=False)
    secret: str = field(repr=False)
    passphrase: str = field(repr=False)

    def clob_client(self) -> ClobClient:
        """The stock client of py-clob-client-v2, with this wallet's key and credentials, at this exchange."""
        self._link.check_open()
        try:
            from py_clob_client_v2.client import ClobClient
            from py_clob_client_v2.clob_types import ApiCreds
        except ImportError as error:
            raise ImportError(f"{NO_CLIENT}: {error}") from None
        return ClobClient(
            self._link.ready.trading,
            self._link.ready.chain,
            key=self.private_key,
            creds=ApiCreds(self.api_key, self.secret, self.passphrase),
            signature_type=self.signature_type,
            funder=self.funder,
        )

    def env(self) -> dict[str, str]:
        """Environment variables of this wallet and its exchange, under the names that bots use."""
        return {
            **self._link.env(),
            "PRIVATE_KEY": self.private_key,
            "PK": self.private_key,
            "POLYMARKET_PK": self.private_key,
            "FUNDER": self.funder,
            "POLYMARKET_FUNDER": self.funder,
            "SIGNATURE_TYPE": str(self.signature_type),
            "CLOB_API_KEY": self.api_key,
            "CLOB_SECRET": self.secret,
            "CLOB_PASS_PHRASE": self.passphrase,
            "POLYMARKET_API_KEY": self.api_key,
            "POLYMARKET_API_SECRET": self.secret,
            "POLYMARKET_PASSPHRASE": self.passphrase,
        }

    def place(
        self,
        token: Token | str,
        side: Side,
        *,
        price: Number,
        size: Number,
        order_type: OrderType = "GTC",
        post_only: bool = False,
        expiration: datetime | None = None,
    ) -> Placed:
        """Places an order that nobody signed. Every other rule of orders applies.

        `token` may be a token id. `expiration` is an aware datetime, for GTD. A rejection raises ExchangeError.
        """
        if isinstance(token, Token):
            self._link.check("the token", token._link)
        answer = self._link.command(
            "/sandbox/orders",
            wallet=self.funder,
            token_id=token_id(token),
            side=side,
            price=decimals.text(price, "price"),
            size=decimals.text(size, "size"),
            order_type=order_type,
            post_only=post_only,
            expiration=0 if expiration is None else unix_seconds(expiration),
        )
        return rows.placed(answer)

    def cancel(self, order: str | Order | Placed) -> bool:
        """Cancels an order. Returns whether this request cancelled it: an order that has ended is not cancelled."""
        order_id = order if isinstance(order, str) else order.order_id
        return bool(self._signed("DELETE", "/order", orderId=order_id)["canceled"])

    def cancel_all(self, market: Market | Token | None = None) -> int:
        """Cancels the live orders of this wallet, optionally those of one market only. Returns their number."""
        if market is None:
            return len(self._signed("DELETE", "/cancel-all")["canceled"])
        self._link.check("the market", market._link)
        return len(self._signed("DELETE", "/cancel-market-orders", market=market.condition_id)["canceled"])

    def orders(self) -> list[Order]:
        """The live orders of this wallet, oldest first."""
        return [rows.order(row) for row in self._link.own_pages("/data/orders", self._credentials)]

    def order(self, order: str | Placed) -> Order:
        """An order of this wallet, live or ended. An unknown id raises ExchangeError."""
        order_id = order if isinstance(order, str) else order.order_id
        return rows.order(self._link.own(f"/data/order/{order_id}", self._credentials)["order"])

    def fills(self) -> list[Fill]:
        """The fills of this wallet, oldest first."""
        newest_first = list(self._link.own_pages("/data/trades", self._credentials))
        return [fill for row in reversed(newest_first) for fill in rows.fills(row)]

    def account(self) -> Account:
        """Collateral and positions of this wallet."""
        return rows.account(self._link.read(f"/accounts/{self.funder}"))

    def balance(self) -> Decimal:
        """Collateral of this wallet, including what its live orders reserve."""
        account = self.account()
        return account.free + account.reserved

    def shares(self, token: Token) -> Decimal:
        """Shares of this wallet, including what its live orders reserve."""
        self._link.check("the token", token._link)
        for position in self.account().positions:
            if (position.condition_id, position.outcome_index) == (token.condition_id, token.index):
                return position.free + position.reserved
        return Decimal(0)

    def deposit(self, amount: Number) -> None:
        """Adds collateral to this wallet."""
        self._link.command(
            "/accounts/deposit", wallet=self.funder, amount=decimals.text(amount, "amount"), reference=reference()
        )

    def split(self, market: Market | Token, amount: Number) -> None:
        """Pays `amount` of collateral for `amount` shares of each outcome."""
        self._act("split", market, amount=decimals.micros(amount, "amount"))

    def merge(self, market: Market | Token, amount: Number) -> None:
        """Gives `amount` shares of each outcome for `amount` of collateral."""
        self._act("merge", market, amount=decimals.micros(amount, "amount"))

    def redeem(self, market: Market | Token) -> Decimal:
        """Gives all shares in a resolved market and returns the payout. Without shares it raises ExchangeError."""
        return Decimal(self._act("redeem", market)["collateral"])

    @property
    def _credentials(self) -> Credentials:
        return Credentials(self.address, self.api_key, self.secret, self.passphrase)

    def _signed(self, method: str, path: str, **body: str) -> Any:
        return self._link.signed(method, path, self._credentials, **body)

    def _act(self, action: str, market: Market | Token, **fields: str) -> Any:
        """Sends an account action (docs/api/positions.md)."""
        self._link.check("the market", market._link)
        return self._signed(
            "POST",
            f"/positions/{action}",
            conditionId=market.condition_id,
            wallet=self.funder,
            reference=reference(),
            **fields,
        )


def reference() -> str:
    """An idempotency reference that no other request has."""
    return secrets.token_hex(16)


def unix_seconds(expiration: datetime) -> int:
    """Unix seconds of an aware datetime; a naive one raises ValueError."""
    decimals.iso(expiration, "expiration")
    return int((expiration - EPOCH) / timedelta(seconds=1))
