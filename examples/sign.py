#!/usr/bin/env python3
"""Signs requests for curl: prints header lines (`curl -H @file`) or the body of an order.

    sign.py key                                the headers of POST /auth/api-key
    sign.py order TOKEN SIDE PRICE SIZE NEG    the body of POST /order; NEG is `true` in a neg-risk event
    sign.py request METHOD PATH [BODY]         the headers of any other request

`key` and `order` sign with PRIVATE_KEY and need `pip install eth-account`. `request` needs WALLET, the address
of that key, and API_SECRET and API_PASSPHRASE. API_KEY is for `order` and `request`. POST /auth/api-key answers
with the last three. docs/api/authentication.md has the rules.
"""

import base64
import hashlib
import hmac
import json
import os
import random
import sys
import time
from decimal import Decimal

CHAIN = int(os.environ.get("CHAIN_ID", "80002"))
EXCHANGES = {
    "false": "0xE111180000d2663C0091e4f400237545B87B996B",
    "true": "0xe2222d279d744050d28e00520010520000310F59",
}
ORDER = (
    "salt:uint256 maker:address signer:address tokenId:uint256 makerAmount:uint256 takerAmount:uint256 "
    "side:uint8 signatureType:uint8 timestamp:uint256 metadata:bytes32 builder:bytes32"
)
CLOB_AUTH = "address:address timestamp:string nonce:uint256 message:string"


def account():
    """The wallet. Its library takes a second to load, and requests need none."""
    from eth_account import Account

    return Account.from_key(os.environ["PRIVATE_KEY"])


def signature(wallet, domain, name, fields, message):
    """The EIP-712 signature of a message."""
    from eth_account.messages import encode_typed_data

    types = {name: [dict(zip(("name", "type"), field.split(":"))) for field in fields.split()]}
    signable = encode_typed_data({**domain, "chainId": CHAIN}, types, message)
    return "0x" + wallet.sign_message(signable).signature.hex().removeprefix("0x")


def key_headers():
    """Level 1: proves control of the address."""
    wallet = account()
    now = str(int(time.time()))
    text = "This message attests that I control the given wallet"
    message = {"address": wallet.address, "timestamp": now, "nonce": 0, "message": text}
    domain = {"name": "ClobAuthDomain", "version": "1"}
    signed = signature(wallet, domain, "ClobAuth", CLOB_AUTH, message)
    return {"ADDRESS": wallet.address, "SIGNATURE": signed, "TIMESTAMP": now, "NONCE": "0"}


def request_headers(method, path, body=""):
    """Level 2: proves possession of the API key, for this method, path and body."""
    now = str(int(time.time()))
    secret = base64.urlsafe_b64decode(os.environ["API_SECRET"])
    digest = hmac.new(secret, (now + method + path + body).encode(), hashlib.sha256).digest()
    return {
        "ADDRESS": os.environ["WALLET"],
        "API_KEY": os.environ["API_KEY"],
        "PASSPHRASE": os.environ["API_PASSPHRASE"],
        "TIMESTAMP": now,
        "SIGNATURE": base64.urlsafe_b64encode(digest).decode(),
    }


def order_body(token, side, price, size, neg_risk):
    """A GTC limit order of the wallet. Amounts are micros of collateral and micro-shares."""
    wallet = account()
    shares = int(Decimal(size) * 10**6)
    collateral = int(Decimal(price) * shares)
    gives, gets = (collateral, shares) if side == "BUY" else (shares, collateral)
    order = {
        "salt": random.getrandbits(48),
        "maker": wallet.address,
        "signer": wallet.address,
        "tokenId": int(token),
        "makerAmount": gives,
        "takerAmount": gets,
        "side": ["BUY", "SELL"].index(side),
        "signatureType": 0,
        "timestamp": time.time_ns() // 10**6,
        "metadata": "0x" + "00" * 32,
        "builder": "0x" + "00" * 32,
    }
    domain = {"name": "Polymarket CTF Exchange", "version": "2", "verifyingContract": EXCHANGES[neg_risk]}
    signed = signature(wallet, domain, "Order", ORDER, order)
    texts = {name: str(order[name]) for name in ("tokenId", "makerAmount", "takerAmount", "timestamp")}
    order = {**order, **texts, "side": side, "signature": signed}
    return json.dumps({"order": order, "owner": os.environ["API_KEY"], "orderType": "GTC"})


command, *arguments = sys.argv[1:]
if command == "order":
    print(order_body(*arguments))
else:
    headers = key_headers() if command == "key" else request_headers(*arguments)
    for name, value in headers.items():
        print(f"POLY_{name}: {value}")
