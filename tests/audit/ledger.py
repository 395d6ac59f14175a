"""What the events of a journal add up to, by the section of that name in journal/FORMAT.md."""

import struct
from dataclasses import dataclass, field

from blake3 import blake3

ONE = 10_000
BUY = 0
COMPLEMENTARY, MINT, MERGE = 0, 1, 2
PAYS = {0: (ONE, 0), 1: (0, ONE), 2: (ONE // 2, ONE // 2)}


def outside_condition(event_id):
    return "0x" + blake3(b"foretell outside question: condition" + event_id).hex()


class Contradiction(Exception):
    """The record does not add up."""


def u16(record, at):
    return struct.unpack_from("<H", record, at)[0]


def u32(record, at):
    return struct.unpack_from("<I", record, at)[0]


def u64(record, at):
    return struct.unpack_from("<Q", record, at)[0]


@dataclass
class Account:
    wallet: str
    free: int = 0
    reserved: int = 0
    accrued: int = 0


@dataclass
class Market:
    condition: str
    event: object
    question: int
    supply: list = field(default_factory=lambda: [0, 0])
    payout: object = None


@dataclass
class Holding:
    free: list = field(default_factory=lambda: [0, 0])
    reserved: list = field(default_factory=lambda: [0, 0])


@dataclass
class Order:
    """An order by its placing command; `lots` and `price` once it rests, `reserved` while it is delayed."""

    id: str
    number: int
    account: int
    market: int
    outcome: int
    side: int
    lots: int = 0
    price: int = 0
    reserved: int = 0


class Ledger:
    """Accounts, markets, holdings, open and delayed orders, the fee account."""

    def __init__(self):
        self.accounts, self.markets, self.holdings, self.orders, self.delayed = [], [], {}, {}, {}
        self.events, self.converted, self.outside = [], [], []
        self.fees = self.collateral = self.trades = 0

    def apply(self, frame):
        """Takes in a frame, and sees that everything still adds up."""
        code = u16(frame.command, 0)
        own = self.placed(frame) if code == 1 else None
        for event in frame.events:
            if event[0] == 7:
                own = self.released(event)
            handler = self.HANDLERS.get(event[0])
            if handler:
                handler(self, event, frame, own)

    def placed(self, frame):
        command = frame.command
        return Order(
            id="0x" + command[8:40].hex(),
            number=frame.sequence,
            account=u32(command, 40),
            market=u32(command, 48),
            outcome=command[2],
            side=command[3],
        )

    def holding(self, account, market):
        return self.holdings.setdefault((account, market), Holding())

    # Registrations.

    def account_opened(self, event, frame, own):
        self.number(u32(event, 4), self.accounts)
        self.accounts.append(Account("0x" + event[8:28].hex()))

    def event_registered(self, event, frame, own):
        self.number(u32(event, 4), self.events)
        self.events.append([])
        self.converted.append(0)
        self.number(u32(event, 16), self.markets)
        self.outside.append(u32(event, 16))
        self.markets.append(Market(outside_condition(event[8:16]), None, None))

    def market_registered(self, event, frame, own):
        number = u32(event, 4)
        self.number(number, self.markets)
        neg_risk = u64(frame.command, 24)
        group = neg_risk - 1 if neg_risk else None
        if group is not None:
            self.number(u32(event, 40), self.events[group])
            self.events[group].append(number)
        self.markets.append(Market("0x" + event[8:40].hex(), group, u32(event, 40)))

    def market_resolved(self, event, frame, own):
        self.markets[u32(event, 4)].payout = event[1]

    # Money and sets.

    def deposited(self, event, frame, own):
        self.accounts[u32(event, 4)].free += u64(event, 8)
        self.collateral += u64(event, 8)

    def withdrawn(self, event, frame, own):
        self.accounts[u32(event, 4)].free -= u64(event, 8)
        self.collateral -= u64(event, 8)

    def withdrawal_held(self, event, frame, own, sign=1):
        account, amount = self.accounts[u32(event, 4)], sign * u64(event, 8)
        account.free -= amount
        account.reserved += amount

    def withdrawal_released(self, event, frame, own):
        self.withdrawal_held(event, frame, own, sign=-1)

    def rebate_paid(self, event, frame, own):
        account, amount = self.accounts[u32(event, 4)], u64(event, 8)
        account.accrued -= amount
        account.free += amount

    def fees_withdrawn(self, event, frame, own):
        self.fees -= u64(event, 8)
        self.collateral -= u64(event, 8)

    def split(self, event, frame, own, sign=1):
        account, market, lots = u32(event, 4), u32(event, 8), sign * u64(event, 16)
        self.accounts[account].free -= lots * ONE
        for outcome in (0, 1):
            self.holding(account, market).free[outcome] += lots
            self.markets[market].supply[outcome] += lots

    def merged(self, event, frame, own):
        self.split(event, frame, own, sign=-1)

    def redeemed(self, event, frame, own):
        account, market = u32(event, 4), u32(event, 8)
        for outcome, lots in enumerate((u64(event, 16), u64(event, 24))):
            self.holding(account, market).free[outcome] -= lots
            self.markets[market].supply[outcome] -= lots
        self.accounts[account].free += u64(event, 32)

    def converted_(self, event, frame, own):
        account, group, lots = u32(event, 4), u32(event, 8), u64(event, 32)
        questions = u64(event, 16) | u64(event, 24) << 64
        for index, market in enumerate(self.events[group]):
            if self.markets[market].payout is not None:
                continue
            outcome, change = (1, -lots) if questions >> index & 1 else (0, lots)
            self.holding(account, market).free[outcome] += change
            self.markets[market].supply[outcome] += change
        outside = self.outside[group]
        self.holding(account, outside).free[0] += lots
        self.markets[outside].supply[0] += lots
        self.converted[group] += lots
        self.accounts[account].free += u64(event, 40)

    # Orders.

    def rested(self, event, frame, own):
        own.price, own.lots = u16(event, 2), u64(event, 8)
        self.reserve(own, own.lots)
        self.orders[own.number] = own

    def order_delayed(self, event, frame, own):
        own.reserved = u64(event, 16)
        self.set_aside(own, own.reserved)
        self.delayed[own.number] = own

    def released(self, event):
        number = u64(event, 8)
        self.expect(number in self.delayed, f"order {number} is released and was not delayed")
        order = self.delayed.pop(number)
        self.set_aside(order, -order.reserved)
        return order

    def set_aside(self, order, amount):
        """Reserves what a delayed order may spend: collateral, or shares."""
        if order.side == BUY:
            account = self.accounts[order.account]
            account.free -= amount
            account.reserved += amount
        else:
            holding = self.holding(order.account, order.market)
            holding.free[order.outcome] -= amount
            holding.reserved[order.outcome] += amount

    def closed(self, event, frame, own):
        number = u64(event, 8)
        if number in self.orders:
            order = self.orders.pop(number)
            self.expect(order.lots == u64(event, 16), f"order {number} has {order.lots} lots left")
            self.reserve(order, -order.lots)
        elif number in self.delayed:
            self.released(event)
        else:
            is_own = number == (own.number if own else frame.sequence)
            self.expect(is_own, f"order {number} is closed and was not open")

    def reserve(self, order, lots):
        if order.side == BUY:
            account, value = self.accounts[order.account], lots * order.price
            account.free -= value
            account.reserved += value
        else:
            holding = self.holding(order.account, order.market)
            holding.free[order.outcome] -= lots
            holding.reserved[order.outcome] += lots

    def fill(self, event, frame, own):
        kind, yes_price, number = event[1], u16(event, 2), u64(event, 8)
        lots, left, fee, rebate = (u64(event, at) for at in (16, 24, 32, 40))
        self.expect(number in self.orders, f"a fill of order {number}, which is not open")
        maker = self.orders[number]
        self.expect(maker.account == u32(event, 4), f"a fill of order {number} names another account")
        self.expect(maker.lots - lots == left, f"order {number} has {maker.lots} lots, {left} are left after {lots}")
        self.trade(own, lots, yes_price, fee, takes=True)
        self.trade(maker, lots, yes_price, 0, takes=False)
        self.fees += fee - rebate
        self.accounts[maker.account].accrued += rebate
        change = {COMPLEMENTARY: 0, MINT: lots, MERGE: -lots}[kind]
        for outcome in (0, 1):
            self.markets[maker.market].supply[outcome] += change
        maker.lots = left
        if left == 0:
            del self.orders[number]
        self.trades += 1

    def trade(self, order, lots, yes_price, fee, takes):
        price = yes_price if order.outcome == 0 else ONE - yes_price
        account, holding = self.accounts[order.account], self.holding(order.account, order.market)
        if order.side == BUY:
            if takes:
                account.free -= lots * price + fee
            else:
                account.reserved -= lots * price
            holding.free[order.outcome] += lots
        else:
            shares = holding.free if takes else holding.reserved
            shares[order.outcome] -= lots
            account.free += lots * price - fee

    HANDLERS = {
        1: fill,
        2: rested,
        4: closed,
        6: order_delayed,
        10: account_opened,
        11: deposited,
        12: withdrawn,
        13: fees_withdrawn,
        20: split,
        21: merged,
        22: redeemed,
        23: converted_,
        24: withdrawal_held,
        25: withdrawal_released,
        27: rebate_paid,
        30: event_registered,
        32: market_registered,
        34: market_resolved,
    }

    # What must hold.

    def number(self, number, things):
        self.expect(number == len(things), f"number {number} is given after {len(things) - 1}")

    def expect(self, holds, text):
        if not holds:
            raise Contradiction(text)

    def check(self):
        """Adds everything up from scratch."""
        held = {}
        for (_, market), holding in self.holdings.items():
            for outcome in (0, 1):
                self.expect(min(holding.free[outcome], holding.reserved[outcome]) >= 0, "negative shares")
                key = market, outcome
                held[key] = held.get(key, 0) + holding.free[outcome] + holding.reserved[outcome]
        for number, market in enumerate(self.markets):
            for outcome in (0, 1):
                total = held.get((number, outcome), 0)
                self.expect(total == market.supply[outcome], f"market {number}: {market.supply} exist, {total} are held")
        money = self.fees + self.locked()
        for account in self.accounts:
            least = min(account.free, account.reserved, account.accrued)
            self.expect(least >= 0, f"{account.wallet} has less than nothing")
            money += account.free + account.reserved + account.accrued
        self.expect(self.fees >= 0, "the fee account has less than nothing")
        self.expect(money == self.collateral, f"{money} micros are there, {self.collateral} came in")

    def locked(self):
        locked = 0
        outside = set(self.outside)
        for number, market in enumerate(self.markets):
            if number in outside:
                self.expect(market.supply[1] == 0, "No of an outside question")
            elif market.event is None and market.payout is None:
                self.expect(market.supply[0] == market.supply[1], "the supplies of a plain market differ")
                locked += market.supply[0] * ONE
            elif market.event is None:
                locked += sum(lots * pays for lots, pays in zip(market.supply, PAYS[market.payout]))
        for group, questions in enumerate(self.events):
            outside = self.markets[self.outside[group]]
            markets = [self.markets[number] for number in questions] + [outside]
            winners = [market for market in markets if market.payout == 0]
            self.expect(len(winners) <= 1, f"event {group} has two winners")
            lots = sum(market.supply[0 if market in winners else 1] for market in markets)
            if not winners:
                self.expect(outside.supply[0] == self.converted[group], f"outside of event {group} was not converted")
                lots += self.converted[group]
            locked += ONE * lots
        return locked
