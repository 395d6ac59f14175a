"""Every kind of loss is found, and nothing is found where nothing is lost."""

import copy
import unittest
from decimal import Decimal

from acknowledged import Ledger, Tables

MAKER, TAKER, CANCELLED, KILLED = "0xa", "0xb", "0xc", "0xd"


def order(id_, sequence, status, filled="0", ended=""):
    return {"order_id": id_, "sequence": str(sequence), "status": status, "filled_shares": filled, "ended_sequence": ended}


def sound():
    """A ledger and the tables that agree with it."""
    ledger = Ledger()
    ledger.deposits = Decimal(100)
    answer = lambda id_, status, trades=(): {"orderHash": id_, "status": status, "tradeIDs": list(trades)}  # noqa: E731
    at = lambda sequence, term: {"x-sequence": str(sequence), "x-epoch": str(term)}  # noqa: E731
    ledger.note_order(answer(MAKER, "live"), at(1, 1))
    ledger.note_order(answer(TAKER, "matched", ["t1"]), at(2, 1))
    ledger.note_order(answer(CANCELLED, "live"), at(3, 2))
    ledger.note_cancels({"canceled": [CANCELLED]}, at(4, 2))
    ledger.note_order({**answer(KILLED, ""), "code": "fak_no_match"}, at(5, 2))
    ledger.note_order({**answer(MAKER, "matched", ["t1"]), "duplicate": True}, at(5, 3))
    ledger.note_trade_seen(2, "0xt")
    trade = {"trade_id": "t1", "index": "0", "sequence": "2", "transaction_hash": "0xt", "shares": "10", "fee": "0.000007", "condition_id": "0xm"}
    ledger.rebate_ppm["0xm"] = 500_000
    balance = lambda asset, outcome, free: {"asset": asset, "outcome": outcome, "free": free, "reserved": "0"}  # noqa: E731
    tables = Tables(
        [{**trade, "taker_order_id": TAKER, "maker_order_id": MAKER}],
        [
            order(MAKER, 1, "filled", "10", "2"),
            order(TAKER, 2, "filled", "10", "2"),
            order(CANCELLED, 3, "closed: User", "0", "4"),
            order(KILLED, 5, "killed: FakUnmatched", "0", "5"),
        ],
        [balance("collateral", "", "89.999996"), balance("0xm", "yes", "10"), balance("0xm", "no", "10")],
    )
    return ledger, tables


class Differences(unittest.TestCase):
    def test_agreement(self):
        ledger, tables = sound()
        self.assertEqual(list(ledger.differences(tables)), [])

    def test_losses(self):
        def set_row(index, name, value):
            return lambda ledger, tables: tables.orders[index].update({name: value})

        edits = {
            "is lost": lambda ledger, tables: tables.orders.pop(0),
            "2 times": lambda ledger, tables: tables.orders.append(copy.copy(tables.orders[0])),
            "fill 0 of trade t1 is in the journal 2 times": lambda ledger, tables: tables.trades.append(tables.trades[0]),
            "acknowledged trades are lost": lambda ledger, tables: tables.trades.clear(),
            "shown to clients": lambda ledger, tables: ledger.note_trade_seen(7, "0xu"),
            "its trades say": set_row(0, "filled_shares", "9"),
            "the cancel of order": set_row(2, "status", "live"),
            "was killed": set_row(3, "status", "live"),
            "and is at 9": set_row(0, "sequence", "9"),
            "terms 2 and 3": lambda ledger, tables: ledger.note_position({"x-sequence": "3", "x-epoch": "3"}),
            "acknowledged in term 2, 6 in term 1": lambda ledger, tables: ledger.note_position({"x-sequence": "6", "x-epoch": "1"}),
            "were deposited": lambda ledger, tables: tables.balances[0].update(free="91"),
            "100 were deposited, 100.000003": lambda ledger, tables: ledger.rebate_ppm.clear(),
            "are not paid": lambda ledger, tables: ledger.finalised.add("0xm"),
            "another number": lambda ledger, tables: tables.balances[2].update(free="9"),
        }
        for text, edit in edits.items():
            with self.subTest(text):
                ledger, tables = sound()
                edit(ledger, tables)
                self.assertIn(text, "\n".join(ledger.differences(tables)))


if __name__ == "__main__":
    unittest.main()
