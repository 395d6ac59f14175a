"""The package and the program have one version."""

import re
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_version_is_that_of_the_program() -> None:
    manifest = (ROOT / "Cargo.toml").read_text()
    found = re.search(r'^version = "(.*)"$', manifest, re.MULTILINE)
    assert found is not None
    assert version("foretell") == found[1]
