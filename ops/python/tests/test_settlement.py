"""Resolution: wallets are paid when they redeem, as on the venue."""

from decimal import Decimal

import pytest

import foretell


def test_nothing_is_paid_before_the_redeem(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    rain, me = ex.market("Will it rain?"), ex.wallet(usdc=100)
    me.split(rain, 10)
    ex.resolve(rain, "Yes")
    ex.clock.advance(hours=2)
    assert (me.balance(), me.shares(rain.yes)) == (90, 10)
    assert me.redeem(rain) == 10
    assert me.balance() == 100
    with pytest.raises(foretell.ExchangeError) as caught:
        me.redeem(rain)
    assert caught.value.code == "nothing_to_redeem"


def test_a_market_resolves_to_a_token_or_half(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    me = ex.wallet(usdc=100)
    for payout, paid in (("No", 0), ("half", Decimal("2.5"))):
        market = ex.market("Will it rain?")
        me.split(market, 5)
        ex.trade(market.no, "BUY", price="0.9", size=5)
        ex.set_book(market.no, bids=[("0.5", 5)])
        me.place(market.no, "SELL", price="0.5", size=5)
        ex.resolve(market, market.no if payout == "No" else payout)
        assert me.redeem(market) == paid


def test_a_wallet_redeems_by_itself(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    rain = ex.market("Will it rain?")
    holder, other = ex.wallet(usdc=10, auto_redeem=True), ex.wallet(usdc=10, auto_redeem=True)
    holder.split(rain, 5)
    ex.resolve(rain, "No")
    assert (holder.balance(), holder.shares(rain.no)) == (10, 0)
    assert other.balance() == 10
