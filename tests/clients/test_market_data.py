"""Reads that need no key: markets, books, prices."""

from decimal import Decimal

from py_clob_client_v2.clob_types import BookParams, PricesHistoryParams

from exchange import assert_live, assert_matched, eventually, levels, markets, place, refused

BOOK_KEYS = [
    "market", "asset_id", "timestamp", "hash", "bids", "asks",
    "min_order_size", "tick_size", "neg_risk", "last_trade_price",
]  # fmt: skip


def both_sides(alice, bob, market):
    """Two levels a side: alice bids 0.42 and 0.43, bob asks 0.46 and 0.47 by bidding for No."""
    for price, size in [(0.42, 20), (0.43, 10)]:
        assert_live(place(alice, market.yes, "BUY", price, size))
    for price, size in [(0.53, 40), (0.54, 30)]:
        assert_live(place(bob, market.no, "BUY", price, size))


def seen_book(public, token):
    return eventually(
        lambda: public.get_order_book(token), lambda book: len(book["bids"] + book["asks"]) == 4
    )


def test_lists_of_markets(public, market):
    assert len(markets()) >= 20
    for page in [
        public.get_markets(),
        public.get_simplified_markets(),
        public.get_sampling_markets(),
        public.get_sampling_simplified_markets(),
    ]:
        assert isinstance(page["data"], list) and page["data"]
        assert isinstance(page["next_cursor"], str)
        for entry in page["data"]:
            assert entry["condition_id"].startswith("0x")
            assert len(entry["tokens"]) == 2


def test_one_market(public, market):
    detail = public.get_market(market.condition)
    assert detail["condition_id"] == market.condition
    assert [token["token_id"] for token in detail["tokens"]] == [market.yes, market.no]
    assert detail["active"] is True and detail["closed"] is False
    assert detail["accepting_orders"] is True
    refused(lambda: public.get_market("0x" + "11" * 32), 404, "market not found")


def test_rules_of_a_market(public, market, fine_market, neg_risk_market, fee_market):
    assert public.get_tick_size(market.yes) == "0.01"
    assert public.get_tick_size(fine_market.no) == "0.001"
    assert public.get_neg_risk(market.yes) is False
    assert public.get_neg_risk(neg_risk_market.no) is True
    assert public.get_fee_rate_bps(market.yes) == 0
    assert public.get_fee_rate_bps(fee_market.yes) == 400
    assert public.get_fee_exponent(fee_market.yes) == 1
    info = public.get_clob_market_info(fee_market.condition)
    assert [token["t"] for token in info["t"]] == [fee_market.yes, fee_market.no]
    assert info["mts"] == 0.01 and info["fd"]["r"] == 0.04 and info["fd"]["to"] is True


def test_an_empty_book(public, market):
    book = eventually(
        lambda: public.get_order_book(market.yes), lambda book: not book["bids"] + book["asks"]
    )
    assert list(book) == BOOK_KEYS
    assert (book["market"], book["asset_id"]) == (market.condition, market.yes)
    assert book["tick_size"] == "0.01"


def test_both_books_show_every_order_best_level_last(public, alice, bob, market):
    both_sides(alice, bob, market)
    yes = seen_book(public, market.yes)
    cents = lambda *rows: [(Decimal(price) / 100, Decimal(size)) for price, size in rows]
    assert levels(yes["bids"]) == cents((42, 20), (43, 10))
    assert levels(yes["asks"]) == cents((47, 40), (46, 30))
    no = seen_book(public, market.no)
    assert levels(no["bids"]) == cents((53, 40), (54, 30))
    assert levels(no["asks"]) == cents((58, 20), (57, 10))
    for book in (yes, no):
        assert list(book) == BOOK_KEYS
        assert int(book["timestamp"]) > 1_600_000_000_000
        assert public.get_order_book_hash(book) == book["hash"]


def test_many_books_in_the_order_asked(public, alice, bob, market, fine_market):
    both_sides(alice, bob, market)
    seen_book(public, market.yes)
    unknown = "1" * 70
    books = public.get_order_books(
        [BookParams(market.no), BookParams(unknown), BookParams(fine_market.yes), BookParams(market.yes, "BUY")]
    )
    tokens = [book["asset_id"] for book in books]
    assert tokens == [market.no, fine_market.yes, market.yes]
    for book in books:
        assert public.get_order_book_hash(book) == book["hash"]


def test_prices(public, alice, bob, market):
    both_sides(alice, bob, market)
    seen_book(public, market.yes)
    number = lambda answer, key: Decimal(answer[key])
    assert number(public.get_price(market.yes, "BUY"), "price") == Decimal("0.46")
    assert number(public.get_price(market.yes, "SELL"), "price") == Decimal("0.43")
    assert number(public.get_midpoint(market.yes), "mid") == Decimal("0.445")
    assert number(public.get_spread(market.yes), "spread") == Decimal("0.03")
    both = [BookParams(market.yes, "BUY"), BookParams(market.no, "SELL")]
    prices = public.get_prices(both)
    assert Decimal(prices[market.yes]["BUY"]) == Decimal("0.46")
    assert Decimal(prices[market.no]["SELL"]) == Decimal("0.54")
    assert {token: Decimal(mid) for token, mid in public.get_midpoints(both).items()} == {
        market.yes: Decimal("0.445"),
        market.no: Decimal("0.555"),
    }
    spreads = public.get_spreads(both)
    assert {Decimal(spread) for spread in spreads.values()} == {Decimal("0.03")}


def test_the_price_an_amount_reaches(public, alice, bob, market):
    both_sides(alice, bob, market)
    seen_book(public, market.yes)
    # 30 shares at 0.46 cost 13.80; what is more needs the next level.
    assert public.calculate_market_price(market.yes, "BUY", 13) == 0.46
    assert public.calculate_market_price(market.yes, "BUY", 20) == 0.47
    assert public.calculate_market_price(market.yes, "SELL", 10) == 0.43
    assert public.calculate_market_price(market.yes, "SELL", 25) == 0.42


def test_what_the_family_has_and_this_exchange_does_not(public, alice, market):
    for ask in [
        public.get_current_rewards,
        lambda: public.get_raw_rewards_for_market(market.condition),
        alice.get_reward_percentages,
        lambda: alice.get_earnings_for_user_for_day("2026-01-01"),
        lambda: alice.get_total_earnings_for_user_for_day("2026-01-01"),
        lambda: alice.get_user_earnings_and_markets_config("2026-01-01"),
        alice.get_builder_api_keys,
    ]:
        refused(ask, 404, "not supported")


def test_last_trades_are_mirrored(public, alice, bob, market):
    assert_live(place(alice, market.yes, "BUY", 0.6, 10))
    assert_matched(place(bob, market.no, "BUY", 0.4, 10), "10", "4")
    last = eventually(
        lambda: public.get_order_book(market.no)["last_trade_price"], lambda text: text != ""
    )
    assert Decimal(last) == Decimal("0.4")
    no, yes = public.get_last_trade_price(market.no), public.get_last_trade_price(market.yes)
    assert (Decimal(no["price"]), no["side"]) == (Decimal("0.4"), "BUY")
    assert (Decimal(yes["price"]), yes["side"]) == (Decimal("0.6"), "SELL")
    rows = public.get_last_trades_prices([BookParams(market.yes), BookParams(market.no)])
    assert [row["token_id"] for row in rows] == [market.yes, market.no]


def prices(public, token, **asked):
    """Times and prices of a history, after seeing that its points are steps apart."""
    history = public.get_prices_history(PricesHistoryParams(market=token, **asked))["history"]
    times = [point["t"] for point in history]
    assert all(isinstance(time, int) and time % 60 == 0 for time in times)
    assert times == sorted(set(times))
    return [(point["t"], Decimal(str(point["p"]))) for point in history]


def test_price_history(public, alice, bob, market):
    both_sides(alice, bob, market)
    seen_book(public, market.yes)
    # The newest point is the midpoint as it stands, whatever the steps.
    for asked in [
        {"interval": "1h"},
        {"interval": "1d", "fidelity": 5},
        {"interval": "1m", "fidelity": 10},
        {"interval": "max"},
        {"start_ts": 0, "end_ts": 4_000_000_000},
        {"start_ts": 0, "end_ts": 4_000_000_000, "fidelity": 1},
    ]:
        yes, no = prices(public, market.yes, **asked), prices(public, market.no, **asked)
        assert yes[-1][1] == Decimal("0.445"), asked
        assert no[-1][1] == Decimal("0.555"), asked
    (time, _), now = prices(public, market.yes, interval="1h")[-1], public.get_server_time()
    assert 0 <= now - time <= 120
    assert prices(public, market.yes, start_ts=1, end_ts=1_000_000) == []
    assert prices(public, "1" * 70, interval="1d") == []
    refused(lambda: prices(public, market.yes, interval="2d"), 400)
    refused(lambda: prices(public, market.yes, start_ts=5, end_ts=4), 400)
    refused(lambda: prices(public, market.yes, interval="1d", fidelity=0), 400)


def test_tokens_that_are_not(public):
    unknown = "1" * 70
    missing = "No orderbook exists for the requested token id"
    refused(lambda: public.get_order_book(unknown), 404, missing)
    refused(lambda: public.get_order_book("abc"), 400, "Invalid token id")
    refused(lambda: public.get_price(unknown, "BUY"), 404, missing)
    refused(lambda: public.get_midpoint(unknown), 404, missing)
    refused(lambda: public.get_tick_size(unknown), 404)
