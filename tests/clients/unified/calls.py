"""How each public method of `polymarket-client` is called, and what should come of it.

A call gets a client of either kind (sync or async) and the facts of the running exchange.
"""

import inspect
import time
from decimal import Decimal

from outcomes import ANSWERED, LOCAL, STREAM, answered, differs, local, not_offered

DAY = "2026-01-02"
BUILDER = "0x" + "00" * 12 + "bb" * 20
HASH = "0x" + "12" * 32

CHAIN = "transactions of a chain's relayer; `/positions/*` does this here"
APPROVALS = "a ledger needs no approval"
COMBOS = "there are no combos"
PERPS = "there are no perpetuals"
REWARDS = "the exchange pays no rewards"
ON_CHAIN = "reads the market, then wants a contract of a chain: the positions routes serve these"
V2 = "version 2 of the data interface"
BUILDER_KEYS = "builders need no keys"
SESSION_KEYS = "session keys authorize on-chain wallets; use API keys or read-only keys"
REVOKED = 'the key is revoked; the answer is `{"revoked": true}`, the client expects `"OK"` and raises'
ALWAYS_EMPTY = "always empty"


async def settled(result):
    """The result of a method: awaited, and of a list its first page."""
    if inspect.isawaitable(result):
        result = await result
    if hasattr(result, "first_page"):
        page = result.first_page()
        result = await page if inspect.isawaitable(page) else page
    return result


def call(name, **arguments):
    """Calls a method with arguments, which may be functions of the facts."""

    async def made(client, facts):
        given = {key: value(facts) if callable(value) else value for key, value in arguments.items()}
        return await settled(getattr(client, name)(**given))

    return made


def with_one(name, argument):
    """Calls a method with one positional argument."""

    async def made(client, facts):
        given = argument(facts) if callable(argument) else argument
        return await settled(getattr(client, name)(given))

    return made


def attribute(name):
    """Reads a property."""

    async def made(client, _):
        return getattr(client, name)

    return made


def no_call(*_):
    """Not driven here."""


def asset(facts):
    return facts.yes


def assets(facts):
    return [facts.yes, facts.no]


def condition(facts):
    return facts.condition


def wallet(facts):
    return facts.wallet


async def placed(client, facts, price="0.11"):
    """An order of this client that rests."""
    order = await settled(
        client.place_limit_order(asset_id=facts.yes, price=price, size=10, side="BUY", post_only=True)
    )
    assert order.ok, order
    return order.order_id


def of_order(name, **arguments):
    """Calls a method about an order that rests; arguments are functions of its id."""

    async def made(client, facts):
        with facts.recorder.paused():
            order = await placed(client, facts)
        given = {key: value(order) for key, value in arguments.items()}
        return await settled(getattr(client, name)(**given))

    return made


async def signed(client, facts):
    return await settled(
        client.create_limit_order(asset_id=facts.yes, price="0.12", size=10, side="BUY", post_only=True)
    )


def signs(name, **arguments):
    """Calls a method of a client that has read nothing yet."""

    async def made(client, facts):
        with facts.recorder.paused():
            own = await facts.fresh(client)
        return await call(name, **arguments)(own, facts)

    return made


async def post_order(client, facts):
    with facts.recorder.paused():
        order = await signed(client, facts)
    order = await settled(client.post_order(order))
    assert order.ok, order


async def post_orders(client, facts):
    with facts.recorder.paused():
        orders = [await signed(client, facts), await signed(client, facts)]
    orders = await settled(client.post_orders(orders))
    assert all(order.ok for order in orders), orders


async def place_limit_order(client, facts):
    await placed(client, facts, price="0.13")


async def place_market_order(client, facts):
    order = await settled(
        client.place_market_order(asset_id=facts.yes, side="BUY", amount=2, max_price="0.6")
    )
    assert order.ok and order.transactions_hashes, order
    return order


async def wait_for_settlement(client, facts):
    with facts.recorder.paused():
        order = await place_market_order(client, facts)
    assert await settled(client.wait_for_order_fill_settlement(order)) == order.transactions_hashes


async def delete_api_key(client, facts):
    with facts.recorder.paused():
        own = await facts.disposable(client)
    await settled(own.delete_api_key())


async def end_authentication(client, facts):
    with facts.recorder.paused():
        own = await facts.disposable(client)
    await settled(own.end_authentication())


async def create(client, facts):
    await facts.disposable(client)


async def close(client, facts):
    with facts.recorder.paused():
        own = await facts.disposable(client)
    await settled(own.close())


async def heartbeat(client, facts):
    sent = await settled(client.send_order_heartbeat(heartbeat_id=facts.heartbeats.get(facts.name, "")))
    facts.heartbeats[facts.name] = sent.heartbeat_id


async def execute(client, _):
    await settled(client.execute_transaction(calls=[]))


async def builder_trades(client, facts):
    page = await settled(client.list_builder_trades(builder_code=BUILDER, market=facts.condition))
    trade = page.items[-1]
    assert trade.condition_id == facts.condition and trade.outcome_index == 1, trade
    assert trade.trade_type == "TAKER" and trade.maker == facts.wallet.lower(), trade
    assert abs(trade.matched_at.timestamp() - time.time()) < 600, trade


async def positions(client, facts):
    page = await settled(client.list_positions(user=facts.wallet, condition_id=facts.condition))
    position = next(item for item in page.items if item.asset_id == facts.no)
    assert position.condition_id == facts.condition and position.status == "OPEN", position
    assert position.total_pnl == position.realized_pnl + position.unrealized_pnl, position


async def holders(client, facts):
    page = await settled(client.list_market_holders(condition_ids=facts.condition, include_pnl=True))
    group = next(item for item in page.items if item.asset_id == facts.no)
    held = {holder.wallet.lower(): holder for holder in group.holders}
    assert held[facts.wallet.lower()].current_value is not None, group


async def rebates(client, facts):
    rows = await settled(client.get_current_rebates(date=facts.day, maker_address=facts.maker))
    [row] = [row for row in rows if row.condition_id == facts.rebate_condition]
    assert row.date.isoformat() == facts.day and row.maker_address == facts.maker.lower(), row
    # A quarter of the fee: 50 shares at 0.5 with a rate of 0.04.
    assert row.rebated_fees_usdc == Decimal("0.125"), row


async def prices(client, facts):
    page = await settled(client.list_price_history(asset_id=facts.yes, interval="1d"))
    point = page.items[-1]
    assert 0 < point.price < 1 and point.resolution_seconds == 60, point
    assert abs(point.timestamp.timestamp() - time.time()) < 600, point


def listed(names, made, outcome):
    return {name: (made(name), outcome) for name in names.split()}


def of_user(name):
    return call(name, user=wallet)


TRADING = {
    "get_midpoint": (call("get_midpoint", asset_id=asset), ANSWERED),
    "get_midpoints": (call("get_midpoints", asset_ids=assets), ANSWERED),
    "get_price": (call("get_price", asset_id=asset, side="BUY"), answered("the best ask")),
    "get_prices": (call("get_prices", requests=lambda facts: facts.price_requests()), ANSWERED),
    "get_order_book": (call("get_order_book", asset_id=asset), ANSWERED),
    "get_order_books": (call("get_order_books", asset_ids=assets), ANSWERED),
    "get_spread": (call("get_spread", asset_id=asset), ANSWERED),
    "get_spreads": (call("get_spreads", asset_ids=assets), ANSWERED),
    "get_last_trade_price": (call("get_last_trade_price", asset_id=asset), ANSWERED),
    "get_last_trade_prices": (call("get_last_trade_prices", asset_ids=assets), ANSWERED),
    "estimate_market_price": (
        call("estimate_market_price", asset_id=asset, side="BUY", amount=Decimal(2)), ANSWERED,
    ),
    "list_builder_trades": (builder_trades, ANSWERED),
    "send_order_heartbeat": (heartbeat, ANSWERED),
    "fetch_api_keys": (call("fetch_api_keys"), ANSWERED),
    "delete_api_key": (delete_api_key, differs(REVOKED)),
    "end_authentication": (end_authentication, differs(REVOKED)),
    "get_closed_only_mode": (call("get_closed_only_mode"), ANSWERED),
    "list_open_orders": (call("list_open_orders", asset_id=asset), ANSWERED),
    "get_order": (of_order("get_order", order_id=lambda order: order), ANSWERED),
    "list_account_trades": (call("list_account_trades", market=condition), ANSWERED),
    "get_notifications": (call("get_notifications"), answered(ALWAYS_EMPTY)),
    "drop_notifications": (call("drop_notifications", ids=[1]), ANSWERED),
    "get_balance_allowance": (call("get_balance_allowance", asset_type="COLLATERAL"), ANSWERED),
    "create_limit_order": (
        signs("create_limit_order", asset_id=asset, price="0.12", size=10, side="BUY"),
        answered("signs; reads the market"),
    ),
    "create_market_order": (
        signs("create_market_order", asset_id=asset, side="BUY", amount=2, max_price="0.6"),
        answered("signs; reads the market"),
    ),
    "place_limit_order": (place_limit_order, ANSWERED),
    "place_market_order": (place_market_order, ANSWERED),
    "get_builder_fee_rates": (with_one("get_builder_fee_rates", BUILDER), answered("always 0")),
    "post_order": (post_order, ANSWERED),
    "post_orders": (post_orders, ANSWERED),
    "wait_for_order_fill_settlement": (wait_for_settlement, answered("settled with the answer")),
    "cancel_order": (of_order("cancel_order", order_id=lambda order: order), ANSWERED),
    "cancel_orders": (of_order("cancel_orders", order_ids=lambda order: [order]), ANSWERED),
    "cancel_all": (call("cancel_all"), ANSWERED),
    "cancel_market_orders": (call("cancel_market_orders", market=condition), ANSWERED),
    "get_order_scoring": (call("get_order_scoring", order_id=HASH), answered("always false")),
    "get_current_rebates": (rebates, ANSWERED),
    "get_orders_scoring": (call("get_orders_scoring", order_ids=[HASH]), answered("always false")),
}

CATALOG = {
    "get_market": (call("get_market", id=lambda facts: facts.market_id), ANSWERED),
    "get_market_tags": (call("get_market_tags", id=lambda facts: facts.market_id), ANSWERED),
    "get_event": (call("get_event", id=lambda facts: facts.event_id), ANSWERED),
    "get_event_tags": (call("get_event_tags", id=lambda facts: facts.event_id), ANSWERED),
    "get_series": (call("get_series", id=lambda facts: facts.series_id), ANSWERED),
    "get_tag": (call("get_tag", id=lambda facts: facts.tag_id), ANSWERED),
    "get_related_tags": (call("get_related_tags", id=lambda facts: facts.tag_id), ANSWERED),
    "get_related_tag_resources": (
        call("get_related_tag_resources", id=lambda facts: facts.tag_id), ANSWERED,
    ),
    "get_sports": (call("get_sports"), ANSWERED),
    "get_sports_market_types": (call("get_sports_market_types"), ANSWERED),
    "get_public_profile": (with_one("get_public_profile", wallet), ANSWERED),
    "get_comment_thread": (with_one("get_comment_thread", "1"), not_offered("there are no comments")),
    "list_events": (call("list_events"), ANSWERED),
    "list_markets": (call("list_markets"), ANSWERED),
    "list_series": (call("list_series"), ANSWERED),
    "list_tags": (call("list_tags"), ANSWERED),
    "list_teams": (call("list_teams"), ANSWERED),
    "list_comments": (
        call("list_comments", parent_entity_id="1", parent_entity_type="Event"), answered(ALWAYS_EMPTY),
    ),
    "list_comments_by_user_address": (
        call("list_comments_by_user_address", address=wallet), answered(ALWAYS_EMPTY),
    ),
    "search": (call("search", q="lanterns"), ANSWERED),
}

DATA = {
    **listed(
        "list_trades list_activity get_portfolio_value get_trader_leaderboard_standing", of_user, ANSWERED,
    ),
    "list_positions": (positions, ANSWERED),
    **listed("get_user_stats get_user_pnl get_user_volume", of_user, not_offered(V2)),
    **listed("list_combo_activity list_combo_positions", of_user, not_offered(COMBOS)),
    "list_market_holders": (holders, ANSWERED),
    "get_open_interests": (call("get_open_interests", condition_ids=condition), ANSWERED),
    "get_event_live_volume": (call("get_event_live_volume", event_ids=1), ANSWERED),
    "list_price_history": (prices, ANSWERED),
    "get_token_references": (call("get_token_references", asset_ids=asset), not_offered(V2)),
    "get_resolutions": (call("get_resolutions", condition_ids=condition), not_offered(V2)),
    **listed("list_trader_leaderboard list_builder_leaderboard get_builder_volumes", call, ANSWERED),
    "list_biggest_winners": (call("list_biggest_winners"), not_offered(V2)),
    "download_accounting_snapshot": (
        of_user("download_accounting_snapshot"), not_offered("use the reads of the data surface"),
    ),
}

REFUSED = {
    **listed(
        "list_reward_markets list_current_rewards get_reward_percentages", call, not_offered(REWARDS)
    ),
    "list_market_rewards": (call("list_market_rewards", condition_id=condition), not_offered(REWARDS)),
    **listed(
        "list_user_earnings_for_day get_total_earnings_for_user_for_day"
        " list_user_earnings_and_markets_config",
        lambda name: call(name, date=DAY),
        not_offered(REWARDS),
    ),
    **listed(
        "create_builder_api_key fetch_builder_api_keys revoke_builder_api_key",
        call,
        not_offered(BUILDER_KEYS),
    ),
    "authorize_session_key": (
        call("authorize_session_key", address=wallet), not_offered(SESSION_KEYS),
    ),
    "fetch_session_keys": (call("fetch_session_keys"), not_offered(SESSION_KEYS)),
    "revoke_session_key": (call("revoke_session_key", address=wallet), not_offered(SESSION_KEYS)),
    "approve_erc20": (
        call("approve_erc20", token_address=wallet, spender_address=wallet, amount=1),
        not_offered(APPROVALS),
    ),
    "approve_erc1155_for_all": (
        call("approve_erc1155_for_all", token_address=wallet, operator_address=wallet),
        not_offered(APPROVALS),
    ),
    "transfer_erc20": (
        call("transfer_erc20", token_address=wallet, recipient_address=wallet, amount=1),
        not_offered("deposits and withdrawals are the operator's"),
    ),
    "get_trading_approvals_state": (
        call("get_trading_approvals_state", wallet=wallet), not_offered(APPROVALS),
    ),
    "setup_trading_approvals": (call("setup_trading_approvals"), not_offered(APPROVALS)),
    **listed("setup_gasless_wallet is_gasless_ready", call, local("does nothing, in the family too")),
    "execute_transaction": (execute, not_offered(CHAIN)),
    "split_position": (
        call("split_position", condition_id=condition, amount=1), differs(ON_CHAIN),
    ),
    "merge_positions": (
        call("merge_positions", condition_id=condition, amount=1), differs(ON_CHAIN),
    ),
    "merge_multiple_positions": (
        call("merge_multiple_positions", positions=lambda facts: facts.merges()), differs(ON_CHAIN),
    ),
    "redeem_positions": (call("redeem_positions", condition_id=condition), differs(ON_CHAIN)),
    "list_combo_markets": (call("list_combo_markets"), not_offered(COMBOS)),
    "plan_collateral_return": (call("plan_collateral_return"), not_offered(COMBOS)),
    "execute_collateral_return_plan": (
        call("execute_collateral_return_plan", plan=None), not_offered(COMBOS),
    ),
    "request_combo_quote": (
        call("request_combo_quote", leg_position_ids=["1", "2"], direction="BUY", amount=1),
        not_offered(COMBOS),
    ),
    "accept_combo_quote": (with_one("accept_combo_quote", {}), not_offered(COMBOS)),
    "wait_for_combo_fill": (call("wait_for_combo_fill", rfq_id="1", timeout=1.0), not_offered(COMBOS)),
    "fetch_rfq_status": (call("fetch_rfq_status", rfq_id="1"), not_offered(COMBOS)),
    **listed(
        "fetch_perps_fees fetch_perps_instruments fetch_perps_tickers open_perps_session",
        call,
        not_offered(PERPS),
    ),
    **listed(
        "fetch_perps_ticker fetch_perps_book list_perps_trades",
        lambda name: call(name, instrument_id=1),
        not_offered(PERPS),
    ),
    "list_perps_candles": (
        call("list_perps_candles", instrument_id=1, interval="1m"), not_offered(PERPS),
    ),
    "list_perps_funding_history": (
        call("list_perps_funding_history", instrument_id=1), not_offered(PERPS),
    ),
    **listed(
        "fetch_perps_builder_status fetch_perps_registration fetch_perps_position_snapshots",
        lambda name: call(name, address=wallet),
        not_offered(PERPS),
    ),
    "revoke_perps_credentials": (call("revoke_perps_credentials", proxy=wallet), not_offered(PERPS)),
    "deposit_to_perps": (call("deposit_to_perps", amount=1), not_offered(PERPS)),
    "withdraw_from_perps": (call("withdraw_from_perps", amount=1), not_offered(PERPS)),
}

OWN = {
    "create": (create, ANSWERED),
    "close": (close, LOCAL),
    **listed("environment wallet signer wallet_type credentials", attribute, LOCAL),
    "subscribe": (no_call, STREAM),
    "open_rfq_session": (call("open_rfq_session"), not_offered(COMBOS)),
}

METHODS = {**OWN, **TRADING, **CATALOG, **DATA, **REFUSED}
