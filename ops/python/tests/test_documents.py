"""The examples of the documents, run as they are printed."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "docs/start/python.md", ROOT / "ops/python/README.md"]
BLOCK = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run_as_printed(pytester: pytest.Pytester, page: Path) -> None:
    pytest.importorskip("py_clob_client_v2")
    pytest.importorskip("time_machine")
    text = page.read_text()
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```python"), "every block begins with the name of its file"
    for name, code in blocks:
        (pytester.path / name).write_text(code)
    tests = sum(code.count("def test_") for _, code in blocks)
    pytester.runpytest_subprocess("--strict-markers").assert_outcomes(passed=tests)


def test_the_guide_shows_the_report_of_a_failure(pytester: pytest.Pytester) -> None:
    shown = re.search(r"^-+ foretell: .*?```", PAGES[0].read_text(), re.DOTALL | re.MULTILINE)
    assert shown is not None
    pytester.makepyfile(
        """
        def test_fails(foretell_exchange):
            rain = foretell_exchange.market("Will it rain?")
            foretell_exchange.wallet(usdc=100).place(rain.yes, "BUY", price="0.4", size=10)
            assert False
        """
    )
    output = pytester.runpytest_subprocess().stdout.str()
    title, _, *lines = shown[0].splitlines()[:7]
    assert title.strip("- ") in output
    for line in lines:
        pattern = re.sub(r"0x[0-9a-f]+…", "0x[0-9a-fA-F]+", re.escape(line))
        assert re.search(pattern, output), line
