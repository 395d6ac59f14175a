"""The exchange under test, and what a caller needs to be let in: keys, signatures, signed orders.

Only what the interface says is used here, no client library: HMAC-SHA256 over timestamp, method,
path and body, and EIP-712 for keys and orders.
"""

import base64
import hashlib
import hmac
import itertools
import json
import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import requests
from eth_account import Account
from eth_account.messages import encode_typed_data

SURFACES = ("trading", "data", "catalog", "operator", "page")
URLS = {name: os.environ[f"EXCHANGE_{name.upper()}_URL"] for name in SURFACES}
CHAIN = 80002

# Keys 0, 1 and 3 of the development mnemonic of Hardhat and Anvil. Never fund them.
ALICE = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
BOB = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"
DAVE = "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6"

CONTRACTS = {False: "0xE111180000d2663C0091e4f400237545B87B996B", True: "0xe2222d279d744050d28e00520010520000310F59"}
ZERO = "0x" + 64 * "0"
DOMAIN = [("name", "string"), ("version", "string"), ("chainId", "uint256")]
SALTED_DOMAIN = [*DOMAIN, ("salt", "bytes32")]
WITHDRAWAL = [
    ("wallet", "address"),
    ("destination", "string"),
    ("amount", "uint256"),
    ("reference", "string"),
    ("validUntil", "uint256"),
]
QUOTE_SET = [
    ("maker", "address"),
    ("signer", "address"),
    ("signatureType", "uint8"),
    ("group", "uint8"),
    ("revision", "uint64"),
    ("seen", "uint64"),
    ("timestamp", "uint64"),
    ("validUntil", "uint64"),
    ("builder", "bytes32"),
    ("conditions", "bytes32[]"),
    ("quotes", "uint256[]"),
]
CLOB_AUTH = [("address", "address"), ("timestamp", "string"), ("nonce", "uint256"), ("message", "string")]
ORDER = [
    ("salt", "uint256"),
    ("maker", "address"),
    ("signer", "address"),
    ("tokenId", "uint256"),
    ("makerAmount", "uint256"),
    ("takerAmount", "uint256"),
    ("side", "uint8"),
    ("signatureType", "uint8"),
    ("timestamp", "uint256"),
    ("metadata", "bytes32"),
    ("builder", "bytes32"),
]
SALTS = itertools.count(time.time_ns())


def operate(*arguments):
    """Runs an operator's command and returns its JSON answer."""
    environment = dict(os.environ)
    environment["FORETELL_OPERATOR_LISTEN"] = URLS["operator"].removeprefix("http://")
    command = [os.environ["EXCHANGE_BINARY"], "--json", "--data", os.environ["EXCHANGE_DATA"], *arguments]
    done = subprocess.run(
        command, env=environment, cwd=os.environ["EXCHANGE_DATA"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def signed(key, domain, domain_fields, name, fields, message):
    """An EIP-712 signature, `0x` and 130 hex digits."""
    typed = {
        "types": {
            "EIP712Domain": [{"name": field, "type": kind} for field, kind in domain_fields],
            name: [{"name": field, "type": kind} for field, kind in fields],
        },
        "primaryType": name,
        "domain": domain,
        "message": message,
    }
    signature = Account.sign_message(encode_typed_data(full_message=typed), key).signature
    return "0x" + bytes(signature).hex()


def word(outcome, side, price, lots):
    """The word of a quote in the first market of its set; the price in 0.0001."""
    return outcome << 232 | side << 224 | price << 192 | lots << 128


@dataclass
class Wallet:
    """A wallet that signs for itself, and its API key once it has one."""

    key: str
    nonce: int = 0
    trio: dict = field(default_factory=dict)

    @property
    def address(self):
        return Account.from_key(self.key).address

    def l1(self):
        """Headers that prove the address."""
        now = str(int(time.time()))
        message = {
            "address": self.address,
            "timestamp": now,
            "nonce": self.nonce,
            "message": "This message attests that I control the given wallet",
        }
        domain = {"name": "ClobAuthDomain", "version": "1", "chainId": CHAIN}
        return {
            "SERVICE_ADDRESS": self.address,
            "SERVICE_SIGNATURE": signed(self.key, domain, DOMAIN, "ClobAuth", CLOB_AUTH, message),
            "SERVICE_TIMESTAMP": now,
            "SERVICE_NONCE": str(self.nonce),
        }

    def connect(self):
        """Gets the wallet's API key."""
        answer = requests.post(URLS["trading"] + "/auth/api-key", headers=self.l1(), timeout=30)
        assert answer.status_code == 200, answer.text
        self.trio = answer.json()
        return self

    def l2(self, method, url, body):
        """Headers that sign a request; `body` is the bytes that are sent."""
        now = str(int(time.time()))
        text = (now + method + (urlsplit(url).path or "/")).encode() + (body or b"")
        secret = base64.urlsafe_b64decode(self.trio["secret"])
        return {
            "SERVICE_ADDRESS": self.address,
            "SERVICE_API_KEY": self.trio["apiKey"],
            "SERVICE_PASSPHRASE": self.trio["passphrase"],
            "SERVICE_TIMESTAMP": now,
            "SERVICE_SIGNATURE": base64.urlsafe_b64encode(hmac.digest(secret, text, hashlib.sha256)).decode(),
        }

    def order(self, token, side, maker, taker, neg_risk=False, terms=None, **more):
        """A submission of a signed order; `maker` and `taker` are its amounts in micros."""
        order = {
            "salt": next(SALTS) % 2**53,
            "maker": self.address,
            "signer": self.address,
            "tokenId": token,
            "makerAmount": str(maker),
            "takerAmount": str(taker),
            "side": side,
            "signatureType": 0,
            "timestamp": str(time.time_ns() // 1_000_000),
            "metadata": ZERO,
            "builder": ZERO,
            "expiration": "0",
            **more,
        }
        domain = {
            "name": "Polymarket CTF Exchange",
            "version": "2",
            "chainId": CHAIN,
            "verifyingContract": CONTRACTS[neg_risk],
        }
        numbers = {name: int(order[name]) for name in ("salt", "tokenId", "makerAmount", "takerAmount", "timestamp")}
        message = {**{name: order[name] for name, _ in ORDER}, **numbers, "side": ("BUY", "SELL").index(side)}
        domain_fields = [*DOMAIN, ("verifyingContract", "address")]
        order["signature"] = signed(self.key, domain, domain_fields, "Order", ORDER, message)
        return {"order": order, "owner": self.trio["apiKey"], "orderType": "GTC", **(terms or {})}

    def withdrawal(self, domain, amount, reference, valid_until):
        """A signed request of a withdrawal; `domain` is that of `/withdrawals/domain`."""
        asked = {"wallet": self.address, "destination": "bank", "reference": reference, "validUntil": valid_until}
        salted = {name: domain[name] for name, _ in SALTED_DOMAIN}
        message = {**asked, "amount": amount}
        signature = signed(self.key, salted, SALTED_DOMAIN, "Withdrawal", WITHDRAWAL, message)
        return {**asked, "amount": str(amount), "signature": signature}

    def quotes(self, domain, conditions, words, **more):
        """A signed set of quotes; `domain` is that of `/quotes/domain`."""
        now = time.time_ns() // 1_000_000
        asked = {
            "maker": self.address,
            "signer": self.address,
            "signatureType": 0,
            "group": 0,
            "revision": now * 1_000,
            "seen": 2**64 - 1,
            "timestamp": now,
            "validUntil": now + 60_000,
            "builder": ZERO,
            "conditions": conditions,
            "quotes": words,
            **more,
        }
        salted = {name: domain[name] for name, _ in SALTED_DOMAIN}
        signature = signed(self.key, salted, SALTED_DOMAIN, "QuoteSet", QUOTE_SET, asked)
        texts = {name: str(asked[name]) for name in ("revision", "seen", "timestamp", "validUntil")}
        texts["quotes"] = [f"0x{quote:064x}" for quote in asked["quotes"]]
        return {"set": {**asked, **texts}, "signature": signature}


class L1(requests.auth.AuthBase):
    """Signs a request with the wallet itself."""

    def __init__(self, wallet):
        self.wallet = wallet

    def __call__(self, request):
        request.headers.update(self.wallet.l1())
        return request


class L2(requests.auth.AuthBase):
    """Signs a request with the wallet's API key, over the bytes that are sent."""

    def __init__(self, wallet):
        self.wallet = wallet

    def __call__(self, request):
        body = request.body.encode() if isinstance(request.body, str) else request.body
        request.headers.update(self.wallet.l2(request.method, request.url, body))
        return request


class Token(requests.auth.AuthBase):
    """Presents the token of an operator, by default that of the first admin."""

    def __init__(self, token=None):
        self.token = token or (Path(os.environ["EXCHANGE_DATA"]) / "operator.token").read_text().strip()

    def __call__(self, request):
        request.headers["Authorization"] = f"Bearer {self.token}"
        return request
