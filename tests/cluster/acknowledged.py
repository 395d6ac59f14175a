"""The ledger: every acknowledgement of the exchange, recorded outside of it, and compared with a journal's tables."""

import collections
import csv
from dataclasses import dataclass, field
from decimal import Decimal

MICROS = 1_000_000
# Codes of an order that the book rejected, which the journal has.
KILLED = {"crosses_book", "fok_not_filled", "fak_no_match", "too_many_fills"}


@dataclass
class Order:
    """An acknowledged order."""

    sequence: int
    trades: set = field(default_factory=set)
    killed: bool = False
    # Sequence by which its cancel was acknowledged.
    cancelled: int | None = None


class Ledger:
    """All acknowledgements so far."""

    def __init__(self):
        self.orders, self.deposits = {}, Decimal(0)
        # Term in which a sequence was acknowledged; a second term is a violation.
        self.terms, self.violations = {}, []
        # Condition ids of markets that were finalised, and what makers get of each micro of a fee, by condition id.
        self.finalised, self.rebate_ppm = set(), {}
        # Sequence and transaction hash of every trade that an answer or a stream showed.
        self.seen = set()

    def note_position(self, fields):
        """Keeps `x-sequence` and `x-epoch` of an acknowledged write; returns the sequence."""
        sequence, term = int(fields["x-sequence"]), int(fields["x-epoch"])
        if self.terms.setdefault(sequence, term) != term:
            self.violations.append(f"sequence {sequence} was acknowledged in terms {self.terms[sequence]} and {term}")
        return sequence

    def note_order(self, answer, fields):
        """Records the answer to an order; whether it was more than a rejection before the book, which leaves no trace."""
        is_killed = answer.get("code") in KILLED
        if not is_killed and answer.get("status") not in ("live", "matched", "unmatched"):
            return False
        # The answer to a repeat shows the state in which it was found.
        sequence = int(fields["x-sequence"]) if answer.get("duplicate") else self.note_position(fields)
        order = self.orders.setdefault(answer["orderHash"], Order(sequence))
        order.trades.update(answer["tradeIDs"])
        order.killed |= is_killed
        return True

    def note_cancels(self, answer, fields):
        """Records the answer to a cancel."""
        if not answer["canceled"]:
            return
        sequence = self.note_position(fields)
        for order in answer["canceled"]:
            if order in self.orders:
                self.orders[order].cancelled = sequence

    def note_trade_seen(self, sequence, transaction):
        self.seen.add((sequence, transaction))

    def differences(self, tables):
        """What the tables of a journal lack or have twice, as sentences."""
        yield from self.violations
        yield from self.terms_that_fall()
        yield from self.lost_orders(tables)
        yield from self.lost_trades(tables)
        yield from self.money(tables)

    def terms_that_fall(self):
        ordered = sorted(self.terms.items())
        for (before, term), (sequence, later) in zip(ordered, ordered[1:]):
            if later < term:
                yield f"sequence {before} was acknowledged in term {term}, {sequence} in term {later}"

    def lost_orders(self, tables):
        rows = collections.defaultdict(list)
        for row in tables.orders:
            rows[row["order_id"]].append(row)
        for id_, found in rows.items():
            if len(found) > 1:
                yield f"order {id_} is in the journal {len(found)} times"
        for id_, order in self.orders.items():
            if id_ not in rows:
                yield f"order {id_} was acknowledged at sequence {order.sequence} and is lost"
                continue
            row = rows[id_][0]
            if int(row["sequence"]) > order.sequence:
                yield f"order {id_} was acknowledged at sequence {order.sequence} and is at {row['sequence']}"
            if order.killed and not row["status"].startswith("killed"):
                yield f"order {id_} was killed and is {row['status']}"
            if order.cancelled and not (row["status"].startswith("closed") and int(row["ended_sequence"]) <= order.cancelled):
                yield f"the cancel of order {id_} was acknowledged at {order.cancelled} and it is {row['status']}"

    def lost_trades(self, tables):
        sides = collections.defaultdict(set)
        filled = collections.Counter()
        fills = collections.Counter((row["trade_id"], row["index"]) for row in tables.trades)
        for row in tables.trades:
            for order in (row["taker_order_id"], row["maker_order_id"]):
                sides[order].add(row["trade_id"])
                filled[order] += Decimal(row["shares"])
        for (trade, index), count in fills.items():
            if count > 1:
                yield f"fill {index} of trade {trade} is in the journal {count} times"
        for id_, order in self.orders.items():
            if lost := order.trades - sides[id_]:
                yield f"order {id_}: acknowledged trades are lost: {sorted(lost)}"
        for row in tables.orders:
            if filled[row["order_id"]] != Decimal(row["filled_shares"]):
                yield f"order {row['order_id']}: filled {row['filled_shares']}, its trades say {filled[row['order_id']]}"
        there = {(int(row["sequence"]), row["transaction_hash"]) for row in tables.trades}
        for sequence, transaction in sorted(self.seen - there):
            yield f"a trade at sequence {sequence} ({transaction}) was shown to clients and is not in the journal"

    def kept_fee(self, trade):
        """What the exchange keeps of a trade's fee: the maker's rebate is rounded down to a micro."""
        micros = int(Decimal(trade["fee"] or 0) * MICROS)
        return Decimal(micros - micros * self.rebate_ppm.get(trade["condition_id"], 0) // MICROS) / MICROS

    def money(self, tables):
        """Collateral and the collateral of complete sets are what was deposited, less what the exchange keeps of fees.

        Whoever was paid twice, or not at all, is a difference: no rebate waits, and no share of a finalised market.
        """
        sums = collections.Counter()
        for row in tables.balances:
            sums[row["asset"], row["outcome"]] += Decimal(row["free"]) + Decimal(row["reserved"])
        total = sums.pop(("collateral", ""), Decimal(0)) + sum(map(self.kept_fee, tables.trades))
        for (asset, outcome), shares in sums.items():
            if shares and asset in self.finalised:
                yield f"market {asset} was finalised: {shares} shares of {outcome} are not paid"
            if shares != sums[asset, "no" if outcome == "yes" else "yes"]:
                yield f"market {asset}: {shares} shares of {outcome}, another number of the other outcome"
            total += shares if outcome == "yes" else 0
        if total != self.deposits:
            yield f"{self.deposits} were deposited, {total} are there"


@dataclass
class Tables:
    """Rows of `audit export`."""

    trades: list
    orders: list
    balances: list

    @classmethod
    def of(cls, host, directory):
        """The tables of a host's journal."""
        files = [directory / f"{name}.csv" for name in ("trades", "orders", "balances")]
        code, answer = host.audit("export", "--trades", files[0], "--orders", files[1], "--balances", files[2])
        if code != 0:
            raise AssertionError(f"{host.name}: audit export ended with {code}: {answer}")
        return cls(*(list(csv.DictReader(file.read_text().splitlines())) for file in files))
