"""Connections to a surface."""

import socket

from foretell.api import is_closed_by_peer


def test_an_idle_connection_that_the_exchange_closed_is_recognised() -> None:
    here, there = socket.socketpair()
    with here, there:
        assert not is_closed_by_peer(here.fileno())
        there.close()
        assert is_closed_by_peer(here.fileno())
