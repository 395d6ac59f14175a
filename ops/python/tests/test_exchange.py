"""Markets, events, settings and the life of an exchange."""

import shutil
from datetime import timedelta
from decimal import Decimal
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

import foretell


def opens_stream(url: str) -> bool:
    """Whether a WebSocket can be opened."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=10)
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    connection.request("GET", parts.path, headers={**upgrade, "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="})
    status = connection.getresponse().status
    connection.close()
    return status == 101


def test_questions_may_repeat(foretell_exchange: foretell.Exchange) -> None:
    markets = [foretell_exchange.market(question) for question in ("Same?", "Same?", "Same? 2")]
    assert len({market.slug for market in markets}) == 3


def test_a_market_has_its_terms(foretell_exchange: foretell.Exchange) -> None:
    market = foretell_exchange.market(
        "Will it rain?",
        tick_size="0.001",
        min_size=1,
        fee="0.04",
        taker_delay=3,
        rebate="0.25",
        outcomes=("Wet", "Dry"),
    )
    assert (market.slug, market.tick_size, market.min_size) == ("will-it-rain", Decimal("0.001"), 1)
    assert (market.yes.outcome, market.no.outcome) == ("Wet", "Dry")
    assert market.yes.opposite_id == market.no.token_id
    record = foretell_exchange.operator("GET", f"/markets/{market.condition_id}")
    assert (record["taker_base_fee"], record["seconds_delay"], record["life"]["taker_delay_ms"]) == (400, 3, 3000)


def test_the_same_question_makes_another_market(foretell_exchange: foretell.Exchange) -> None:
    first, second = foretell_exchange.market("Will it rain?"), foretell_exchange.market("Will it rain?")
    assert (first.slug, second.slug) == ("will-it-rain", "will-it-rain-2")
    assert first.condition_id != second.condition_id


def test_an_event_has_open_questions(foretell_exchange: foretell.Exchange) -> None:
    event = foretell_exchange.event(["Will Ann win?", "Will Ben win?"], title="Who wins?", fee=foretell.Fee("0.04", 2))
    ann, ben = event.markets
    assert ann.event_id == ben.event_id == event.event_id
    foretell_exchange.set_book(ann.yes, bids=[("0.4", 10)])
    foretell_exchange.resolve(ann, "Yes")
    record = foretell_exchange.operator("GET", f"/markets/{ben.condition_id}")
    assert record["status"] == "resolved"


def test_a_market_opens_closes_pauses_and_resumes(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    market = ex.market("Will it rain?", opens_at=ex.clock.now() + timedelta(hours=1))

    def status() -> str:
        return str(ex.operator("GET", f"/markets/{market.condition_id}")["status"])

    assert status() == "registered"
    ex.clock.advance(hours=1)
    assert status() == "active"
    ex.pause(market)
    assert status() == "paused"
    ex.resume(market)
    ex.close(market)
    assert status() == "closed"


def test_every_surface_answers(foretell_exchange: foretell.Exchange) -> None:
    ex = foretell_exchange
    market = ex.market("Will it rain?")
    assert urlopen(f"{ex.clob_url}/book?token_id={market.yes.token_id}").status == 200
    assert urlopen(f"{ex.data_url}/trades").status == 200
    assert urlopen(f"{ex.gamma_url}/markets?slug={market.slug}").status == 200
    headers = {"Authorization": f"Bearer {ex.operator_token}"}
    assert urlopen(Request(f"{ex.operator_url}/status", headers=headers)).status == 200
    assert ex.ws_url == ex.clob_url.replace("http://", "ws://") + "/ws"
    assert opens_stream(ex.ws_url + "/market")
    assert ex.env()["CLOB_API_URL"] == ex.clob_url
    assert ex.env()["CHAIN_ID"] == "80002"


def test_a_rejection_has_code_status_and_text(foretell_exchange: foretell.Exchange) -> None:
    with pytest.raises(foretell.ExchangeError) as caught:
        foretell_exchange.market("Will it rain?", tick_size="0.3")
    assert caught.value.status == 400
    assert caught.value.code not in ("", "unknown")
    assert caught.value.message in str(caught.value)


def test_handles_are_stale_after_the_end() -> None:
    with foretell.Exchange() as ex:
        market, wallet, clock = ex.market("Will it rain?"), ex.wallet(), ex.clock
    for use in (
        wallet.fills,
        wallet.clob_client,
        wallet.env,
        clock.now,
        lambda: ex.book(market.yes),
        lambda: ex.clob_url,
    ):
        with pytest.raises(foretell.StaleHandle):
            use()


def test_handles_belong_to_one_exchange(foretell_exchange: foretell.Exchange) -> None:
    with foretell.Exchange() as other:
        market, wallet = other.market("Will it rain?"), other.wallet()
        for use in (
            lambda: foretell_exchange.book(market.yes),
            lambda: foretell_exchange.resolve(market, "Yes"),
            lambda: foretell_exchange.fills(wallet),
            lambda: foretell_exchange.wallet().place(market.yes, "BUY", price="0.5", size=5),
        ):
            with pytest.raises(foretell.StaleHandle, match="another exchange"):
                use()


def test_a_reset_keeps_the_addresses_and_nothing_else(tmp_path: Path) -> None:
    with foretell.Exchange() as ex:
        urls, token, directory = (ex.clob_url, ex.operator_url), ex.operator_token, ex._running().ready.directory
        market, wallet = ex.market("Will it rain?"), ex.wallet(usdc=100)
        wallet.place(market.yes, "BUY", price="0.4", size=10)
        ex.clock.advance(days=3)
        ex.reset()
        assert ((ex.clob_url, ex.operator_url), ex.operator_token) == (urls, token)
        assert not directory.exists()
        assert ex.wallets == ()
        now, wall = ex._running().now()
        assert abs(now - wall) < timedelta(seconds=1)
        with pytest.raises(foretell.StaleHandle):
            ex.book(market.yes)
        with pytest.raises(foretell.StaleHandle):
            wallet.orders()
        again = ex.market("Will it rain?")
        assert again.slug == market.slug
        assert ex.book(again.yes).bids == ()
    with foretell.Exchange(data=tmp_path) as ex, pytest.raises(RuntimeError, match="can be reset"):
        ex.reset()


def test_a_reset_before_a_kept_directory_keeps_it() -> None:
    with foretell.Exchange() as ex:
        kept = ex.keep()
        ex.reset()
        assert (kept / "journal").is_dir()
        assert (kept / "sandbox.log").is_file()
        shutil.rmtree(kept)
        after = ex._running().ready.directory
    assert not after.exists()


def test_an_exchange_starts_again_empty() -> None:
    ex = foretell.Exchange()
    with ex:
        ex.market("Will it rain?")
        with pytest.raises(RuntimeError, match="running already"):
            ex.start()
    with ex:
        assert ex.market("Will it rain?").slug == "will-it-rain"
        assert ex.wallets == ()


@pytest.mark.parametrize(("compatibility", "best"), [(None, "0.55"), ("polymarket", "0.55"), ("interface", "0.57")])
def test_compatibility_is_the_form_of_answers(compatibility: Any, best: str) -> None:
    with foretell.Exchange(compatibility=compatibility) as ex:
        rain = ex.market("Will it rain?")
        ex.set_book(rain.yes, bids=[("0.55", 20)], asks=[("0.57", 20)])
        answer = urlopen(f"{ex.clob_url}/price?token_id={rain.yes.token_id}&side=BUY").read().decode()
        assert f'"price":"{best}"' in answer


def test_settings_reach_the_exchange() -> None:
    with foretell.Exchange(settings={"limits.enabled": True, "limits.health": "3"}) as ex:
        statuses = []
        for _ in range(5):
            try:
                statuses.append(urlopen(f"{ex.clob_url}/ok").status)
            except OSError as error:
                statuses.append(getattr(error, "code", 0))
        assert 429 in statuses


def test_a_setting_that_is_unknown_is_named() -> None:
    with pytest.raises(foretell.ProcessError, match=r"no\.such\.setting"):
        foretell.Exchange(settings={"no.such.setting": 1}).start()
