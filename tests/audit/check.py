#!/usr/bin/env python3
"""An auditor of its own: reads a journal by journal/FORMAT.md alone and prints what it adds up to.

    check.py JOURNAL [--no-chain] [--until SEQUENCE]

Standard library only, and nothing of the exchange. The JSON has the fields of `foretell audit replay
--json` that follow from the record. Exit codes: 0 it adds up, 3 damaged bytes, 6 it does not add up.
"""

import argparse
import json
import struct
import sys

from journal import Damaged, Journal
from ledger import QUOTE, Contradiction, Ledger

# Everything is added up from scratch this often, and at the end.
EVERY = 64


def state(journal, ledger, sequence):
    """What can be compared, in an order of its own."""

    def wallet(number):
        return ledger.accounts[number].wallet

    def condition(number):
        return ledger.markets[number].condition

    holdings = [
        {
            "wallet": wallet(account),
            "condition_id": condition(market),
            "free_lots": holding.free,
            "reserved_lots": holding.reserved,
        }
        for (account, market), holding in sorted(ledger.holdings.items())
        if any(holding.free + holding.reserved)
    ]
    orders = [
        {
            "order_id": order.id,
            "sequence": number % QUOTE,
            "wallet": wallet(order.account),
            "condition_id": condition(order.market),
            "outcome": order.outcome,
            "side": "BUY" if order.side == 0 else "SELL",
            "price_units": order.price,
            "lots": order.lots,
        }
        for number, order in sorted(ledger.orders.items())
    ]
    return {
        "sequence": sequence,
        "chain": journal.hash.hex() if journal.hashes else "not checked",
        "trades": ledger.trades,
        "collateral_micros": ledger.collateral,
        "fee_account_micros": ledger.fees,
        "accounts": [
            {"wallet": account.wallet, "free_micros": account.free, "reserved_micros": account.reserved}
            for account in ledger.accounts
        ],
        "markets": [
            {"condition_id": market.condition, "supply_lots": market.supply} for market in ledger.markets
        ],
        "holdings": holdings,
        "orders": orders,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("journal")
    parser.add_argument("--no-chain", action="store_true", help="skip the BLAKE3 chain: it is slow here")
    parser.add_argument("--until", type=int, help="stop behind this sequence")
    arguments = parser.parse_args()

    journal, ledger, last = Journal(arguments.journal, hashes=not arguments.no_chain), Ledger(), 0
    try:
        for frame in journal.frames():
            ledger.apply(frame)
            last = frame.sequence
            if last % EVERY == 0:
                ledger.check()
            if last == arguments.until:
                break
        ledger.check()
    except Damaged as damage:
        print(f"damaged: {damage}", file=sys.stderr)
        return 3
    except (Contradiction, IndexError, KeyError, AttributeError, struct.error) as contradiction:
        print(f"does not add up at sequence {last + 1}: {contradiction!r}", file=sys.stderr)
        return 6
    print(json.dumps(state(journal, ledger, last)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
