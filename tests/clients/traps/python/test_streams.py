"""A stream that flows, without the text PONG."""

STALE, CHECKS = 30, 10


def test_a_flowing_stream_without_pong_is_dropped(silent):
    connection = silent()
    lived = connection.ended - connection.opened
    assert STALE <= lived <= STALE + CHECKS + 2
    assert connection.pongs >= 2, "the exchange answered PONG"
    assert connection.ended - connection.passed[-1] < 3, "messages came to the end"
