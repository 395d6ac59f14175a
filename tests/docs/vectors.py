"""Runs the Python of docs/api/authentication.md and compares its output with the page.

Each block of Python is executed in order, in one namespace. A block of text that follows a block of
Python is the output of that block.
"""

import contextlib
import io
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/api/authentication.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(page):
    """Yields the output of each block and the expected one, for the blocks with an output."""
    names, printed = {}, None
    for language, text in BLOCK.findall(page):
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, str(PAGE), "exec"), names)  # noqa: S102
            printed = output.getvalue()
        elif language == "text":
            yield printed, text
            printed = None
    if printed:
        yield printed, ""


def main():
    compared = list(run(PAGE.read_text()))
    assert compared, f"{PAGE} has no output to compare"
    for printed, expected in compared:
        if printed != expected:
            print(f"{PAGE} prints\n{printed}and says\n{expected}", file=sys.stderr)
            return 1
    lines = sum(len(expected.splitlines()) for _, expected in compared)
    print(f"{PAGE.name}: {lines} lines of output as printed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
