#!/usr/bin/env python3
"""Two wallets trade with the stock client; prints their orders' ids, one a line.

    trade.py TOKEN OTHER_TOKEN KEY KEY

The first bids for the token, the second for the other outcome: together they pay for whole shares.
"""

import sys

from py_clob_client_v2 import ClobClient, OrderArgs, OrderType

URL, CHAIN, SIZE, PRICE = "http://127.0.0.1:8080", 80_002, 5.0, 0.6


def order(key, token, price):
    """Places a bid of a wallet; its answer."""
    client = ClobClient(URL, CHAIN, key=key)
    client.set_api_creds(client.create_or_derive_api_key())
    terms = OrderArgs(token_id=token, side="BUY", price=price, size=SIZE)
    return client.create_and_post_order(terms, order_type=OrderType.GTC)


def main(token, other, first, second):
    """A bid on each outcome; together they pay for whole shares, so they match."""
    resting, taking = order(first, token, PRICE), order(second, other, 1 - PRICE)
    assert resting["status"] == "live", resting
    assert taking["status"] == "matched", taking
    print(resting["orderID"], taking["orderID"], sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
