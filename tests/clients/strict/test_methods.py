"""Every public method of the strict client: it raises where an answer is none that its models know."""

import inspect
from datetime import UTC, datetime, timedelta

import pytest
from exchange import ALICE, eventually
from httpx import HTTPStatusError
from polymarket_apis import PolymarketClobClient, PolymarketDataClient, PolymarketGammaClient
from polymarket_apis.types.clob_types import BookParams, MarketOrderArgs, OrderType, PostOrdersArgs
from polymarket_apis.utilities.exceptions import OrderPlacementError
from venue import DELAY_MS, WALLETS, clob, limit, token

USER = WALLETS[ALICE]

# Why a method is not answered.
ELSEWHERE = "it asks an address that is fixed in the client"
NOT_OFFERED = {404: "there is nothing behind it here", 400: "it sends a parameter that the interface refuses"}


@pytest.fixture(scope="session")
def traded(site):
    """Facts that reads need: a book with both sides, a trade, an order that rests, keys."""
    market = site.markets["tick-0-01"]
    yes, no = token(market), token(market, 1)
    for price, side in ((0.40, yes), (0.50, no)):
        assert site.alice.create_and_post_order(limit(side, price, 40)).status == "live"
    assert site.bob.create_and_post_order(limit(yes, 0.50, 10)).status == "matched"
    resting = site.bob.create_and_post_order(limit(yes, 0.10))
    trades = eventually(site.alice.get_trades, len)
    event = eventually(site.gamma.get_events, lambda events: any(event.title == "Who wins?" for event in events))[0]
    site.market, site.yes, site.no = market, yes, no
    site.resting, site.trade, site.event = resting, trades[0], event
    site.record = site.gamma.get_market_by_slug(market.market_slug)
    site.tag = eventually(site.gamma.get_tags, len)[0]
    return site


def clob_calls(site):
    """Calls of the trading client, by method."""
    alice, market, yes = site.alice, site.market, site.yes
    now = datetime.now(UTC)
    both = [site.yes, site.no]

    def placed():
        return alice.create_and_post_order(limit(yes, 0.05))

    def signed(price=0.05):
        return alice.create_order(limit(yes, price))

    budget = MarketOrderArgs(token_id=yes, amount=1, side="BUY")
    spare = clob(ALICE)
    return {
        "get_ok": lambda: alice.get_ok() == "OK",
        "detect_wallet_signature_type": ELSEWHERE,
        "get_utc_time": lambda: alice.get_utc_time(),
        "get_tick_size": lambda: alice.get_tick_size(yes) == "0.01",
        "clear_tick_size_cache": lambda: alice.clear_tick_size_cache() is None,
        "get_neg_risk": lambda: alice.get_neg_risk(yes) is False,
        "get_fee_rate_bps": lambda: alice.get_fee_rate_bps(token(site.markets["with-a-fee"])) == 1_000,
        "get_clob_market_info": lambda: alice.get_clob_market_info(market.condition_id).rewards.enabled is False,
        "get_midpoint": lambda: alice.get_midpoint(yes),
        "get_midpoints": lambda: set(alice.get_midpoints(both)) == set(both),
        "get_spread": KeyError,  # it reads `mid` of the answer, also on Polymarket
        "get_spreads": lambda: set(alice.get_spreads(both)) == set(both),
        "get_price": lambda: alice.get_price(yes, "BUY").price == 0.5,
        "get_prices": lambda: alice.get_prices([BookParams(token_id=yes, side="BUY")])[yes].BUY == 0.5,
        "get_last_trade_price": lambda: alice.get_last_trade_price(yes).price == 0.5,
        "get_last_trades_prices": lambda: len(alice.get_last_trades_prices(both)) == 2,
        "get_order_book": lambda: alice.get_order_book(yes).bids[-1].price == 0.4,
        "get_order_books": lambda: len(alice.get_order_books(both)) == 2,
        "get_market": lambda: alice.get_market(market.condition_id).condition_id == market.condition_id,
        "get_market_ids_from_token": lambda: alice.get_market_ids_from_token(yes).secondary_token_id == site.no,
        "get_markets": lambda: alice.get_markets().count == len(site.markets),
        "get_all_markets": lambda: len(alice.get_all_markets()) == len(site.markets),
        "get_crypto_outcomes": ELSEWHERE,
        "get_recent_history": lambda: alice.get_recent_history(yes, "1h"),
        "get_history": lambda: alice.get_history(yes, now - timedelta(hours=1), now),
        "get_all_history": lambda: alice.get_all_history(yes),
        "create_api_creds": lambda: alice.create_api_creds(1).key,
        "derive_api_key": lambda: alice.derive_api_key().key == alice.creds.key,
        "create_or_derive_api_creds": lambda: alice.create_or_derive_api_creds().key == alice.creds.key,
        "set_api_creds": lambda: spare.set_api_creds(alice.creds) is None,
        "get_api_keys": lambda: alice.creds.key in alice.get_api_keys(),
        "delete_api_keys": lambda: (spare.set_api_creds(spare.create_api_creds(2)), spare.delete_api_keys())[1],
        "create_readonly_api_key": lambda: alice.create_readonly_api_key(),
        "get_readonly_api_keys": TypeError,  # the official clients read an array, this one an object
        "delete_readonly_api_key": lambda: alice.delete_readonly_api_key(alice.create_readonly_api_key()),
        "get_pusd_balance": lambda: alice.get_pusd_balance() > 9_000,
        "get_token_balance": lambda: site.bob.get_token_balance(yes) > 0,
        "send_heartbeat": lambda: alice.send_heartbeat() == "ok",
        "get_orders": lambda: placed().order_id in [order.order_id for order in alice.get_orders()],
        "create_order": lambda: signed().maker_amount,
        "post_order": lambda: alice.post_order(signed()).status == "live",
        "create_and_post_order": lambda: placed().status == "live",
        "post_orders": lambda: alice.post_orders([PostOrdersArgs(order=signed(0.06))])[0].success,
        "create_and_post_orders": lambda: alice.create_and_post_orders([limit(yes, 0.06)])[0].success,
        "calculate_market_price": lambda: alice.calculate_market_price(yes, "BUY", 1, OrderType.FOK) == 0.5,
        "create_market_order": lambda: alice.create_market_order(budget).maker_amount,
        "create_and_post_market_order": lambda: site.bob.create_and_post_market_order(budget).status == "matched",
        "cancel_order": lambda: alice.cancel_order((order := placed().order_id)).canceled == [order],
        "cancel_orders": lambda: alice.cancel_orders([order := placed().order_id]).canceled == [order],
        "cancel_all": lambda: site.bob.cancel_all().not_canceled == {},
        "cancel_orders_for_condition_id": lambda: alice.cancel_orders_for_condition_id(
            site.markets["to-refine"].condition_id
        ),
        "cancel_orders_for_token_id": lambda: alice.cancel_orders_for_token_id(token(site.markets["to-refine"])),
        "is_order_scoring": lambda: alice.is_order_scoring(site.resting.order_id) is False,
        "are_orders_scoring": lambda: alice.are_orders_scoring([site.resting.order_id]),
        "get_market_rewards": 404,
        "get_trades": lambda: {"TAKER"} == {trade.trader_side for trade in site.bob.get_trades()},
        "get_total_rewards": ELSEWHERE,
        "get_reward_markets": ELSEWHERE,
    }


def data_calls(site):
    """Calls of the data client, by method."""
    data, condition = site.data, site.market.condition_id
    return {
        "get_ok": lambda: data.get_ok() == "OK",
        "get_all_positions_gql": ELSEWHERE,
        "get_positions": lambda: data.get_positions(USER)[0].condition_id == condition,
        "get_all_positions": lambda: data.get_all_positions(USER),
        "get_trades": lambda: data.get_trades(condition_id=condition)[0].price == 0.5,
        "get_activity": lambda: data.get_activity(USER)[0].type == "TRADE",
        "get_holders": 400,
        "get_value": lambda: data.get_value(USER).value > 0,
        "get_closed_positions": lambda: data.get_closed_positions(USER) == [],
        "get_total_markets_traded": lambda: data.get_total_markets_traded(USER) == 1,
        "get_open_interest": lambda: data.get_open_interest(condition)[0].value > 0,
        "get_live_volume": lambda: data.get_live_volume(site.event.id).total is not None,
        "get_accounting_snapshot_zip": 404,
        "get_accounting_snapshot_csvs": 404,
        "get_leaderboard_rankings": lambda: data.get_leaderboard_rankings(order_by="VOL"),
        "get_builder_leaderboard_aggregated": lambda: data.get_builder_leaderboard_aggregated() == [],
        "get_builder_leaderboard_timeseries": lambda: data.get_builder_leaderboard_timeseries() == [],
        "get_pnl": ELSEWHERE,
        "get_user_metric": ELSEWHERE,
        "get_leaderboard_user_rank": ELSEWHERE,
        "get_leaderboard_top_users": ELSEWHERE,
    }


def gamma_calls(site):
    """Calls of the catalog client, by method."""
    gamma, event, record, tag = site.gamma, site.event, site.record, site.tag
    count = len(site.markets)
    return {
        "search": lambda: gamma.search("candidate").events,
        "get_market": lambda: gamma.get_market(record.id).id == record.id,
        "get_markets": lambda: len(gamma.get_markets(limit=100, closed=False, order="volume")) == count,
        "get_market_by_id": lambda: gamma.get_market_by_id(record.id, include_tag=True).tags,
        "get_market_tags": lambda: gamma.get_market_tags(record.id)[0].force_show is False,
        "get_market_by_slug": lambda: gamma.get_market_by_slug(record.slug).id == record.id,
        "get_events": lambda: gamma.get_events()[0].markets,
        "get_all_events": lambda: gamma.get_all_events(),
        "get_event_by_id": lambda: gamma.get_event_by_id(event.id).id == event.id,
        "get_event_by_slug": lambda: gamma.get_event_by_slug(event.slug).id == event.id,
        "get_event_tags": lambda: gamma.get_event_tags(event.id),
        "get_teams": lambda: gamma.get_teams() == [],
        "get_all_teams": lambda: gamma.get_all_teams() == [],
        "get_sports_metadata": lambda: gamma.get_sports_metadata() == [],
        "get_tags": lambda: gamma.get_tags()[0].force_show is False,
        "get_all_tags": lambda: gamma.get_all_tags(),
        "get_tag": lambda: gamma.get_tag(tag.id) == tag,
        "get_related_tag_ids_by_tag_id": lambda: gamma.get_related_tag_ids_by_tag_id(int(tag.id)) == [],
        "get_related_tag_ids_by_slug": lambda: gamma.get_related_tag_ids_by_slug(tag.slug) == [],
        "get_related_tags_by_tag_id": lambda: gamma.get_related_tags_by_tag_id(int(tag.id)) == [],
        "get_related_tags_by_slug": lambda: gamma.get_related_tags_by_slug(tag.slug) == [],
        "get_series": lambda: gamma.get_series() == [],
        "get_all_series": lambda: gamma.get_all_series() == [],
        "get_series_by_id": 404,
        "get_comments": lambda: gamma.get_comments("Event", event.id) == [],
        "get_comments_by_id": 404,
        "get_comments_by_user_address": lambda: gamma.get_comments_by_user_address(USER) == [],
        "get_public_profile": 404,
        "grok_event_summary": ELSEWHERE,
        "grok_election_market_explanation": ELSEWHERE,
    }


# Arguments of the methods that are refused.
REFUSED = {
    "get_readonly_api_keys": lambda site: site.alice.get_readonly_api_keys(),
    "get_spread": lambda site: site.alice.get_spread(site.yes),
    "get_market_rewards": lambda site: site.alice.get_market_rewards(site.market.condition_id),
    "get_holders": lambda site: site.data.get_holders(site.market.condition_id),
    "get_accounting_snapshot_zip": lambda site: site.data.get_accounting_snapshot_zip(USER),
    "get_accounting_snapshot_csvs": lambda site: site.data.get_accounting_snapshot_csvs(USER),
    "get_series_by_id": lambda site: site.gamma.get_series_by_id("1"),
    "get_comments_by_id": lambda site: site.gamma.get_comments_by_id("1"),
    "get_public_profile": lambda site: site.gamma.get_public_profile("0x" + "11" * 20),
}

CLIENTS = {
    PolymarketClobClient: clob_calls,
    PolymarketDataClient: data_calls,
    PolymarketGammaClient: gamma_calls,
}
METHODS = [
    (client, name)
    for client in CLIENTS
    for name, _ in inspect.getmembers(client, inspect.isfunction)
    if not name.startswith("_")
]


@pytest.mark.parametrize(("client", "method"), METHODS, ids=lambda it: getattr(it, "__name__", it))
def test_a_method_is_answered_in_words_that_it_knows(traded, client, method):
    call = CLIENTS[client](traded)[method]
    if call == ELSEWHERE:
        pytest.skip(ELSEWHERE)
    if callable(call) and not isinstance(call, type):
        assert call(), method
    elif isinstance(call, int):
        with pytest.raises(HTTPStatusError) as refused:
            REFUSED[method](traded)
        assert refused.value.response.status_code == call, NOT_OFFERED[call]
    else:
        with pytest.raises(call):
            REFUSED[method](traded)


def test_every_call_is_of_a_method(traded):
    for client, calls in CLIENTS.items():
        assert set(calls(traded)) == {name for of, name in METHODS if of is client}


@pytest.mark.parametrize("slug", ["tick-0-1", "tick-0-01", "tick-0-001", "tick-0-0001", "candidate-a", "with-a-fee"])
def test_an_order_rests_and_ends(site, slug):
    market = site.markets[slug]
    placed = site.alice.create_and_post_order(limit(token(market), market.minimum_tick_size, 10))
    assert placed.status == "live", placed
    shown = [order for order in site.alice.get_orders() if order.order_id == placed.order_id]
    assert (shown[0].status, shown[0].size_matched) == ("LIVE", 0)
    assert site.alice.cancel_order(placed.order_id).canceled == [placed.order_id]


def test_a_refused_element_hides_no_other(site):
    yes = token(site.markets["tick-0-001"])
    good = [site.alice.create_order(limit(yes, price)) for price in (0.101, 0.102)]
    poor = site.bob.create_order(limit(yes, 0.2))  # signed by another wallet than the key's
    answers = site.alice.post_orders([PostOrdersArgs(order=order) for order in (good[0], poor, good[1])])
    assert [answer.status for answer in answers] == ["live", "", "live"]
    assert answers[1].error_msg and not answers[1].success
    resting = {order.order_id for order in site.alice.get_orders(token_id=yes)}
    assert {answers[0].order_id, answers[2].order_id} <= resting
    site.alice.cancel_orders_for_token_id(yes)


def test_a_kill_says_why_in_the_family_s_words(site):
    yes = token(site.markets["tick-0-001"])
    site.alice.create_and_post_order(limit(token(site.markets["tick-0-001"], 1), 0.4))
    crossing = site.bob.create_order(limit(yes, 0.7))
    with pytest.raises(OrderPlacementError, match="invalid post-only order: order crosses book") as crossed:
        site.bob.post_order(crossing, OrderType.GTC, post_only=True)
    assert crossed.value.response_body["code"] == "crosses_book"
    large = site.bob.create_order(limit(yes, 0.7, 1_000))
    with pytest.raises(OrderPlacementError, match="FOK orders are fully filled or killed"):
        site.bob.post_order(large, OrderType.FOK)
    assert site.bob.get_orders(token_id=yes) == []
    site.alice.cancel_orders_for_token_id(token(site.markets["tick-0-001"], 1))


def test_orders_that_wait_out_a_delay_do_not_spoil_the_list(site):
    market = site.markets["with-a-delay"]
    yes, no = token(market), token(market, 1)
    site.alice.create_and_post_order(limit(no, 0.5, 40))
    waiting = site.bob.create_and_post_order(limit(yes, 0.5, 10))
    killed = site.bob.create_order(limit(yes, 0.5, 10))
    assert waiting.status == "delayed"
    assert site.bob.post_order(killed, OrderType.FAK).status == "delayed"
    shown = [order.order_id for order in site.bob.get_orders(condition_id=market.condition_id)]
    assert shown in ([waiting.order_id], [])
    eventually(lambda: site.bob.get_token_balance(yes), lambda balance: balance == 20)
    assert DELAY_MS > 0
    site.alice.cancel_orders_for_condition_id(market.condition_id)
