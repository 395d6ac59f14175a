"""Every public method of the client, and of its RFQ client, called against a running exchange."""

import itertools
import time

import pytest
from py_clob_client_v2.client import ClobClient
from py_clob_client_v2.clob_types import (
    AssetType,
    BalanceAllowanceParams,
    BookParams,
    BuilderTradeParams,
    DropNotificationParams,
    MarketOrderArgsV2,
    OrderArgs,
    OrderMarketCancelParams,
    OrderPayload,
    OrderScoringParams,
    OrdersScoringParams,
    OrderType,
    PostOrdersV2Args,
    PricesHistoryParams,
)
from py_clob_client_v2.rfq.rfq_client import RfqClient
from py_clob_client_v2.rfq.rfq_types import (
    AcceptQuoteParams,
    ApproveOrderParams,
    CancelRfqQuoteParams,
    CancelRfqRequestParams,
    RfqUserQuote,
    RfqUserRequest,
)
from py_clob_client_v2.utilities import parse_raw_orderbook_summary

from exchange import CHAIN, TRADING, connect, deposit, markets, place
from outcomes import (
    ANSWERED,
    LOCAL,
    Recorder,
    answered,
    assert_classified,
    assert_table,
    not_offered,
    public_names,
)

# Keys 6 and 7 of the development mnemonic of Hardhat and Anvil. Never fund them.
TRADER = "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e"
MAKER = "0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356"

DAY = "2026-01-02"
HASH = "0x" + "12" * 32
BUILDER = "0x" + "00" * 12 + "bb" * 20

REWARDS = not_offered("the exchange pays no rewards")
BUILDER_KEYS = not_offered("builders need no keys")
RFQ = not_offered("there are no requests for quotes")


class Facts:
    """The clients and the market of this test."""

    def __init__(self, recorder):
        self.recorder = recorder
        plain = [
            it for it in markets()
            if not it.neg_risk and not it.taker_fee and not it.delay and it.tick == "0.01"
        ]  # fmt: skip
        self.market = plain[-1]
        self.yes, self.no = self.market.yes, self.market.no
        self.prepared, self.maker = connect(TRADER), connect(MAKER)
        self.nonces = itertools.count(int(time.time()))
        for client in (self.prepared, self.maker):
            deposit(client.get_address(), 10_000)
        place(self.maker, self.yes, "BUY", 0.40, 50)
        place(self.prepared, self.no, "BUY", 0.60, 50)
        for token in (self.yes, self.no):
            place(self.maker, token, "BUY", 0.45, 1_000)

    @property
    def client(self):
        """The trader's client, which has read nothing yet: clients keep what they know of a market."""
        return ClobClient(TRADING, CHAIN, key=TRADER, creds=self.prepared.creds)

    def books(self):
        return [BookParams(token_id=self.yes, side="BUY"), BookParams(token_id=self.no, side="SELL")]

    def terms(self):
        return OrderArgs(token_id=self.yes, price=0.11, size=10, side="BUY")

    def order(self):
        """A signed order."""
        with self.recorder.paused():
            return self.prepared.create_order(self.terms())

    def rested(self):
        """The id of an order in the book."""
        with self.recorder.paused():
            return self.prepared.post_order(self.order())["orderID"]

    def bought(self):
        return MarketOrderArgsV2(token_id=self.yes, amount=2, side="BUY", price=0.6)

    def disposable(self):
        """A client with a key of its own."""
        with self.recorder.paused():
            client = ClobClient(TRADING, CHAIN, key=TRADER)
            client.set_api_creds(client.create_api_key(nonce=next(self.nonces)))
        return client


def plain(name, *arguments, **named):
    """Calls a method of the trader's client with these arguments."""
    return lambda facts: getattr(facts.client, name)(*arguments, **named)


def of_token(name, *more):
    return lambda facts: getattr(facts.client, name)(facts.yes, *more)


def of_market(name):
    return lambda facts: getattr(facts.client, name)(facts.market.condition)


def of_books(name):
    return lambda facts: getattr(facts.client, name)(facts.books())


def all_of(names, made, outcome):
    return {name: (made(name), outcome) for name in names.split()}


def delete_read_only_key(facts):
    with facts.recorder.paused():
        key = facts.client.create_readonly_api_key()
    return facts.client.delete_readonly_api_key(key["apiKey"])


def book_hash(facts):
    book = facts.client.get_order_book(facts.yes)
    return facts.client.get_order_book_hash(parse_raw_orderbook_summary(book))


COLLATERAL = BalanceAllowanceParams(asset_type=AssetType.COLLATERAL)

METHODS = {
    **all_of("get_ok get_server_time get_version", plain, ANSWERED),
    **all_of(
        "get_markets get_simplified_markets get_sampling_markets get_sampling_simplified_markets",
        plain,
        ANSWERED,
    ),
    **all_of("get_market get_clob_market_info get_market_trades_events", of_market, ANSWERED),
    **all_of(
        "get_order_book get_tick_size get_neg_risk get_fee_rate_bps get_fee_exponent get_midpoint"
        " get_spread get_last_trade_price",
        of_token,
        ANSWERED,
    ),
    "get_price": (of_token("get_price", "BUY"), answered("the best ask")),
    **all_of(
        "get_order_books get_midpoints get_prices get_spreads get_last_trades_prices",
        of_books,
        ANSWERED,
    ),
    "get_order_book_hash": (book_hash, answered("hashes the book of `get_order_book`")),
    "get_prices_history": (
        lambda facts: facts.client.get_prices_history(
            PricesHistoryParams(market=facts.yes, interval="1h")
        ),
        ANSWERED,
    ),
    "calculate_market_price": (
        lambda facts: facts.client.calculate_market_price(facts.yes, "BUY", 2), ANSWERED,
    ),
    **all_of("assert_level_1_auth assert_level_2_auth get_address", plain, LOCAL),
    "set_api_creds": (lambda facts: facts.client.set_api_creds(facts.client.creds), LOCAL),
    **all_of("create_api_key derive_api_key create_or_derive_api_key get_api_keys", plain, ANSWERED),
    "delete_api_key": (lambda facts: facts.disposable().delete_api_key(), ANSWERED),
    **all_of("create_readonly_api_key get_readonly_api_keys get_closed_only_mode", plain, ANSWERED),
    "delete_readonly_api_key": (delete_read_only_key, ANSWERED),
    **all_of(
        "create_builder_api_key get_builder_api_keys revoke_builder_api_key", plain, BUILDER_KEYS
    ),
    "create_order": (lambda facts: facts.client.create_order(facts.terms()), answered("signs; reads the market")),
    "create_market_order": (
        lambda facts: facts.client.create_market_order(facts.bought()),
        answered("signs; reads the market"),
    ),
    "post_order": (lambda facts: facts.client.post_order(facts.order()), ANSWERED),
    "post_orders": (
        lambda facts: facts.client.post_orders([PostOrdersV2Args(order=facts.order())]), ANSWERED,
    ),
    "create_and_post_order": (
        lambda facts: facts.client.create_and_post_order(
            OrderArgs(token_id=facts.yes, price=0.12, size=10, side="BUY")
        ),
        ANSWERED,
    ),
    "create_and_post_market_order": (
        lambda facts: facts.client.create_and_post_market_order(
            facts.bought(), order_type=OrderType.FAK
        ),
        ANSWERED,
    ),
    "get_order": (lambda facts: facts.client.get_order(facts.rested()), ANSWERED),
    **all_of("get_open_orders get_trades get_trades_paginated", plain, ANSWERED),
    "get_pre_migration_orders": (plain("get_pre_migration_orders"), answered("always empty")),
    "cancel_order": (
        lambda facts: facts.client.cancel_order(OrderPayload(orderID=facts.rested())), ANSWERED,
    ),
    "cancel_orders": (lambda facts: facts.client.cancel_orders([facts.rested()]), ANSWERED),
    "cancel_all": (plain("cancel_all"), ANSWERED),
    "cancel_market_orders": (
        lambda facts: facts.client.cancel_market_orders(
            OrderMarketCancelParams(market=facts.market.condition)
        ),
        ANSWERED,
    ),
    "get_builder_trades": (
        plain("get_builder_trades", BuilderTradeParams(builder_code=BUILDER)), ANSWERED,
    ),
    "get_notifications": (plain("get_notifications"), answered("always empty")),
    "drop_notifications": (plain("drop_notifications", DropNotificationParams(ids=["1"])), ANSWERED),
    "get_balance_allowance": (plain("get_balance_allowance", COLLATERAL), ANSWERED),
    "update_balance_allowance": (plain("update_balance_allowance", COLLATERAL), ANSWERED),
    "is_order_scoring": (
        plain("is_order_scoring", OrderScoringParams(orderId=HASH)), answered("always false"),
    ),
    "are_orders_scoring": (
        plain("are_orders_scoring", OrdersScoringParams(orderIds=[HASH])), answered("always false"),
    ),
    "post_heartbeat": (plain("post_heartbeat"), ANSWERED),
    **all_of("get_current_rewards get_reward_percentages", plain, REWARDS),
    "get_raw_rewards_for_market": (of_market("get_raw_rewards_for_market"), REWARDS),
    **all_of(
        "get_earnings_for_user_for_day get_total_earnings_for_user_for_day"
        " get_user_earnings_and_markets_config",
        lambda name: plain(name, DAY),
        REWARDS,
    ),
}


def rfq(name, *arguments):
    return lambda facts: getattr(facts.client.rfq, name)(*arguments)


def rfq_order(kind, **more):
    return lambda facts: kind(token_id=facts.yes, price=0.5, side="BUY", size=10, **more)


SOON = int(time.time()) + 600

RFQ_METHODS = {
    **all_of(
        "get_rfq_requests get_rfq_requester_quotes get_rfq_quoter_quotes get_rfq_best_quote rfq_config",
        rfq,
        RFQ,
    ),
    "create_rfq_request": (
        lambda facts: facts.client.rfq.create_rfq_request(rfq_order(RfqUserRequest)(facts)), RFQ,
    ),
    "create_rfq_quote": (
        lambda facts: facts.client.rfq.create_rfq_quote(
            rfq_order(RfqUserQuote, request_id="1")(facts)
        ),
        RFQ,
    ),
    "cancel_rfq_request": (rfq("cancel_rfq_request", CancelRfqRequestParams(request_id="1")), RFQ),
    "cancel_rfq_quote": (rfq("cancel_rfq_quote", CancelRfqQuoteParams(quote_id="1")), RFQ),
    "accept_rfq_quote": (
        rfq("accept_rfq_quote", AcceptQuoteParams(request_id="1", quote_id="1", expiration=SOON)), RFQ,
    ),
    "approve_rfq_order": (
        rfq("approve_rfq_order", ApproveOrderParams(request_id="1", quote_id="1", expiration=SOON)), RFQ,
    ),
}


@pytest.fixture(scope="module")
def driven():
    """What every method did."""
    recorder, seen = Recorder(), {}
    facts = Facts(recorder)
    declared = {**METHODS, **{f"rfq.{name}": made for name, made in RFQ_METHODS.items()}}
    for name, (made, wanted) in sorted(declared.items()):
        with recorder.recording() as seen[name]:
            made(facts)
    facts.prepared.cancel_all()
    facts.maker.cancel_all()
    return {name: (declared[name][1], seen[name]) for name in declared}


def test_every_method_is_classified():
    assert_classified(public_names(ClobClient), set(METHODS))
    methods = {name for name in public_names(RfqClient) if callable(getattr(RfqClient, name))}
    assert_classified(methods, set(RFQ_METHODS))


def test_every_method_does_what_is_said_of_it(driven):
    wrong = [
        f"{name}: {wanted.kind}: {seen.shown()}"
        for name, (wanted, seen) in driven.items()
        if not seen.fits(wanted)
    ]
    assert wrong == [], "\n".join(wrong)


def test_the_table_of_outcomes_is_in_the_documentation(driven):
    rows = [
        (f"`{name}`", seen.call(), seen.outcome(wanted))
        for name, (wanted, seen) in sorted(driven.items())
    ]
    assert_table("py-clob-client-v2", rows)
