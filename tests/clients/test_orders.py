"""Placing orders of every type, alone in their books, and every refusal the client can meet."""

import dataclasses
import time
from decimal import Decimal

from py_clob_client_v2.clob_types import (
    BuilderTradeParams,
    CreateOrderOptions,
    OpenOrderParams,
    OrderArgs,
    OrderPayload,
    OrderScoringParams,
    OrdersScoringParams,
    OrderType,
    PartialCreateOrderOptions,
    PostOrdersV2Args,
)
from py_clob_client_v2.config import get_contract_config
from py_clob_client_v2.order_utils import ExchangeOrderBuilderV2

from exchange import CHAIN, assert_live, assert_matched, collateral, eventually, place, refused

FOK_KILLED = "order couldn't be fully filled. FOK orders are fully filled or killed."
FAK_KILLED = (
    "no orders found to match with FAK order. "
    "FAK orders are partially filled or killed if no match is found."
)


def args(market, **changes):
    terms = {"token_id": market.yes, "price": 0.4, "size": 10, "side": "BUY"}
    return OrderArgs(**{**terms, **changes})


def test_gtc_rests_and_is_read_back(alice, market):
    answer = alice.create_and_post_order(args(market))
    order_id = assert_live(answer)
    wrapped = alice.get_order(order_id)
    order = wrapped["order"]
    assert order["id"] == wrapped["id"] == order_id
    assert order["status"] == "LIVE"
    assert order["market"] == market.condition
    assert order["assetId"] == order["asset_id"] == market.yes
    assert order["side"] == "BUY" and order["type"] == "GTC"
    assert Decimal(order["price"]) == Decimal("0.4")
    assert Decimal(order["originalSize"]) == Decimal(order["original_size"]) == 10
    assert Decimal(order["sizeMatched"]) == Decimal(order["size_matched"]) == 0
    assert order["owner"] == alice.creds.api_key
    assert order["makerAddress"].lower() == alice.get_address().lower()
    assert order["associateTrades"] == []
    mine = alice.get_open_orders(OpenOrderParams(id=order_id))
    assert [row["id"] for row in mine] == [order_id]
    for params in [OpenOrderParams(market=market.condition), OpenOrderParams(asset_id=market.yes)]:
        assert order_id in [row["id"] for row in alice.get_open_orders(params)]
    assert alice.get_open_orders(OpenOrderParams(asset_id=market.no)) == []


def test_gtd_rests_until_its_time_less_the_safety_margin(alice, market):
    soon = int(time.time()) + 60 + 120
    order = alice.create_order(args(market, expiration=soon))
    order_id = assert_live(alice.post_order(order, OrderType.GTD))
    row = alice.get_order(order_id)["order"]
    assert row["type"] == "GTD" and int(row["expiration"]) == soon
    late = alice.create_order(args(market, expiration=int(time.time()) + 30))
    refused(lambda: alice.post_order(late, OrderType.GTD), 400, "invalid expiration")
    wrong_type = alice.create_order(args(market, expiration=soon))
    refused(lambda: alice.post_order(wrong_type, OrderType.GTC), 400, "invalid expiration")


def test_post_only_rests_or_is_refused(alice, bob, market):
    assert_live(place(alice, market.yes, "BUY", 0.4, 10, post_only=True))
    text = refused(lambda: place(bob, market.no, "BUY", 0.6, 10, post_only=True), 400)
    assert text == "invalid post-only order: order crosses book"
    assert_live(place(bob, market.no, "BUY", 0.55, 10, post_only=True))


def test_fok_is_all_or_nothing(alice, bob, market):
    refused(lambda: place(bob, market.no, "BUY", 0.6, 10, OrderType.FOK), 400, FOK_KILLED)
    assert_live(place(alice, market.yes, "BUY", 0.4, 9.99))
    refused(lambda: place(bob, market.no, "BUY", 0.6, 10, OrderType.FOK), 400, FOK_KILLED)
    assert_live(place(alice, market.yes, "BUY", 0.4, 5.01))
    answer = place(bob, market.no, "BUY", 0.6, 10, OrderType.FOK)
    order_id = assert_matched(answer, "10", "6")
    order = bob.get_order(order_id)["order"]
    assert order["status"] == "MATCHED" and Decimal(order["sizeMatched"]) == 10


def test_fak_takes_what_is_there(alice, bob, market):
    refused(lambda: place(bob, market.no, "BUY", 0.6, 10, OrderType.FAK), 400, FAK_KILLED)
    assert_live(place(alice, market.yes, "BUY", 0.4, 6))
    order_id = assert_matched(place(bob, market.no, "BUY", 0.6, 10, OrderType.FAK), "6", "3.6")
    order = bob.get_order(order_id)["order"]
    assert order["status"] == "CANCELED" and Decimal(order["sizeMatched"]) == 6


def test_a_killed_order_is_remembered(alice, market):
    order = alice.create_order(args(market))
    refused(lambda: alice.post_order(order, OrderType.FOK), 400, FOK_KILLED)
    refused(lambda: alice.post_order(order, OrderType.FOK), 400, FOK_KILLED)
    text = refused(lambda: alice.post_order(order, OrderType.GTC), 400)
    assert text.startswith("order 0x") and text.endswith(" is invalid. Duplicated.")


def test_a_resent_order_gets_the_first_answer(alice, market):
    order = alice.create_order(args(market))
    first = alice.post_order(order)
    second = alice.post_order(order)
    assert second["orderID"] == assert_live(first)
    assert second["success"] is True and second["duplicate"] is True
    refused(lambda: alice.post_order(order, post_only=True), 400)
    assert len(alice.get_open_orders(OpenOrderParams(market=market.condition))) == 1


def test_a_batch_answers_each_order_in_its_place(alice, market):
    signed = [
        alice.create_order(args(market, price=0.1)),
        alice.create_order(args(market, size=1)),
        alice.create_order(args(market, price=0.2)),
        alice.create_order(args(market, price=0.3)),
    ]
    types = [OrderType.GTC, OrderType.GTC, OrderType.FOK, OrderType.GTC]
    rows = alice.post_orders([PostOrdersV2Args(order, kind) for order, kind in zip(signed, types)])
    assert len(rows) == 4
    assert_live(rows[0])
    assert rows[1]["success"] is False and rows[1]["status"] == ""
    assert rows[1]["errorMsg"].endswith(" is invalid. Size (1) lower than the minimum: 5")
    assert rows[2]["success"] is False and rows[2]["status"] == rows[2]["orderID"] == ""
    assert rows[2]["errorMsg"] == FOK_KILLED
    assert_live(rows[3])


def test_a_batch_of_sixteen_is_refused_whole(alice, market):
    order = PostOrdersV2Args(alice.create_order(args(market)))
    refused(
        lambda: alice.post_orders([order] * 16),
        400,
        "Too many orders in payload: 16, max allowed: 15",
    )
    once = alice.post_orders([order] * 2)
    assert [row["orderID"] for row in once] == [once[0]["orderID"]] * 2
    assert len(alice.get_open_orders(OpenOrderParams(market=market.condition))) == 1


def test_orders_that_cannot_be_taken(alice, bob, market):
    text = refused(lambda: place(alice, market.yes, "BUY", 0.4, 4.99), 400)
    assert text.endswith(" is invalid. Size (4.99) lower than the minimum: 5")
    finer = alice.builder.build_order(
        args(market, price=0.455), CreateOrderOptions(tick_size="0.001", neg_risk=False)
    )
    text = refused(lambda: alice.post_order(finer), 400)
    assert text.endswith(" is invalid. Price (0.455) breaks minimum tick size rule: 0.01")
    rich = int(collateral(alice)) * 10
    text = refused(lambda: place(alice, market.yes, "BUY", 0.5, rich), 400)
    assert text.startswith("not enough balance / allowance")
    text = refused(lambda: place(alice, market.no, "SELL", 0.5, 1_000_000), 400)
    assert text.startswith("not enough balance / allowance")
    assert_live(place(bob, market.no, "BUY", 0.9, 10))
    text = refused(lambda: place(alice, market.yes, "BUY", 0.1, 9, OrderType.FOK), 400)
    assert text == "invalid amount for a marketable BUY order ($0.9), min size: $1"


def test_signatures_that_do_not_hold(alice, bob, market):
    order = alice.create_order(args(market))
    changed = dataclasses.replace(order, makerAmount=str(int(order.makerAmount) + 10_000))
    assert refused(lambda: alice.post_order(changed), 400).startswith("invalid signature: ")
    r, s, v = order.signature[2:66], int(order.signature[66:130], 16), order.signature[130:]
    n = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
    twin = f"0x{r}{n - s:064x}{'1c' if v == '1b' else '1b'}"
    malleated = dataclasses.replace(order, signature=twin)
    assert refused(lambda: alice.post_order(malleated), 400).startswith("invalid signature: ")
    refused(
        lambda: bob.post_order(order),
        400,
        "the order signer address has to be the address of the API KEY",
    )
    other_domain = alice.create_order(args(market), PartialCreateOrderOptions(neg_risk=True))
    assert refused(lambda: alice.post_order(other_domain), 400).startswith("invalid signature: ")


def test_the_old_version_is_named(alice, market):
    old = alice.create_order(args(market), PartialCreateOrderOptions(version=1))
    assert "order_version_mismatch" in refused(lambda: alice.post_order(old), 400)


def test_an_order_from_another_time_is_refused(alice, market):
    order = alice.create_order(args(market))
    stale = dataclasses.replace(order, timestamp=str(int(order.timestamp) - 3_600_000))
    # Signed again, so that only the time is wrong.
    signing = ExchangeOrderBuilderV2(get_contract_config(CHAIN).exchange_v2, CHAIN, alice.signer)
    stale.signature = signing.build_order_signature(signing.build_order_typed_data(stale))
    assert refused(lambda: alice.post_order(stale), 400).startswith("invalid order timestamp: ")


def test_neg_risk_fine_tick_and_position_ids(alice, neg_risk_market, fine_market, market):
    assert_live(place(alice, neg_risk_market.no, "BUY", 0.4, 10))
    order_id = assert_live(place(alice, fine_market.yes, "BUY", 0.041, 10))
    assert alice.get_order(order_id)["order"]["price"] == "0.041"
    by_position = OrderArgs(position_id=market.yes, price=0.4, size=10, side="BUY")
    assert_live(alice.create_and_post_order(by_position))


def test_orders_carry_their_builder(alice, bob, public, market):
    code = "0x" + "00" * 12 + "ab" * 20
    assert_live(place(alice, market.yes, "BUY", 0.4, 10))
    answer = place(bob, market.no, "BUY", 0.6, 10, builder_code=code)
    assert_matched(answer, "10", "6")
    trades = eventually(
        lambda: public.get_builder_trades(BuilderTradeParams(builder_code=code))["trades"], bool
    )
    assert answer["tradeIDs"][0] in [trade["id"] for trade in trades]
    for trade in trades:
        assert trade["builderCode"] == code


def test_scoring_is_answered(alice, market):
    order_id = assert_live(place(alice, market.yes, "BUY", 0.4, 10))
    assert alice.is_order_scoring(OrderScoringParams(orderId=order_id)) == {"scoring": False}
    assert alice.are_orders_scoring(OrdersScoringParams(orderIds=[order_id])) == {order_id: False}


def test_an_unknown_order_is_not_found(alice):
    unknown = "0x" + "22" * 32
    refused(lambda: alice.get_order(unknown), 404)
    missing = alice.cancel_order(OrderPayload(orderID=unknown))
    assert missing["canceled"] == []
