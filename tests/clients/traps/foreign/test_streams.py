"""A stream that flows, without the text PONG."""

from ccxt import RequestTimeout

KEEP_ALIVE, MISSES = 10, 2


def test_a_flowing_stream_without_pong_is_dropped(silent):
    error, [connection, again] = silent()
    assert isinstance(error, RequestTimeout), error
    lived = connection.passed[-1] - connection.opened
    assert KEEP_ALIVE * MISSES - 2 <= lived <= KEEP_ALIVE * (MISSES + 1) + 3
    assert connection.pongs >= 1, "the exchange answered PONG"
    assert again.passed, "watching once more connects again"
