"""Sandboxes under test, and what their operator does: markets, wallets, books, explanations."""

import json
import os
import subprocess
import urllib.request
from dataclasses import dataclass

# Every test makes its keys and orders from one address.
LIMITS_OFF = ["--set", "limits.enabled=false"]


@dataclass(frozen=True)
class Market:
    """A market of one test."""

    condition: str
    yes: str
    no: str


@dataclass(frozen=True)
class Wallet:
    """A funded wallet with an API key, as the sandbox creates it."""

    key: str
    funder: str
    signature_type: int
    api_key: str
    secret: str
    passphrase: str


def read(url, headers=None, body=None):
    """The JSON of a request; a body makes it a POST."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


class Exchange:
    """A running exchange that ends with its standard input, or when it is closed."""

    def __init__(self, *arguments):
        command = [os.environ["EXCHANGE_BINARY"], "up", "--json", *arguments]
        self._process = subprocess.Popen(
            command,
            env={name: value for name, value in os.environ.items() if not name.startswith("FORETELL_")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.ready = self._first_line()
        self.trading, self.data = self.ready["trading"], self.ready["data"]
        self.catalog, self.operator = self.ready["catalog"], self.ready["operator"]

    def _first_line(self):
        for line in self._process.stdout:
            if (parsed := json.loads(line)).get("ready") in ("exchange", "sandbox"):
                return parsed
        raise AssertionError("the exchange ended before it was ready")

    def close(self):
        """Ends it and waits."""
        self._process.stdin.close()
        self._process.terminate()
        self._process.wait(timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Sandbox(Exchange):
    """A sandbox, with its operator's routes."""

    def __init__(self, *arguments):
        super().__init__("--sandbox", *LIMITS_OFF, *arguments)
        self.chain = self.ready["chain"]

    def operate(self, path, body=None):
        """The JSON of an operator's request."""
        return read(self.operator + path, {"Authorization": f"Bearer {self.ready['token']}"}, body)

    def market(self, **fields):
        """Registers an open market."""
        number = os.urandom(4).hex()
        made = self.operate("/markets", {"question": f"Is it {number}?", "slug": f"market-{number}", **fields})
        return Market(made["condition_id"], *made["token_ids"])

    def wallet(self, kind="eoa", amount="1000"):
        """Creates a funded wallet with an API key."""
        made = self.operate("/sandbox/wallets", {"kind": kind, "amount": amount})
        return Wallet(
            key=made["private_key"],
            **{name: made[name] for name in ("funder", "signature_type", "api_key", "secret", "passphrase")},
        )

    def place(self, wallet, token, side, price, size, **more):
        """Places an order that nobody signs."""
        order = {"token_id": token, "side": side, "price": price, "size": size}
        placed = self.operate("/sandbox/orders", {"wallet": wallet.funder, **order, **more})
        assert placed["success"], placed
        return placed

    def asks(self, market, *levels):
        """Fills the book of Yes with asks of somebody else: pairs of price and size."""
        maker = self.wallet(amount="100000")
        for price, size in levels:
            # An ask of Yes is a bid of No.
            self.place(maker, market.no, "BUY", f"{1 - float(price):.6f}".rstrip("0"), size)
        return maker

    def explain(self, order_id):
        """The explanation of an order."""
        return self.operate(f"/sandbox/orders/{order_id}")

    def rejections(self):
        """The newest orders that met no book."""
        return self.operate("/sandbox/rejections")["rejections"]
