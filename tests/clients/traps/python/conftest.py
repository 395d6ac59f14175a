"""A sandbox for all tests, and a client of a new wallet for each."""

import asyncio
import threading

import pytest
from polymarket._internal.streams.clob.market import ClobMarketStreamManager

import clob
from sandbox import Sandbox
from silence import Flow, Silence


@pytest.fixture(scope="session")
def sandbox():
    with Sandbox() as running:
        yield running


@pytest.fixture
def wallet(sandbox):
    return sandbox.wallet()


@pytest.fixture
def client(sandbox, wallet):
    return clob.connect(sandbox, wallet)


@pytest.fixture
def hints():
    """The hints of the test's answers."""
    clob.HINTS.clear()
    return clob.HINTS


@pytest.fixture(scope="session", autouse=True)
def silent(sandbox):
    """Waits for the end of a stream without PONG and returns its connection. It starts with the first test."""
    book, silence = sandbox.market(), Silence(sandbox.trading.replace("http", "ws"))
    flow = Flow(sandbox, book, sandbox.wallet())

    async def read():
        async with ClobMarketStreamManager(url=f"{silence.url}/ws/market") as manager:
            await manager.subscribe(token_ids=[book.yes])
            while len(silence.connections) < 2:
                await asyncio.sleep(0.2)

    reading = threading.Thread(target=lambda: asyncio.run(asyncio.wait_for(read(), 55)), daemon=True)
    reading.start()

    def end():
        reading.join()
        return silence.connections[0]

    yield end
    flow.close()
    silence.close()
