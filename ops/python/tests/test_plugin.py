"""The pytest plugin, in test suites of its users."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FAILING = """
import pytest

def test_fails(foretell_exchange):
    rain = foretell_exchange.market("Will it rain?")
    me = foretell_exchange.wallet(usdc=100)
    me.place(rain.yes, "BUY", price="0.4", size=10)
    with pytest.raises(Exception):
        foretell_exchange.wallet().place(rain.yes, "BUY", price="0.4", size=10)
    assert foretell_exchange.fills(me)
"""


def test_each_test_has_a_fresh_exchange(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", [1, 2])
        def test_empty(foretell_exchange, number):
            assert foretell_exchange.market("Will it rain?").slug == "will-it-rain"
        """
    )
    pytester.runpytest_subprocess("--strict-markers").assert_outcomes(passed=2)


def test_the_server_is_shared(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        seen = []

        @pytest.mark.parametrize("number", [1, 2])
        def test_shared(foretell_server, number):
            seen.append(foretell_server.clob_url)
            assert len(set(seen)) == 1
            assert foretell_server.market("Will it rain?").slug == ("will-it-rain" if number == 1 else "will-it-rain-2")
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_the_marker_configures_the_exchange(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.foretell(chain=137, clock="frozen", compatibility="interface")
        def test_marked(foretell_exchange):
            assert foretell_exchange.chain == 137
            assert foretell_exchange.clock.now() == foretell_exchange.clock.now()
        """
    )
    pytester.runpytest_subprocess("--strict-markers").assert_outcomes(passed=1)


def test_a_wrong_marker_is_named(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.foretell("interface")
        def test_marked(foretell_exchange):
            pass
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the marker foretell takes keyword arguments only*"])


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_a_failure_shows_orders_and_log(pytester: pytest.Pytester, arguments: "tuple[str, ...]") -> None:
    pytester.makepyfile(FAILING)
    result = pytester.runpytest_subprocess(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*- foretell: foretell_exchange -*",
            "engine time 20*",
            "wallet 1 (eoa 0x*): 1 orders did not fill",
            "  LIVE BUY Yes 10 at 0.4 GTC, filled 0, 0x*",
            "    The order rests in the book. It has filled nothing.*",
            "    in the book now: bid 10 at 0.4, ask none",
            "wallet 2 (eoa 0x*): no order is live",
            "orders that were rejected or killed, newest first:",
            "  The order was rejected: not enough balance*",
            "last lines of the log:",
        ]
    )
    assert "kept:" not in result.stdout.str()


def test_a_failure_keeps_the_directory(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FAILING + "\ndef test_passes(foretell_exchange):\n    pass\n")
    result = pytester.runpytest_subprocess("--foretell-keep=failed")
    result.assert_outcomes(failed=1, passed=1)
    kept = re.findall(r"^kept: (.*)$", result.stdout.str(), re.MULTILINE)
    assert len(kept) == 1
    shutil.rmtree(Path(kept[0]))


def test_fixtures_of_others_are_reported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import foretell, pytest

        @pytest.fixture
        def ready_market():
            with foretell.Exchange() as exchange:
                yield exchange

        def test_fails(ready_market):
            assert False
        """
    )
    pytester.runpytest_subprocess().stdout.fnmatch_lines(["*- foretell: ready_market -*"])


def test_workers_have_exchanges_of_their_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_fresh(foretell_exchange, number):
            assert foretell_exchange.market("Will it rain?").slug == "will-it-rain"

        @pytest.mark.parametrize("number", range(4))
        def test_shared(foretell_server, number):
            foretell_server.market("Will it rain?")
        """
    )
    pytester.runpytest_subprocess("-n", "4").assert_outcomes(passed=8)


def test_clients_bypass_a_proxy(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("py_clob_client_v2")
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    pytester.makeconftest("import py_clob_client_v2")
    pytester.makepyfile(
        """
        def test_answers(foretell_exchange):
            assert foretell_exchange.wallet().clob_client().get_ok() == "OK"
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_suite_without_exchanges_imports_nothing() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import foretell.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["foretell", "foretell.pytest_plugin"]
