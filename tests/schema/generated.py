"""Generated clients trade: each places a resting order, reads it and cancels it, with parsed answers.

    generated.py FOLDER    what generate.py made, whose Python packages can be imported
"""

import json
import subprocess
import sys
from pathlib import Path

import httpx
from trading_client import Client
from trading_client.api.account import get_data_order_by_id
from trading_client.api.market_data import get_sampling_markets
from trading_client.api.orders import delete_order, post_order
from trading_client.models import Error, NamedOrder, OrderAnswer, OrderSubmission, Side

from exchange import BOB, URLS, Wallet, operate


class L2(httpx.Auth):
    """Signs a request with the wallet's API key, over the bytes that are sent."""

    requires_request_body = True

    def __init__(self, wallet):
        self.wallet = wallet

    def auth_flow(self, request):
        request.headers.update(self.wallet.l2(request.method, str(request.url), request.content))
        yield request


def bid(wallet, market):
    """A signed bid that rests: 10 shares at a tenth."""
    return wallet.order(market.assets_ids[0], "BUY", 1_000_000, 10_000_000, neg_risk=market.neg_risk)


def trade(client, submission):
    """An order's life in the Python client."""
    answer = post_order.sync(client=client, body=OrderSubmission.from_dict(submission))
    assert isinstance(answer, OrderAnswer) and answer.success and answer.status == "live", answer
    found = get_data_order_by_id.sync(answer.order_id, client=client)
    order = found.order
    assert (order.id, order.status, order.side, order.price) == (answer.order_id, "LIVE", Side.BUY, "0.1"), found
    canceled = delete_order.sync(client=client, body=NamedOrder(orderId=answer.order_id))
    assert canceled.canceled == [answer.order_id] and not canceled.not_canceled.additional_properties, canceled
    assert get_data_order_by_id.sync(answer.order_id, client=client).order.status == "CANCELED"
    refused = delete_order.sync_detailed(client=client, body=NamedOrder())
    assert refused.status_code == 400 and isinstance(refused.parsed, Error) and refused.parsed.error, refused
    print("openapi-python-client: placed, read and canceled an order")


def main(folder):
    wallet = Wallet(BOB).connect()
    operate("account", "deposit", wallet.address, "100")
    client = Client(base_url=URLS["trading"], raise_on_unexpected_status=True, httpx_args={"auth": L2(wallet)})
    market = get_sampling_markets.sync(client=client).data[0]
    trade(client, bid(wallet, market))
    program = folder / "typescript" / "built" / "trade.js"
    if program.exists():
        given = {"url": URLS["trading"], "address": wallet.address, "key": wallet.trio, "submission": bid(wallet, market)}
        subprocess.run(["node", program], input=json.dumps(given), text=True, check=True, timeout=60)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
