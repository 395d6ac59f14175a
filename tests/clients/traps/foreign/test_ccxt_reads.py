"""What ccxt reads of trades and balances."""

import asyncio

import venue


def test_a_trade_of_a_maker_has_the_terms_of_the_taker(sandbox, wallet):
    book = sandbox.market()

    async def use(ccxt):
        await ccxt.load_outcome(book.no)
        placed = await ccxt.create_order(book.yes, "limit", "buy", 10, 0.4)
        sandbox.place(sandbox.wallet(), book.no, "BUY", "0.6", "10")
        await asyncio.sleep(0.5)
        return placed, await ccxt.fetch_my_trades()

    placed, [trade] = venue.at(sandbox, wallet, use)
    assert (trade["side"], trade["price"], trade["outcomeId"]) == ("buy", 0.6, book.no)
    assert trade["takerOrMaker"] == "maker"
    assert trade["order"] != placed["id"]
    [own] = trade["info"]["maker_orders"]
    assert (own["order_id"], own["price"], own["asset_id"]) == (placed["id"], "0.4", book.yes)


def test_the_free_balance_includes_what_orders_reserve(sandbox, wallet):
    book = sandbox.market()

    async def use(ccxt):
        await ccxt.create_order(book.yes, "limit", "buy", 100, 0.5)
        return await ccxt.fetch_balance()

    balance = venue.at(sandbox, wallet, use)
    assert (balance["USDC"]["free"], balance["USDC"]["used"]) == (1_000, 0)
    assert balance["info"]["available"] == "950000000"
