"""Orders that ccxt signs, and what it says of them."""

import ccxt as errors
import pytest

import venue
from sandbox import Sandbox


@pytest.mark.parametrize(
    ("tick", "price", "signed"), [("0.005", 0.575, 0.58), ("0.0025", 0.5725, 0.57), ("0.0025", 0.575, 0.58)]
)
def test_at_ticks_it_does_not_know_it_signs_another_price(sandbox, wallet, tick, price, signed):
    book = sandbox.market(tick_size=tick)

    async def use(ccxt):
        placed = await ccxt.create_order(book.yes, "limit", "buy", 10, price)
        return placed, await ccxt.fetch_order(placed["id"])

    placed, resting = venue.at(sandbox, wallet, use)
    assert placed["price"] == price, "says the price of the caller"
    assert resting["price"] == signed
    assert sandbox.explain(placed["id"])["met"]["price"] == str(signed)


def test_a_filled_order_is_closed_with_nothing_filled(sandbox, wallet):
    book = sandbox.market()
    sandbox.asks(book, ("0.5", "10"))

    async def use(ccxt):
        placed = await ccxt.create_order(book.yes, "limit", "buy", 10, 0.5)
        return placed, await ccxt.fetch_order(placed["id"])

    placed, later = venue.at(sandbox, wallet, use)
    assert (placed["status"], placed["filled"], placed["remaining"]) == ("closed", 0, 10)
    assert placed["info"]["takingAmount"] == "10"
    assert (later["status"], later["filled"], later["remaining"]) == ("closed", 10, 0)


def test_a_batch_raises_nothing_for_a_rejected_order(sandbox, wallet):
    book = sandbox.market()
    order = {"outcome": book.yes, "type": "limit", "side": "buy", "amount": 10, "price": 0.5}
    killed = {**order, "params": {"orderType": "FAK"}}
    dear = {**order, "amount": 100_000}

    async def use(ccxt):
        await ccxt.load_markets()
        return await ccxt.create_orders([killed, dear])

    [killed, dear] = venue.at(sandbox, wallet, use)
    assert killed["status"] is None and dear["status"] is None
    assert killed["info"]["code"] == "fak_no_match"
    assert dear["info"]["code"] == "insufficient_balance", "no exception"


def test_a_market_buy_of_shares_spends_their_value_at_a_price_read_before(sandbox, wallet):
    book = sandbox.market()

    async def use(ccxt):
        await ccxt.load_outcome(book.yes)
        sandbox.asks(book, ("0.33", "100"))
        return await ccxt.create_order(book.yes, "market", "buy", 10)

    bought = venue.at(sandbox, wallet, use)
    assert bought["price"] == 0.5, "the price of the catalog when it was loaded"
    assert bought["info"]["takingAmount"] == "15.15", "not 10 shares"


def test_a_market_buy_of_shares_is_too_fine(sandbox, wallet):
    book = sandbox.market()
    sandbox.asks(book, ("0.33", "100"))

    async def use(ccxt):
        with pytest.raises(errors.InvalidOrder, match="market_amounts_too_fine"):
            await ccxt.create_order(book.yes, "market", "buy", 7.77, 0.33)
        return await ccxt.create_order(book.yes, "market", "buy", 7.77, 0.33, {"cost": 2.56})

    assert venue.at(sandbox, wallet, use)["status"] == "closed"


def test_orders_name_a_builder_of_ccxt(sandbox, wallet):
    book = sandbox.market()

    async def use(ccxt):
        await ccxt.load_api_credentials()
        await ccxt.load_outcome(book.yes)
        built = ccxt.build_clob_order_body(book.yes, "limit", "buy", 10, 0.5)
        return built["body"]["order"]["builder"]

    stock = venue.polymarket().options["builder"]
    assert venue.at(sandbox, wallet, use, builder=stock) == "0x" + stock.removeprefix("0x").rjust(64, "0")
    assert int(venue.at(sandbox, wallet, use), 16) == 0


def test_an_api_key_is_signed_for_chain_137_only(wallet):
    with Sandbox() as other:

        async def use(ccxt):
            with pytest.raises(errors.AuthenticationError, match="Invalid L1 Request headers"):
                await ccxt.load_api_credentials()
            return ccxt.last_response_headers["x-foretell-hint"]

        hint = venue.at(other, wallet, use, chainId=80002)
    assert hint == "signed for chain 137; this exchange has 80002"
