"""How the Python client signs when nothing but itself is installed."""

from eth_keys.backends import get_backend


def test_signatures_are_made_in_python_without_coincurve():
    assert type(get_backend()).__name__ == "NativeECCBackend"
