"""A sandbox on chain 137, which ccxt fixes, and a stream without the text PONG that ccxt reads meanwhile."""

import asyncio
import threading

import pytest

import venue
from sandbox import Sandbox
from silence import Flow, Silence


@pytest.fixture(scope="session")
def sandbox():
    with Sandbox("--set", "signing.chain=137") as running:
        yield running


@pytest.fixture
def wallet(sandbox):
    return sandbox.wallet()


@pytest.fixture(scope="session", autouse=True)
def silent(sandbox):
    """Waits for the end of a stream without PONG; returns its error and all connections. Starts with the first test."""
    book, silence, ended = sandbox.market(), Silence(sandbox.trading.replace("http", "ws")), []
    flow = Flow(sandbox, book, sandbox.wallet())

    async def read():
        async with venue.client(sandbox, sandbox.wallet()) as ccxt:
            ccxt.urls["api"]["ws"] = f"{silence.url}/ws/market"
            try:
                while True:
                    await ccxt.watch_order_book(book.yes)
            except Exception as error:
                ended.append(error)
            await ccxt.watch_order_book(book.yes)

    reading = threading.Thread(target=lambda: asyncio.run(asyncio.wait_for(read(), 55)), daemon=True)
    reading.start()

    def end():
        reading.join()
        return ended[0], silence.connections

    yield end
    flow.close()
    silence.close()
