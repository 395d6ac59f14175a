"""A sandbox for all tests, and a client of a new wallet for each."""

import pytest

import clob
from sandbox import Sandbox


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
