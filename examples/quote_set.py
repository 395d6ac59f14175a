#!/usr/bin/env python3
"""A signed set of quotes: its words, its digest and its signature (docs/api/makers.md).

    pip install eth-account
    python examples/quote_set.py     compares with known answers

`examples/quote_maker.py` trades with it.
"""

from decimal import Decimal

from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_utils import keccak

FIELDS = (
    "maker:address signer:address signatureType:uint8 group:uint8 revision:uint64 seen:uint64 "
    "timestamp:uint64 validUntil:uint64 builder:bytes32 conditions:bytes32[] quotes:uint256[]"
)
TYPES = {"QuoteSet": [dict(zip(("name", "type"), field.split(":"))) for field in FIELDS.split()]}
YES, NO, BUY, SELL = 0, 1, 0, 1
NO_BUILDER = "0x" + 64 * "0"
# `seen` of a maker that takes no account of fills.
UNSEEN = 2**64 - 1


def word(outcome, side, price, size, condition=0, grow_tail=False):
    """The number that is signed for a quote; `condition` is an index into the set's conditions."""
    units, lots = Decimal(price) * 10_000, Decimal(size) * 100
    assert units == int(units) and lots == int(lots), f"{size} at {price}"
    return condition << 240 | outcome << 232 | side << 224 | int(units) << 192 | int(lots) << 128 | grow_tail << 120


def sign(key, domain, fields):
    """The body of POST /quotes, and the digest of the set; `domain` is what GET /quotes/domain answers."""
    salted = {name: domain[name] for name in ("name", "version", "chainId", "salt")}
    message = encode_typed_data(salted, TYPES, fields)
    digest = keccak(b"\x19" + message.version + message.header + message.body).hex()
    signature = Account.sign_message(message, key).signature.hex().removeprefix("0x")
    texts = {name: str(fields[name]) for name in ("revision", "seen", "timestamp", "validUntil")}
    words = [f"0x{quote:064x}" for quote in fields["quotes"]]
    return {"set": {**fields, **texts, "quotes": words}, "signature": f"0x{signature}"}, f"0x{digest}"


def quote_id(digest, index):
    """The id of a quote: the digest of its set with the index as the last byte."""
    return f"{digest[:-2]}{index:02x}"


def main():
    key = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
    fields = {
        "maker": "0x" + 40 * "1",
        "signer": Account.from_key(key).address,
        "signatureType": 3,
        "group": 15,
        "revision": 1_710_000_000_000_000,
        "seen": 123_456_789,
        "timestamp": 1_710_000_000_000,
        "validUntil": 1_710_000_060_000,
        "builder": "0x" + 64 * "3",
        "conditions": ["0x" + 64 * "2", "0x" + 32 * "c4"],
        "quotes": [
            word(YES, BUY, "0.42", 100),
            word(NO, BUY, "0.56", 100, grow_tail=True),
            word(NO, SELL, "0.999", 1_000_000_000, condition=1),
        ],
    }
    domain = {"name": "Foretell Quotes", "version": "1", "chainId": 80002, "salt": "0x" + 32 * "07"}
    body, digest = sign(key, domain, fields)
    assert body["set"]["quotes"] == [
        "0x0000000000001068000000000000271000000000000000000000000000000000",
        "0x00000100000015e0000000000000271001000000000000000000000000000000",
        "0x0001010100002706000000174876e80000000000000000000000000000000000",
    ]
    assert digest == "0x6e7ae15437c955722f2d2ad7c923fcf60273a77f8d4adbbacca9455a8a26b23a"
    assert body["signature"] == (
        "0x91508fa64cdb8c78eb033acfa687feeba7e47e574acb7ff084b7bc9550a23dd8"
        "71f0f5723f9d37b4e3d9e6ba76130d4b9cdd365cf01978556dbe95bd7c5812d71c"
    )
    print("digest    ", digest)
    print("quotes    ", *(quote_id(digest, index)[-4:] for index in range(3)))


if __name__ == "__main__":
    main()
