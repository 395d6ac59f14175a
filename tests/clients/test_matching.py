"""Two wallets meet: complementary, mint, merge, market orders both ways, fees; money adds up."""

from decimal import Decimal

import pytest
from py_clob_client_v2.clob_types import (
    AssetType,
    BalanceAllowanceParams,
    MarketOrderArgs,
    OrderType,
    TradeParams,
)

from exchange import (
    assert_live,
    assert_matched,
    collateral,
    eventually,
    is_hash,
    place,
    refused,
    shares,
)

ANONYMOUS = "00000000-0000-0000-0000-000000000000"


def shown(client, token, side, count=1):
    """Waits until the book the client will look at shows this many levels of a side."""
    eventually(lambda: client.get_order_book(token)[side], lambda levels: len(levels) == count)


class Ledger:
    """What two wallets hold of a market, to be compared later."""

    def __init__(self, market, *clients):
        self.market, self.clients = market, clients
        self.before = self.now()

    def now(self):
        tokens = [self.market.yes, self.market.no]
        return [
            [collateral(client), *(shares(client, token) for token in tokens)]
            for client in self.clients
        ]

    def changed(self, *expected):
        """Checks (collateral, yes, no) of each client against what they were."""
        for before, now, change in zip(self.before, self.now(), expected, strict=True):
            actual = [after - earlier for earlier, after in zip(before, now)]
            assert actual == [Decimal(str(amount)) for amount in change]


def give_shares(alice, bob, market, size):
    """Mints: alice gets Yes, bob gets No, each for half."""
    assert_live(place(alice, market.yes, "BUY", 0.5, size))
    assert_matched(place(bob, market.no, "BUY", 0.5, size), str(size), f"{size / 2:g}")


def the_trade(client, answer):
    """The one trade of an answer, as its client reads it."""
    [trade_id] = answer["tradeIDs"]
    [trade] = client.get_trades(TradeParams(id=trade_id))
    assert trade["id"] == trade_id
    assert trade["status"] == "CONFIRMED"
    assert trade["transaction_hash"] == answer["transactionsHashes"][0]
    assert is_hash(trade["transaction_hash"])
    assert trade["match_time"].isdigit() and trade["last_update"].isdigit()
    return trade


def test_mint(alice, bob, market):
    ledger = Ledger(market, alice, bob)
    resting = assert_live(place(alice, market.yes, "BUY", 0.6, 60))
    answer = place(bob, market.no, "BUY", 0.4, 60)
    taken = assert_matched(answer, "60", "24")
    ledger.changed((-36, 60, 0), (-24, 0, 60))
    trade = the_trade(bob, answer)
    assert (trade["taker_order_id"], trade["market"]) == (taken, market.condition)
    assert (trade["asset_id"], trade["side"]) == (market.no, "BUY")
    assert (Decimal(trade["price"]), Decimal(trade["size"])) == (Decimal("0.4"), 60)
    assert trade["type"] == trade["trader_side"] == "TAKER"
    assert trade["owner"] == bob.creds.api_key
    [maker] = trade["maker_orders"]
    assert (maker["order_id"], maker["asset_id"], maker["side"]) == (resting, market.yes, "BUY")
    assert (Decimal(maker["price"]), Decimal(maker["matched_amount"])) == (Decimal("0.6"), 60)
    assert maker["owner"] == ANONYMOUS
    assert maker["fee_rate_bps"] == "0"
    seen_by_maker = the_trade(alice, answer)
    assert seen_by_maker["type"] == seen_by_maker["trader_side"] == "MAKER"
    assert seen_by_maker["owner"] == ANONYMOUS
    assert seen_by_maker["maker_orders"][0]["owner"] == alice.creds.api_key


def test_complementary_at_the_makers_price(alice, bob, market):
    give_shares(alice, bob, market, 20)
    ledger = Ledger(market, alice, bob)
    assert_live(place(alice, market.yes, "SELL", 0.55, 20))
    answer = place(bob, market.yes, "BUY", 0.6, 20)
    assert_matched(answer, "20", "11")
    ledger.changed((11, -20, 0), (-11, 20, 0))
    trade = the_trade(bob, answer)
    [maker] = trade["maker_orders"]
    assert (maker["asset_id"], maker["side"]) == (market.yes, "SELL")


def test_merge(alice, bob, market):
    give_shares(alice, bob, market, 10)
    ledger = Ledger(market, alice, bob)
    assert_live(place(alice, market.yes, "SELL", 0.3, 10))
    answer = place(bob, market.no, "SELL", 0.6, 10)
    assert_matched(answer, "7", "10")
    ledger.changed((3, -10, 0), (7, 0, -10))
    [maker] = the_trade(bob, answer)["maker_orders"]
    assert (maker["asset_id"], maker["side"]) == (market.yes, "SELL")


def test_what_is_left_rests(alice, bob, market):
    resting = assert_live(place(alice, market.yes, "BUY", 0.6, 10))
    answer = place(bob, market.no, "BUY", 0.4, 25)
    taken = assert_matched(answer, "10", "4")
    assert alice.get_order(resting)["order"]["status"] == "MATCHED"
    rest = bob.get_order(taken)["order"]
    assert rest["status"] == "LIVE"
    assert (Decimal(rest["originalSize"]), Decimal(rest["sizeMatched"])) == (25, 10)
    assert rest["associateTrades"] == rest["associate_trades"] == answer["tradeIDs"]


def test_market_buy_at_the_price_the_client_finds(alice, bob, market):
    assert_live(place(bob, market.no, "BUY", 0.56, 100))  # an ask of Yes at 0.44
    shown(alice, market.yes, "asks")
    ledger = Ledger(market, alice, bob)
    order = MarketOrderArgs(token_id=market.yes, amount=10, side="BUY")
    answer = alice.create_and_post_market_order(order, order_type=OrderType.FOK)
    assert_matched(answer, "22.72", "9.9968")
    ledger.changed((Decimal("-9.9968"), "22.72", 0), (Decimal("-12.7232"), 0, "22.72"))


def test_market_sell_through_two_levels(alice, bob, market):
    give_shares(alice, bob, market, 30)
    assert_live(place(bob, market.yes, "BUY", 0.4, 10))
    assert_live(place(bob, market.yes, "BUY", 0.35, 50))
    shown(alice, market.yes, "bids", 2)
    ledger = Ledger(market, alice, bob)
    order = MarketOrderArgs(token_id=market.yes, amount=30, side="SELL")
    answer = alice.create_and_post_market_order(order, order_type=OrderType.FOK)
    assert_matched(answer, "11", "30")
    ledger.changed((11, -30, 0), (-11, 30, 0))


def test_market_orders_that_find_too_little(alice, bob, market):
    give_shares(alice, bob, market, 30)
    assert_live(place(bob, market.yes, "BUY", 0.4, 10))
    shown(alice, market.yes, "bids")
    order = MarketOrderArgs(token_id=market.yes, amount=30, side="SELL", order_type=OrderType.FAK)
    answer = alice.create_and_post_market_order(order, order_type=OrderType.FAK)
    assert_matched(answer, "4", "10")
    order = MarketOrderArgs(token_id=market.yes, amount=30, side="SELL", price=0.4)
    refused(
        lambda: alice.create_and_post_market_order(order, order_type=OrderType.FOK),
        400,
        "order couldn't be fully filled. FOK orders are fully filled or killed.",
    )


def test_own_orders_do_not_trade_with_each_other(alice, market):
    resting = assert_live(place(alice, market.yes, "BUY", 0.6, 10))
    coming = assert_live(place(alice, market.no, "BUY", 0.4, 10))
    assert alice.get_order(resting)["order"]["status"] == "CANCELED"
    assert alice.get_order(coming)["order"]["status"] == "LIVE"


def test_the_taker_pays_the_fee(alice, bob, fee_market):
    assert_live(place(bob, fee_market.no, "BUY", 0.6, 100))  # an ask of Yes at 0.4
    ledger = Ledger(fee_market, alice, bob)
    answer = place(alice, fee_market.yes, "BUY", 0.4, 50)
    assert_matched(answer, "50", "20")
    fee = Decimal("50") * Decimal("0.04") * Decimal("0.4") * Decimal("0.6")  # 0.48
    ledger.changed((-20 - fee, 50, 0), (-30, 0, 50))
    trade = the_trade(alice, answer)
    assert trade["fee_rate_bps"] == "240"  # 0.48 of 20


def test_a_market_buy_of_everything_leaves_room_for_the_fee(alice, bob, fee_market):
    """The client shrinks the amount so that value and fee fit the balance it is told."""
    assert_live(place(bob, fee_market.no, "BUY", 0.6, 100))
    ledger = Ledger(fee_market, alice, bob)
    order = MarketOrderArgs(
        token_id=fee_market.yes, amount=10, side="BUY", price=0.4, user_usdc_balance=10
    )
    answer = alice.create_and_post_market_order(order, order_type=OrderType.FAK)
    assert answer["status"] == "matched"
    spent = ledger.before[0][0] - collateral(alice)
    fee = Decimal(answer["takingAmount"]) * Decimal("0.04") * Decimal("0.24")
    assert spent == Decimal(answer["makingAmount"]) + fee.quantize(Decimal("0.00001"), "ROUND_DOWN")
    assert spent <= 10


def test_reserved_money_is_counted_and_not_available(alice, market):
    params = BalanceAllowanceParams(asset_type=AssetType.COLLATERAL)
    before = alice.get_balance_allowance(params)
    assert_live(place(alice, market.yes, "BUY", 0.25, 40))
    after = alice.get_balance_allowance(params)
    assert int(after["balance"]) == int(before["balance"])
    assert int(after["available"]) == int(before["available"]) - 10_000_000
    assert alice.update_balance_allowance(params) == after


def test_trades_are_paged_and_filtered(alice, bob, market):
    assert_live(place(alice, market.yes, "BUY", 0.6, 5))
    assert_matched(place(bob, market.no, "BUY", 0.4, 5), "5", "2")
    mine = bob.get_trades(TradeParams(market=market.condition))
    assert mine and all(trade["market"] == market.condition for trade in mine)
    by_token = bob.get_trades(TradeParams(asset_id=market.yes))
    assert {trade["id"] for trade in by_token} <= {trade["id"] for trade in mine}
    maker = bob.get_trades(TradeParams(maker_address=alice.get_address()))
    assert {trade["id"] for trade in maker} & {trade["id"] for trade in mine}
    page = bob.get_trades_paginated(TradeParams(market=market.condition))
    assert page["trades"] and isinstance(page["next_cursor"], str)
    assert page["limit"] == 1000 and page["count"] == len(page["trades"])
    assert bob.get_trades(TradeParams(market="0x" + "33" * 32)) == []


@pytest.mark.parametrize("price", [0.01, 0.07, 0.14, 0.28, 0.55, 0.56, 0.94, 0.99])
def test_prices_that_floats_cannot_hold_are_signed_exactly(alice, market, price):
    order_id = assert_live(place(alice, market.yes, "BUY", price, 107.53))
    order = alice.get_order(order_id)["order"]
    assert Decimal(order["price"]) == Decimal(str(price))
    assert Decimal(order["originalSize"]) == Decimal("107.53")


def test_fills_of_one_order_are_one_trade(alice, bob, market):
    first = assert_live(place(alice, market.yes, "BUY", 0.6, 5))
    second = assert_live(place(alice, market.yes, "BUY", 0.59, 5))
    answer = place(bob, market.no, "BUY", 0.41, 10)
    assert_matched(answer, "10", "4.05")
    trade = the_trade(bob, answer)
    assert (trade["size"], trade["price"]) == ("10", "0.405")
    fills = [(made["order_id"], made["price"], made["matched_amount"]) for made in trade["maker_orders"]]
    assert fills == [(first, "0.6", "5"), (second, "0.59", "5")]
    seen_by_maker = the_trade(alice, answer)
    assert [made["order_id"] for made in seen_by_maker["maker_orders"]] == [first, second]
