"""Wallets that sign fast: API key requests (L1), signed requests (L2), signed orders.

Every ECDSA signature uses one nonce. That reveals the private key to anybody who sees two of them,
so it is only for worthless wallets like these. It makes a signature two multiplications, and the
attacker spends its share of a core on the attack instead of on its own signatures.
"""

import base64
import hashlib
import hmac
import json
import time
from dataclasses import asdict, dataclass

from Crypto.Hash import keccak as _keccak

CHAIN = 80002
DOMAIN_NAME, DOMAIN_VERSION = "Polymarket CTF Exchange", "2"
CONTRACT = 0xE111180000D2663C0091E4F400237545B87B996B
MICROS = 1_000_000
ZERO = "0x" + 64 * "0"

# secp256k1
FIELD = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
GENERATOR = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def keccak(data):
    """Keccak-256."""
    return _keccak.new(digest_bits=256, data=data).digest()


def word(number):
    """A number as an EIP-712 word."""
    return number.to_bytes(32, "big")


def _add(one, two):
    if one is None or two is None:
        return one or two
    (x1, y1), (x2, y2) = one, two
    if x1 == x2:
        if (y1 + y2) % FIELD == 0:
            return None
        slope = 3 * x1 * x1 * pow(2 * y1, -1, FIELD)
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, FIELD)
    x = (slope * slope - x1 - x2) % FIELD
    return x, (slope * (x1 - x) - y1) % FIELD


def _multiply(scalar, point=GENERATOR):
    result = None
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


NONCE = int.from_bytes(hashlib.sha256(b"foretell attack run").digest(), "big")
NONCE_INVERSE = pow(NONCE, -1, ORDER)
R, _NONCE_Y = _multiply(NONCE)
R %= ORDER
PARITY = _NONCE_Y & 1


def sign(key, digest):
    """A signature with low s: `0x` and 130 hex digits."""
    s = NONCE_INVERSE * (int.from_bytes(digest, "big") + R * key) % ORDER
    parity = PARITY
    if 2 * s > ORDER:
        s, parity = ORDER - s, 1 - parity
    return f"0x{R:064x}{s:064x}{27 + parity:02x}"


DOMAIN = keccak(
    keccak(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
    + keccak(DOMAIN_NAME.encode())
    + keccak(DOMAIN_VERSION.encode())
    + word(CHAIN)
    + word(CONTRACT)
)
ORDER_TYPE = keccak(
    b"Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,"
    b"uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder)"
)
AUTH_DOMAIN = keccak(
    keccak(b"EIP712Domain(string name,string version,uint256 chainId)")
    + keccak(b"ClobAuthDomain")
    + keccak(b"1")
    + word(CHAIN)
)
AUTH_TYPE = keccak(b"ClobAuth(address address,string timestamp,uint256 nonce,string message)")
AUTH_MESSAGE = keccak(b"This message attests that I control the given wallet")

_salt = time.time_ns()


@dataclass
class Wallet:
    """A wallet that signs for itself, with one API key."""

    key: int
    nonce: int = 0
    address: str = ""
    api_key: str = ""
    secret: str = ""
    passphrase: str = ""

    @classmethod
    def new(cls, name, nonce=0):
        """The wallet of a name, with the API key of a nonce."""
        key = int.from_bytes(hashlib.sha256(name.encode()).digest(), "big") % ORDER
        x, y = _multiply(key)
        return cls(key, nonce, "0x" + keccak(word(x) + word(y))[12:].hex())

    def __post_init__(self):
        self._number = int(self.address, 16)
        self._secret = base64.urlsafe_b64decode(self.secret)

    def save(self):
        """What `Wallet(**saved)` makes the same wallet of."""
        return asdict(self)

    def take_key(self, answer):
        """Keeps the API key that the exchange issued."""
        self.api_key, self.secret, self.passphrase = answer["apiKey"], answer["secret"], answer["passphrase"]
        self.__post_init__()

    def l1(self):
        """Header fields that prove the address."""
        now = str(int(time.time()))
        struct = AUTH_TYPE + word(self._number) + keccak(now.encode()) + word(self.nonce) + AUTH_MESSAGE
        return {
            "SERVICE_ADDRESS": self.address,
            "SERVICE_SIGNATURE": sign(self.key, keccak(b"\x19\x01" + AUTH_DOMAIN + keccak(struct))),
            "SERVICE_TIMESTAMP": now,
            "SERVICE_NONCE": str(self.nonce),
        }

    def l2(self, method, path, body=b""):
        """Header fields that sign a request; `path` is without its query."""
        now = str(int(time.time()))
        digest = hmac.digest(self._secret, (now + method + path).encode() + body, hashlib.sha256)
        return {
            "SERVICE_ADDRESS": self.address,
            "SERVICE_API_KEY": self.api_key,
            "SERVICE_PASSPHRASE": self.passphrase,
            "SERVICE_TIMESTAMP": now,
            "SERVICE_SIGNATURE": base64.urlsafe_b64encode(digest).decode(),
        }

    def order(self, token, side, maker, taker, order_type="GTC", ahead_ms=0):
        """A submission of a signed order; `maker` and `taker` are its amounts in micros."""
        global _salt
        _salt += 1
        salt, stamp = _salt % 2**53, int(time.time() * 1_000) + ahead_ms
        struct = b"".join(
            (
                ORDER_TYPE,
                word(salt),
                word(self._number),
                word(self._number),
                word(int(token)),
                word(maker),
                word(taker),
                word(("BUY", "SELL").index(side)),
                word(0),
                word(stamp),
                bytes(64),
            )
        )
        order = {
            "salt": salt,
            "maker": self.address,
            "signer": self.address,
            "tokenId": token,
            "makerAmount": str(maker),
            "takerAmount": str(taker),
            "side": side,
            "signatureType": 0,
            "timestamp": str(stamp),
            "metadata": ZERO,
            "builder": ZERO,
            "expiration": "0",
            "signature": sign(self.key, keccak(b"\x19\x01" + DOMAIN + keccak(struct))),
        }
        return {"order": order, "owner": self.api_key, "orderType": order_type}

    def buy(self, token, cents, lots, order_type="GTC", **more):
        """Bids for `lots` hundredths of a share at a price in cents."""
        return self.order(token, "BUY", lots * cents * 100, lots * 10_000, order_type, **more)

    def sell(self, token, cents, lots, order_type="GTC", **more):
        """Offers `lots` hundredths of a share at a price in cents."""
        return self.order(token, "SELL", lots * 10_000, lots * cents * 100, order_type, **more)


def domain_separator(domain):
    """The separator of a signing domain with a salt, as the exchange answers it."""
    kind = b"EIP712Domain(string name,string version,uint256 chainId,bytes32 salt)"
    texts = keccak(domain["name"].encode()) + keccak(domain["version"].encode())
    return keccak(keccak(kind) + texts + word(domain["chainId"]) + bytes.fromhex(domain["salt"][2:]))


def typed_digest(separator, kind, values):
    """What is signed of a struct of one type; `values` by field."""

    def encoded(field, value):
        if field == "string":
            return keccak(value.encode())
        if field.endswith("[]"):
            return keccak(b"".join(encoded(field[:-2], item) for item in value))
        return word(int(value, 16) if isinstance(value, str) and value.startswith("0x") else int(value))

    fields = [field.split(" ") for field in kind[kind.index("(") + 1 : -1].split(",")]
    struct = b"".join(encoded(field, values[name]) for field, name in fields)
    return keccak(b"\x19\x01" + separator + keccak(keccak(kind.encode()) + struct))


def quote_fields(wallet, condition, quotes, revision):
    """The fields of a set of group 0 with (cents, lots): bids for Yes in one market."""
    now = time.time_ns() // 1_000_000
    words = [f"0x{cents * 100 << 192 | lots << 128:064x}" for cents, lots in quotes]
    return {
        "maker": wallet.address,
        "signer": wallet.address,
        "signatureType": 0,
        "group": 0,
        "revision": str(revision),
        # Quotes are placed whatever was filled.
        "seen": str(2**64 - 1),
        "timestamp": str(now),
        "validUntil": str(now + 60_000),
        "builder": ZERO,
        "conditions": [condition],
        "quotes": words,
    }


def moved_quotes(number):
    """Ten bids of at most $5.50 in all, none at a price of the set with the number before."""
    return [(1 + number % 2 + 2 * at, 500) for at in range(10)]


def quote_set(wallet, domain, condition, quotes, revision):
    """The body of a signed set; `quotes` as in `quote_fields`."""
    fields = quote_fields(wallet, condition, quotes, revision)
    digest = typed_digest(domain_separator(domain), domain["type"], fields)
    return body_of({"set": fields, "signature": sign(wallet.key, digest)})


def body_of(value):
    """The bytes of a JSON body."""
    return json.dumps(value, separators=(",", ":")).encode()


def request(method, target, fields=None, body=b""):
    """The bytes of an HTTP/1.1 request."""
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in (fields or {}).items()]
    if body or method != "GET":
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def signed_request(wallet, method, path, body=b"", query=""):
    """The bytes of a request that an API key signs."""
    return request(method, path + query, wallet.l2(method, path, body), body)
