#!/usr/bin/env python3
"""Places one order with the stock Python client, finds it in the book, cancels it.

    pip install py-clob-client-v2==1.2.1
    python examples/first_order.py

It trades in the first market, by name, that accepts orders. TRADING_URL and PRIVATE_KEY, as `foretell up --demo`
prints them, choose the exchange and the wallet; the defaults are those of the demo.
"""

import os

from py_clob_client_v2 import ClobClient, OpenOrderParams, OrderArgs, OrderPayload, OrderType

TRADING_URL = os.environ.get("TRADING_URL", "http://127.0.0.1:8080")
# A public development key: anybody can use it. Never send anything of value to its address.
DEMO_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
CHAIN = int(os.environ.get("CHAIN_ID", "80002"))


def best(levels):
    """The best price of one side of a book. The best level is the last one."""
    return levels[-1]["price"] if levels else "none"


def ids(orders):
    return " ".join(order["id"] for order in orders) or "none"


client = ClobClient(TRADING_URL, CHAIN, key=os.environ.get("PRIVATE_KEY", DEMO_KEY))
client.set_api_creds(client.create_or_derive_api_key())
print("wallet   ", client.get_address())

accepting = [market for market in client.get_markets()["data"] if market["accepting_orders"]]
market = min(accepting, key=lambda market: market["market_slug"])
token = market["tokens"][0]
book = client.get_order_book(token["token_id"])
print("market   ", market["question"])
print("book     ", f"{token['outcome']}: bid {best(book['bids'])}, ask {best(book['asks'])}")

# The lowest price of the market. Post-only: the order rests or is rejected, and never trades.
terms = OrderArgs(
    token_id=token["token_id"],
    side="BUY",
    price=float(book["tick_size"]),
    size=float(book["min_order_size"]),
)
placed = client.create_and_post_order(terms, order_type=OrderType.GTC, post_only=True)
order = placed["orderID"]
print("placed   ", f"{order} BUY {terms.size:g} at {terms.price:g}: {placed['status']}")

mine = OpenOrderParams(asset_id=token["token_id"])
print("open     ", ids(client.get_open_orders(mine)))
lowest = client.get_order_book(token["token_id"])["bids"][0]
print("in book  ", f"{lowest['size']} shares at {lowest['price']}")

print("cancelled", *client.cancel_order(OrderPayload(orderID=order))["canceled"])
print("open     ", ids(client.get_open_orders(mine)))
