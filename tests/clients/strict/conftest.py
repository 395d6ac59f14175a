"""One exchange for all tests."""

import pytest
import venue


@pytest.fixture(scope="session")
def site():
    """The clients, and the markets by slug."""
    return venue.set_up()
