"""The test vectors of docs/api/authentication.md §8."""

import pytest

from foretell.signing import Credentials, l2_headers


@pytest.mark.parametrize(
    ("timestamp", "method", "path", "body", "signature"),
    [
        (1, "GET", "/", b"", "eHaylCwqRSOa2LFD77Nt_SaTpbsxzN8eTEI3LryhEj4="),
        (1000000, "test-sign", "/orders", b'{"hash":"0x123"}', "4gJVbox-R6XlDK4nlaicig0_ANVL1qdcahiL8CXfXLM="),
    ],
)
def test_known_answers(timestamp: int, method: str, path: str, body: bytes, signature: str) -> None:
    credentials = Credentials(address="0x1", api_key="key", secret=43 * "A" + "=", passphrase="phrase")
    assert l2_headers(credentials, timestamp, method, path, body) == {
        "POLY_ADDRESS": "0x1",
        "POLY_API_KEY": "key",
        "POLY_PASSPHRASE": "phrase",
        "POLY_TIMESTAMP": str(timestamp),
        "POLY_SIGNATURE": signature,
    }


def test_secrets_are_not_shown() -> None:
    assert "hidden" not in repr(Credentials(address="0x1", api_key="key", secret="hidden", passphrase="hidden"))
