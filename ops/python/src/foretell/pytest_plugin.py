"""Fixtures for pytest: an exchange for a test, and one for all tests.

pytest imports this module at every start, so it imports nothing else; the package follows with the first fixture.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from foretell.exchange import Exchange

MARKER = (
    "foretell(compatibility=, chain=, clock=, settings=): how the exchange of this test starts; "
    "the arguments are those of foretell.Exchange"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("foretell")
    group.addoption(
        "--foretell-keep",
        choices=["failed"],
        help="keep the data directory of each exchange whose test fails, and print its path",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Sets NO_PROXY before the first conftest: HTTP clients read the proxies when they are imported."""
    if any(name.lower() in ("http_proxy", "https_proxy", "all_proxy") for name in os.environ):
        from foretell.process import bypass_proxies

        bypass_proxies()


@pytest.fixture
def foretell_exchange(request: pytest.FixtureRequest) -> Iterator[Exchange]:
    """A fresh, empty exchange of this test. The marker `foretell` configures it."""
    from foretell.exchange import Exchange

    with Exchange(**marked(request.node)) as exchange:
        yield exchange


@pytest.fixture(scope="session")
def foretell_server() -> Iterator[Exchange]:
    """One exchange for all tests of the session, or of an xdist worker. Tests make their own markets and wallets."""
    from foretell.exchange import Exchange

    with Exchange() as exchange:
        yield exchange


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds a section to the report of a failing test for each exchange among its fixtures."""
    report = yield
    if report.failed and report.when != "teardown":
        for name, exchange in exchanges(item):
            report.sections.append((f"foretell: {name}", section(exchange, item.config)))
    return report


def marked(node: pytest.Item) -> dict[str, Any]:
    """Arguments of the closest marker. Positional arguments are an error."""
    marker = node.get_closest_marker("foretell")
    if marker is None:
        return {}
    if marker.args:
        raise pytest.UsageError(f"{node.nodeid}: the marker foretell takes keyword arguments only")
    return dict(marker.kwargs)


def exchanges(item: pytest.Item) -> Iterator[tuple[str, Exchange]]:
    """The running exchanges among a test's fixtures, also those that the test suite starts in fixtures of its own."""
    module = sys.modules.get("foretell.exchange")
    if module is None:
        return
    for name, value in getattr(item, "funcargs", {}).items():
        if isinstance(value, module.Exchange) and value.is_running:
            yield name, value


def section(exchange: Exchange, config: pytest.Config) -> str:
    from foretell import report

    text = report.text(exchange)
    if config.getoption("--foretell-keep") == "failed":
        text += f"\nkept: {exchange.keep()}"
    return text
