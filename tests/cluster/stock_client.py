"""A stock client that trades until it gets SIGTERM, with nothing but retries. It has one address, EXCHANGE_TRADING.

    stock_client.py TOKEN_YES TOKEN_NO

Two wallets place, meet and cancel. A request without an answer, or with a 5xx, is sent again: the same signed
order. Each line of its output is the number of answers so far. In the end every acknowledged order must be as the
answers said, and nothing else may rest. Exit code 1 and the reason if not.
"""

import itertools
import signal
import sys
import time
from decimal import Decimal
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "clients"))

import exchange  # noqa: E402
from py_clob_client_v2.clob_types import OrderArgs, OrderPayload, OrderType  # noqa: E402
from py_clob_client_v2.exceptions import PolyApiException  # noqa: E402

GIVE_UP_SECONDS = 60
PAUSE = 0.1


def insist(action, *arguments):
    """Calls until there is an answer; what the exchange refuses is a failure."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while True:
        try:
            return action(*arguments)
        except PolyApiException as failure:
            if failure.status_code is not None and failure.status_code < 500 and failure.status_code not in (425, 429):
                raise
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)


class Trading:
    """What two wallets did, and what they were told."""

    def __init__(self, yes, no):
        self.yes, self.no = yes, no
        self.alice, self.bob = (insist(exchange.connect, key) for key in (exchange.ALICE, exchange.BOB))
        self.answers, self.matched, self.cancelled = 0, {}, []

    def place(self, client, token, price, size):
        """One signed order, sent until it is answered."""
        order = insist(client.create_order, OrderArgs(token_id=token, price=price, size=size, side="BUY"))
        answer = insist(client.post_order, order, OrderType.GTC)
        assert answer["success"], answer
        self.count()
        return answer

    def count(self):
        self.answers += 1
        print(self.answers, flush=True)

    def turn(self, number):
        """A bid of Alice that Bob meets, and one that she cancels."""
        cents = 30 + number % 40
        made = self.place(self.alice, self.yes, cents / 100, 10)
        met = self.place(self.bob, self.no, (100 - cents) / 100, 10)
        assert met["status"] == "matched", f"the order that meets {made['orderID']} is {met}"
        self.matched[made["orderID"]] = (self.alice, met["tradeIDs"])
        self.matched[met["orderID"]] = (self.bob, met["tradeIDs"])
        resting = self.place(self.alice, self.yes, 0.01, 10)
        assert resting["status"] == "live", resting
        insist(self.alice.cancel_order, OrderPayload(orderID=resting["orderID"]))
        self.cancelled.append(resting["orderID"])
        self.count()

    def check(self):
        """Every order is as it was acknowledged; nothing rests."""
        own = {}
        for client in (self.alice, self.bob):
            assert insist(client.get_open_orders) == [], "an order rests that was matched or cancelled"
            for trade in insist(client.get_trades):
                own[trade["id"]] = trade
        for order, (client, trades) in self.matched.items():
            found = insist(client.get_order, order)
            assert found["status"] == "MATCHED" and Decimal(found["size_matched"]) == 10, found
            assert set(trades) <= set(found["associate_trades"]) & set(own), f"trades of {order} are lost"
        for order in self.cancelled:
            assert insist(self.alice.get_order, order)["status"] == "CANCELED", order


def main():
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    trading = Trading(*sys.argv[1:])
    for number in itertools.count():
        if ended:
            break
        trading.turn(number)
    trading.check()


if __name__ == "__main__":
    main()
