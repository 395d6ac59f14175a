"""The exchange: starts and stops the program, and is the way to everything else."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias
from urllib.request import urlopen

from foretell import decimals, rows
from foretell.binary import find_binary
from foretell.clock import Clock
from foretell.decimals import Number
from foretell.errors import ExchangeError, StaleHandle
from foretell.house import House, Quote, recorded
from foretell.link import Link
from foretell.process import Process, bypass_proxies
from foretell.ready import Ready
from foretell.registration import Registrar, terms
from foretell.types import (
    Book,
    Event,
    Explanation,
    Fee,
    Fill,
    Handle,
    Kind,
    Market,
    Order,
    Placed,
    Side,
    Token,
    token_id,
)
from foretell.wallet import Wallet

Compatibility: TypeAlias = Literal["polymarket", "interface"]
OVER = ("closed", "resolved")


class Exchange:
    """A sandbox exchange.

        with foretell.Exchange() as ex:
            rain = ex.market("Will it rain?")

    Reads reflect every order and command that was acknowledged before, also those of the bot under test. Calls block
    until the exchange has answered, which takes milliseconds. A request that the exchange rejects raises ExchangeError.
    """

    def __init__(
        self,
        *,
        compatibility: Compatibility | None = None,
        chain: int | None = None,
        clock: datetime | Literal["frozen"] | None = None,
        settings: Mapping[str, str | int | bool] | None = None,
        data: str | Path | None = None,
        binary: str | Path | None = None,
    ) -> None:
        """Describes an exchange; `start` or `with` starts it.

        compatibility: the formats of answers, `polymarket` by default (docs/api/compatibility.md).
        chain: the chain that clients sign for, 80002 by default. 137 is allowed with wallets of the sandbox.
        clock: an aware datetime in the future where the clock starts, or `frozen`.
        settings: settings of the exchange by name. Rate limits are off unless "limits.enabled" is True here.
        data: a data directory to keep or to continue; by default a temporary one.
        binary: the program; by default the one of `find_binary`.

        With FORETELL_URL set, the exchange there is used as it is, and only `clock` may be given.
        """
        self._is_configured = (compatibility, chain, settings, data, binary) != (None,) * 5
        self._arguments = arguments(compatibility, chain, settings, data)
        self._data = data
        self._clock_start = clock
        self._binary = binary
        self._process: Process | None = None
        self._link: Link | None = None

    def __enter__(self) -> Exchange:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<foretell.Exchange {self._link.ready.trading}>" if self._link else "<foretell.Exchange, stopped>"

    def start(self) -> Exchange:
        """Starts the exchange and returns it once it is ready. Raises ProcessError or BinaryNotFound."""
        if self._link is not None:
            raise RuntimeError("the exchange is running already")
        bypass_proxies()
        shared = os.environ.get("FORETELL_URL")
        if shared:
            ready = self._attach(shared)
        else:
            self._process = Process(Path(self._binary) if self._binary else find_binary(), self._arguments)
            ready = self._process.ready
        self._open(Link(ready, self._process), suffix=f"-{secrets.token_hex(4)}" if shared else "")
        return self

    def reset(self) -> None:
        """Makes the exchange as it was after its start: empty, with a new journal, and at the same addresses.

        The operator's token stays. Streams are closed. Markets, tokens, events and wallets from before raise
        StaleHandle. With `data` or FORETELL_URL it raises RuntimeError.
        """
        link = self._running()
        if self._process is None or self._data is not None:
            raise RuntimeError("only an exchange that this object started, without `data`, can be reset")
        link.close()
        self._process.reset()
        self._open(Link(self._process.ready, self._process), suffix="")

    def stop(self) -> None:
        """Stops the exchange. Its markets, tokens, events and wallets are stale from then on."""
        if self._link is not None:
            self._link.close()
        if self._process is not None:
            self._process.stop()
        self._link = self._process = None

    @property
    def is_running(self) -> bool:
        """Whether `start` has been called, and `stop` has not."""
        return self._link is not None

    def keep(self) -> Path:
        """Keeps the data directory when the exchange stops, with the end of its log. Returns its path."""
        link = self._running()
        return self._process.keep() if self._process else link.ready.directory

    @property
    def clob_url(self) -> str:
        """The trading surface."""
        return self._running().ready.trading

    @property
    def data_url(self) -> str:
        """The data surface."""
        return self._running().ready.data

    @property
    def gamma_url(self) -> str:
        """The catalog surface."""
        return self._running().ready.catalog

    @property
    def ws_url(self) -> str:
        """The streams; clients add `/market` or `/user`."""
        return self._running().ready.ws

    @property
    def operator_url(self) -> str:
        """The operator surface. Requests need the header `Authorization: Bearer` with `operator_token`."""
        return self._running().ready.operator

    @property
    def operator_token(self) -> str:
        """The token of the sandbox's admin."""
        return self._running().ready.token

    @property
    def chain(self) -> int:
        """The chain that clients sign for."""
        return self._running().ready.chain

    @property
    def clock(self) -> Clock:
        """The clock of the exchange."""
        self._running()
        return self._clock

    def env(self) -> dict[str, str]:
        """Environment variables with the addresses and the chain, under the names that bots use."""
        return self._running().env()

    def market(
        self,
        question: str,
        *,
        tick_size: Number | None = None,
        min_size: Number | None = None,
        fee: Fee | Number | None = None,
        taker_delay: timedelta | Number | None = None,
        rebate: Number | None = None,
        opens_at: datetime | None = None,
        closes_at: datetime | None = None,
        outcomes: tuple[str, str] | None = None,
    ) -> Market:
        """Registers a market and opens it.

        tick_size: collateral per share, 0.01 by default. min_size: shares, 5 by default.
        fee: the rate of takers, such as "0.04", or a Fee; none by default.
        taker_delay: a timedelta, or seconds. rebate: the maker's part of the fee, from 0 to 1.
        opens_at, closes_at: aware datetimes. With `opens_at` the market opens then.
        outcomes: labels, Yes and No by default.
        """
        self._running()
        return self._registrar.market(
            question,
            terms(
                tick_size=tick_size,
                min_size=min_size,
                fee=fee,
                taker_delay=taker_delay,
                rebate=rebate,
                opens_at=opens_at,
                closes_at=closes_at,
                outcomes=outcomes,
            ),
        )

    def event(
        self,
        questions: Sequence[str],
        *,
        title: str | None = None,
        tick_size: Number | None = None,
        min_size: Number | None = None,
        fee: Fee | Number | None = None,
        taker_delay: timedelta | Number | None = None,
        rebate: Number | None = None,
        closes_at: datetime | None = None,
    ) -> Event:
        """Registers a neg-risk event group with a market for each question, and opens them. Terms as in `market`."""
        self._running()
        return self._registrar.event(
            title or " / ".join(questions),
            questions,
            terms(
                tick_size=tick_size,
                min_size=min_size,
                fee=fee,
                taker_delay=taker_delay,
                rebate=rebate,
                opens_at=None,
                closes_at=closes_at,
                outcomes=None,
            ),
        )

    def wallet(self, usdc: Number = 0, *, kind: Kind = "eoa", auto_redeem: bool = False) -> Wallet:
        """Makes a wallet with collateral, a private key and API credentials.

        With `auto_redeem`, `resolve` redeems what the wallet holds in the market.
        """
        made = self._new_wallet(usdc, kind)
        self._wallets.append(made)
        if auto_redeem:
            self._redeeming.append(made)
        return made

    def set_book(
        self,
        token: Token,
        book: str | bytes | Mapping[str, object] | None = None,
        *,
        bids: Iterable[Quote] = (),
        asks: Iterable[Quote] = (),
    ) -> Book:
        """Makes the book of a token, with orders of a wallet of the package, and returns the book.

        Levels are (price, size), in any sequence. `book` is the JSON of a recorded answer of `GET /book`, in place of
        `bids` and `asks`. The wallet's earlier orders in the market are cancelled first; those of others stay. A level
        that the exchange rejects raises ExchangeError: its size is below the minimum, or its price off the tick.
        """
        self._check("the token", token)
        if book is not None:
            bids, asks = recorded(book)
        self._house.set_book(token, bids, asks)
        return self.book(token)

    def trade(self, token: Token, side: Side, *, price: Number, size: Number) -> list[Fill]:
        """Trades as somebody else, at `price` or better, and returns the fills of that trader.

        What finds no order is cancelled, so the fills may be fewer than `size`, or none. A BUY obeys the market's
        minimum size and the smallest marketable amount, like every order.
        """
        self._check("the token", token)
        return self._house.trade(token, side, price, size)

    def book(self, token: Token | str) -> Book:
        """The book of a token or token id, with the orders on the other outcome.

        A closed market has no book: ExchangeError.
        """
        if isinstance(token, Token):
            self._check("the token", token)
        return rows.book(self._running().public("/book", token_id=token_id(token)))

    def fills(self, wallet: Wallet) -> list[Fill]:
        """The fills of a wallet, oldest first."""
        self._check("the wallet", wallet)
        return wallet.fills()

    def orders(self, wallet: Wallet) -> list[Order]:
        """The live orders of a wallet, oldest first."""
        self._check("the wallet", wallet)
        return wallet.orders()

    def explain(self, order: str | Order | Placed) -> Explanation:
        """Why an order filled, or did not: of any wallet, live or ended. An unknown id raises ExchangeError.

        The id of a rejected order is `order_id` of the ExchangeError.
        """
        order_id = order if isinstance(order, str) else order.order_id
        return rows.explanation(self._running().read(f"/sandbox/orders/{order_id}"))

    def rejections(self) -> list[Explanation]:
        """The newest 1,000 orders that a check rejected or the book killed, newest first; `explain` shows the books."""
        found = self._running().read("/sandbox/rejections")["rejections"]
        return [rows.explanation(row) for row in found]

    def pause(self, market: Market) -> None:
        """Suspends trading in a market."""
        self._act("pause", market)

    def resume(self, market: Market) -> None:
        """Resumes trading in a paused market."""
        self._act("resume", market)

    def close(self, market: Market) -> None:
        """Closes a market and cancels its orders."""
        self._act("close", market)

    def resolve(self, market: Market, payout: str | Token) -> None:
        """Closes a market and decides it: the label of the outcome that pays 1, its token, or `half`.

        Wallets are paid when they redeem.
        """
        self._check("the market", market)
        if self._running().read(f"/markets/{market.condition_id}")["status"] not in OVER:
            self.close(market)
        self._act("resolve", market, payout=payout.outcome if isinstance(payout, Token) else payout)
        for wallet in self._redeeming:
            redeem_if_held(wallet, market)

    def operator(self, method: Literal["GET", "POST"], path: str, **fields: Any) -> Any:
        """Sends any request to the operator surface and returns its JSON (docs/api/operator.md).

        `fields` are the query of a GET or the body of a POST.
        """
        link = self._running()
        return link.read(path, **fields) if method == "GET" else link.command(path, **fields)

    @property
    def wallets(self) -> tuple[Wallet, ...]:
        """The wallets that `wallet` has made, oldest first."""
        self._running()
        return tuple(self._wallets)

    def log_tail(self) -> str:
        """The last 20 lines of the exchange's log."""
        return self._running().log_tail()

    def _attach(self, url: str) -> Ready:
        """Reads the ready line of an exchange that another program started."""
        if self._is_configured:
            raise ValueError("FORETELL_URL is set: the exchange there has its own settings, chain and data")
        with urlopen(url) as line:
            return Ready.read(line.read())

    def _open(self, link: Link, suffix: str) -> None:
        self._link = link
        self._clock = Clock(link)
        self._registrar = Registrar(link, suffix)
        self._house = House(lambda usdc: self._new_wallet(usdc, "eoa"))
        self._wallets: list[Wallet] = []
        self._redeeming: list[Wallet] = []
        if self._clock_start == "frozen":
            self.clock.freeze()
        elif self._clock_start is not None:
            self.clock.advance(to=self._clock_start)

    def _running(self) -> Link:
        if self._link is None:
            raise StaleHandle("the exchange is not running: call start(), or use it in a with statement")
        return self._link

    def _check(self, name: str, handle: Handle) -> None:
        self._running().check(name, handle._link)

    def _act(self, action: str, market: Market, **fields: str) -> None:
        self._check("the market", market)
        self._running().command(f"/markets/{action}", condition_id=market.condition_id, **fields)

    def _new_wallet(self, usdc: Number, kind: Kind) -> Wallet:
        link, amount = self._running(), decimals.number(usdc, "usdc")
        row = link.command("/sandbox/wallets", kind=kind, amount=format(amount, "f") if amount else None)
        names = ("kind", "address", "funder", "signature_type", "api_key", "private_key", "secret", "passphrase")
        return Wallet(_link=link, **{name: row[name] for name in names})


def arguments(
    compatibility: Compatibility | None,
    chain: int | None,
    settings: Mapping[str, str | int | bool] | None,
    data: str | Path | None,
) -> list[str]:
    """Arguments of `foretell up --sandbox`."""
    chosen: dict[str, str | int | bool] = {}
    if compatibility is not None:
        chosen["compatibility"] = compatibility
    if chain is not None:
        chosen["signing.chain"] = chain
    chosen.update(settings or {})
    given = [] if data is None else ["--data", str(data)]
    for name, value in chosen.items():
        given += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return given


def redeem_if_held(wallet: Wallet, market: Market) -> None:
    """Redeems a wallet's shares in a resolved market, if it has any."""
    try:
        wallet.redeem(market)
    except ExchangeError as error:
        if error.code != "nothing_to_redeem":
            raise
