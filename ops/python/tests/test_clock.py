"""The movable clock."""

from datetime import datetime, timedelta, timezone

import pytest

import foretell


def test_the_clock_moves_forward(foretell_exchange: foretell.Exchange) -> None:
    clock = foretell_exchange.clock
    start = clock.now()
    assert abs(start - datetime.now(timezone.utc)) < timedelta(seconds=10)
    clock.advance(hours=2)
    assert timedelta(hours=2) <= clock.now() - start < timedelta(hours=2, seconds=10)
    target = start + timedelta(days=3)
    clock.advance(to=target)
    assert timedelta(0) <= clock.now() - target < timedelta(seconds=10)


def test_a_frozen_clock_stands_until_it_is_moved(foretell_exchange: foretell.Exchange) -> None:
    clock = foretell_exchange.clock
    clock.freeze()
    start = clock.now()
    foretell_exchange.market("Will it rain?")
    assert clock.now() == start
    clock.advance(milliseconds=1500)
    assert clock.now() == start + timedelta(milliseconds=1500)
    clock.run()
    assert clock.now() >= start + timedelta(milliseconds=1500)


def test_due_things_happen_and_are_listed(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    now = ex.clock.now()
    rain = ex.market("Will it rain?", closes_at=now + timedelta(hours=3))
    me = ex.wallet(usdc=100)
    lasting = me.place(rain.yes, "BUY", price="0.3", size=10)
    ending = me.place(rain.yes, "BUY", price="0.4", size=10, order_type="GTD", expiration=now + timedelta(hours=1))
    (order,) = [order for order in ex.orders(me) if order.order_id == ending.order_id]
    assert order.expiration == (now + timedelta(hours=1)).replace(microsecond=0)
    (expired,) = ex.clock.advance(hours=1)
    assert (expired.what, expired.order_id) == ("order_expired", ending.order_id)
    assert [order.order_id for order in ex.orders(me)] == [lasting.order_id]
    cancelled, closed = ex.clock.advance(hours=2)
    assert (cancelled.what, cancelled.order_id, cancelled.detail) == (
        "order_cancelled",
        lasting.order_id,
        "MarketClosed",
    )
    assert (closed.what, closed.condition_id, closed.detail) == ("market_changed", rain.condition_id, "closed")
    assert ex.orders(me) == []


def test_missed_heartbeats_cancel_orders(foretell_exchange: foretell.Exchange) -> None:
    pytest.importorskip("py_clob_client_v2")
    rain, me = foretell_exchange.market("Will it rain?"), foretell_exchange.wallet(usdc=100)
    placed = me.place(rain.yes, "BUY", price="0.5", size=10)
    me.clob_client().post_heartbeat("")
    assert foretell_exchange.clock.advance(seconds=10) == []
    (cancelled,) = foretell_exchange.clock.advance(seconds=10)
    assert (cancelled.what, cancelled.order_id) == ("order_cancelled", placed.order_id)
    assert cancelled.detail == "Heartbeat"


def test_clients_go_on_after_a_jump(foretell_exchange: foretell.Exchange) -> None:
    clob = pytest.importorskip("py_clob_client_v2")
    rain, me = foretell_exchange.market("Will it rain?"), foretell_exchange.wallet(usdc=100)
    foretell_exchange.clock.advance(days=2)
    order = clob.OrderArgs(token_id=rain.yes.token_id, side="BUY", price=0.5, size=10)
    assert me.clob_client().create_and_post_order(order)["status"] == "live"
    assert me.cancel_all() == 1


def test_this_process_may_have_another_clock(foretell_exchange: foretell.Exchange) -> None:
    time_machine = pytest.importorskip("time_machine")
    rain, me = foretell_exchange.market("Will it rain?"), foretell_exchange.wallet(usdc=100)
    with time_machine.travel(datetime(2020, 1, 1, tzinfo=timezone.utc), tick=False):
        me.place(rain.yes, "BUY", price="0.5", size=10)
        assert me.cancel_all() == 1


def test_wrong_moves_are_rejected(foretell_exchange: foretell.Exchange) -> None:
    clock = foretell_exchange.clock
    with pytest.raises(ValueError, match="takes `to` or a duration"):
        clock.advance()
    with pytest.raises(ValueError, match="takes `to` or a duration"):
        clock.advance(to=clock.now() + timedelta(days=1), hours=2)
    with pytest.raises(ValueError, match="naive"):
        clock.advance(to=datetime(2030, 1, 1))
    with pytest.raises(foretell.ExchangeError) as caught:
        clock.advance(to=clock.now() - timedelta(hours=1))
    assert caught.value.code == "clock_in_past"


def test_an_exchange_starts_at_a_time() -> None:
    start = datetime.now(timezone.utc) + timedelta(days=30)
    with foretell.Exchange(clock=start) as ex:
        assert timedelta(0) <= ex.clock.now() - start < timedelta(seconds=10)
    with foretell.Exchange(clock="frozen") as ex:
        assert ex.clock.now() == ex.clock.now()
