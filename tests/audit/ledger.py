"""What the events of a journal add up to, by the section of that name in journal/FORMAT.md."""

import struct
from dataclasses import dataclass, field

import records
from blake3 import blake3

ONE = 10_000
QUOTE = 2**58  # an order's number is its sequence, and its index in a set of quotes times this
BUY = 0
COMPLEMENTARY, MINT, MERGE = 0, 1, 2
PAYS = {0: (ONE, 0), 1: (0, ONE), 2: (ONE // 2, ONE // 2)}


def outside_condition(event_id):
    return "0x" + blake3(b"foretell outside question: condition" + event_id).hex()


class Contradiction(Exception):
    """The record does not add up."""


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
    """An order or a quote by its placing command; `lots` and `price` once it rests, `reserved` while it is delayed."""

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
        self.is_sandbox = False

    def apply(self, frame):
        """Takes in a frame, and sees that everything still adds up."""
        command = records.read(records.COMMANDS, frame.command)
        self.of_sandbox(command, frame)
        own = self.placed(command, frame.sequence) if command.record == "PlaceOrder" else None
        for data in frame.events:
            event = records.read(records.EVENTS, data)
            if event.record == "OrderReleased":
                own = self.released(event)
            if event.record == "QuotePlaced":
                self.opened(self.quoted(event.order, command, frame), event.lots)
            handler = self.HANDLERS.get(event.record)
            if handler:
                handler(self, event, command, own, frame.sequence)

    def of_sandbox(self, command, frame):
        """Only a journal that begins as a sandbox has moves of the clock, and orders of operators, which nobody signed."""
        if command.record == "Begin":
            self.expect(frame.sequence == 1, "Begin is not the first command")
            self.is_sandbox = bool(command.sandbox)
        if command.record == "MoveClock" or (command.record == "PlaceOrder" and frame.operator):
            self.expect(self.is_sandbox, f"{command.record} of operator {frame.operator} outside a sandbox")

    def placed(self, command, sequence):
        return Order(
            id="0x" + command.order.hex(),
            number=sequence,
            account=command.account,
            market=command.market,
            outcome=command.outcome,
            side=command.side,
        )

    def quoted(self, number, command, frame):
        """The quote with this number of the frame's set, by its word in the tail."""
        sequence, index = number % QUOTE, number // QUOTE
        self.expect(command.record == "SetQuotes" and sequence == frame.sequence, f"order {number} is no quote of this frame")
        self.expect(index < command.quotes, f"quote {index} is placed of {command.quotes}")
        self.expect(number not in self.orders, f"order {number} is placed twice")
        words = 4 * command.conditions
        word = frame.evidence[words + 32 * index : words + 32 * index + 32]
        condition, outcome, side, price, _lots, _flags = struct.unpack_from(">HBBIQB", word)
        self.expect(condition < command.conditions and max(outcome, side) <= 1, f"quote {index} has an unknown token or side")
        return Order(
            id="0x" + command.digest[:31].hex() + f"{index:02x}",
            number=number,
            account=command.account,
            market=struct.unpack_from("<I", frame.evidence, 4 * condition)[0],
            outcome=outcome,
            side=side,
            price=price,
        )

    def holding(self, account, market):
        return self.holdings.setdefault((account, market), Holding())

    # Registrations.

    def account_opened(self, event, command=None, own=None, sequence=0):
        self.number(event.account, self.accounts)
        self.accounts.append(Account("0x" + event.wallet.hex()))

    def event_registered(self, event, command=None, own=None, sequence=0):
        self.number(event.event, self.events)
        self.events.append([])
        self.converted.append(0)
        self.number(event.outside, self.markets)
        self.outside.append(event.outside)
        self.markets.append(Market(outside_condition(event.id.to_bytes(8, "little")), None, None))

    def market_registered(self, event, command=None, own=None, sequence=0):
        self.number(event.market, self.markets)
        group = command.event
        if group is not None:
            self.number(event.question, self.events[group])
            self.events[group].append(event.market)
        self.markets.append(Market("0x" + event.condition.hex(), group, event.question))

    def market_resolved(self, event, command=None, own=None, sequence=0):
        self.markets[event.market].payout = event.payout

    # Money and sets.

    def deposited(self, event, command=None, own=None, sequence=0):
        self.accounts[event.account].free += event.amount
        self.collateral += event.amount

    def withdrawn(self, event, command=None, own=None, sequence=0):
        self.accounts[event.account].free -= event.amount
        self.collateral -= event.amount

    def withdrawal_requested(self, event, command=None, own=None, sequence=0, sign=1):
        account, amount = self.accounts[event.account], sign * event.amount
        account.free -= amount
        account.reserved += amount

    def withdrawal_released(self, event, command=None, own=None, sequence=0):
        self.withdrawal_requested(event, sign=-1)

    def rebate_paid(self, event, command=None, own=None, sequence=0):
        account, amount = self.accounts[event.account], event.amount
        account.accrued -= amount
        account.free += amount

    def fees_withdrawn(self, event, command=None, own=None, sequence=0):
        self.fees -= event.amount
        self.collateral -= event.amount

    def split(self, event, command=None, own=None, sequence=0, sign=1):
        account, market, lots = event.account, event.market, sign * event.lots
        self.accounts[account].free -= lots * ONE
        for outcome in (0, 1):
            self.holding(account, market).free[outcome] += lots
            self.markets[market].supply[outcome] += lots

    def merged(self, event, command=None, own=None, sequence=0):
        self.split(event, sign=-1)

    def redeemed(self, event, command=None, own=None, sequence=0):
        account, market = event.account, event.market
        for outcome, lots in enumerate(event.lots):
            self.holding(account, market).free[outcome] -= lots
            self.markets[market].supply[outcome] -= lots
        self.accounts[account].free += event.payout

    def converted_(self, event, command=None, own=None, sequence=0):
        account, group, lots, questions = event.account, event.event, event.lots, event.questions
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
        self.accounts[account].free += event.collateral

    # Orders.

    def rested(self, event, command=None, own=None, sequence=0):
        own.price = event.price
        self.opened(own, event.lots)

    def opened(self, order, lots):
        order.lots = lots
        self.reserve(order, lots)
        self.orders[order.number] = order

    def order_delayed(self, event, command=None, own=None, sequence=0):
        own.reserved = event.reserved
        self.set_aside(own, own.reserved)
        self.delayed[own.number] = own

    def released(self, event):
        number = event.order
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

    def closed(self, event, command=None, own=None, sequence=0):
        number = event.order
        if number in self.orders:
            order = self.orders.pop(number)
            self.expect(order.lots == event.lots, f"order {number} has {order.lots} lots left")
            self.reserve(order, -order.lots)
        elif number in self.delayed:
            self.released(event)
        else:
            is_own = number == (own.number if own else sequence)
            self.expect(is_own, f"order {number} is closed and was not open")

    def decreased(self, event, command=None, own=None, sequence=0):
        self.expect(event.order in self.orders, f"order {event.order} is decreased and was not open")
        order = self.orders[event.order]
        self.expect(0 < event.lots < order.lots, f"order {event.order} has {order.lots} lots left")
        self.reserve(order, event.lots - order.lots)
        order.lots = event.lots

    def reserve(self, order, lots):
        if order.side == BUY:
            account, value = self.accounts[order.account], lots * order.price
            account.free -= value
            account.reserved += value
        else:
            holding = self.holding(order.account, order.market)
            holding.free[order.outcome] -= lots
            holding.reserved[order.outcome] += lots

    def fill(self, event, command=None, own=None, sequence=0):
        yes_price, number, lots, left, fee = event.yes_price, event.maker_order, event.lots, event.maker_left, event.fee
        self.expect(number in self.orders, f"a fill of order {number}, which is not open")
        maker = self.orders[number]
        self.expect(maker.account == event.maker, f"a fill of order {number} names another account")
        self.expect(maker.lots - lots == left, f"order {number} has {maker.lots} lots, {left} are left after {lots}")
        self.trade(own, lots, yes_price, fee, takes=True)
        self.trade(maker, lots, yes_price, 0, takes=False)
        self.fees += fee - event.rebate
        self.accounts[maker.account].accrued += event.rebate
        change = {COMPLEMENTARY: 0, MINT: lots, MERGE: -lots}[event.kind]
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
        "Fill": fill,
        "OrderRested": rested,
        "OrderClosed": closed,
        "OrderDecreased": decreased,
        "OrderDelayed": order_delayed,
        "AccountOpened": account_opened,
        "Deposited": deposited,
        "Withdrawn": withdrawn,
        "FeesWithdrawn": fees_withdrawn,
        "Split": split,
        "Merged": merged,
        "Redeemed": redeemed,
        "Converted": converted_,
        "WithdrawalRequested": withdrawal_requested,
        "WithdrawalReleased": withdrawal_released,
        "RebatePaid": rebate_paid,
        "EventRegistered": event_registered,
        "MarketRegistered": market_registered,
        "MarketResolved": market_resolved,
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
            is_over = all(market.payout is not None for market in markets)
            self.expect(not winners or is_over, f"event {group} is decided, a question of it is open")
            lots = sum(market.supply[0 if market in winners else 1] for market in markets)
            if not winners:
                self.expect(outside.supply[0] == self.converted[group], f"outside of event {group} was not converted")
                lots += self.converted[group]
            locked += ONE * lots
        return locked
