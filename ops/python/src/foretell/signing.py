"""The credential headers of a client's request (docs/api/authentication.md §3)."""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass, field

PREFIX = "POLY"


@dataclass(frozen=True)
class Credentials:
    """An owner's address and API key. `secret` is 32 bytes in base64url."""

    address: str
    api_key: str
    secret: str = field(repr=False)
    passphrase: str = field(repr=False)


def l2_headers(credentials: Credentials, timestamp_ms: int, method: str, path: str, body: bytes) -> dict[str, str]:
    """The L2 headers of a request. `path` has no query; `body` is the bytes that are sent."""
    message = f"{timestamp_ms}{method}{path}".encode() + body
    digest = hmac.digest(base64.urlsafe_b64decode(credentials.secret), message, hashlib.sha256)
    return {
        f"{PREFIX}_ADDRESS": credentials.address,
        f"{PREFIX}_API_KEY": credentials.api_key,
        f"{PREFIX}_PASSPHRASE": credentials.passphrase,
        f"{PREFIX}_TIMESTAMP": str(timestamp_ms),
        f"{PREFIX}_SIGNATURE": base64.urlsafe_b64encode(digest).decode(),
    }
