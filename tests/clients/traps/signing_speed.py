"""CPU time of the Python client for each signed order. ECC_BACKEND_CLASS names the backend of eth-keys."""

import time

from eth_keys.backends import get_backend
from py_clob_client_v2.client import ClobClient
from py_clob_client_v2.clob_types import CreateOrderOptions, OrderArgs

ORDERS, RUNS = 300, 3

client = ClobClient("http://127.0.0.1", 80002, key="0x" + "11" * 32)
options = CreateOrderOptions(tick_size="0.01", neg_risk=False)


def sign():
    """Signs an order; the exchange is not asked."""
    client.builder.build_order(OrderArgs(token_id="1", price=0.5, size=10, side="BUY"), options)


sign()
for _ in range(RUNS):
    start = time.process_time()
    for _ in range(ORDERS):
        sign()
    print(f"{type(get_backend()).__name__}: {(time.process_time() - start) / ORDERS * 1e3:.2f} ms of CPU per order")
