"""Runs the Python of docs/api: the signer with its test vectors, and the pages that continue it.

The blocks of Python of a page are executed in order, in one namespace. In authentication.md a block
of text that follows is the exact output. The other pages need a running exchange of the demo:
EXCHANGE_TRADING_URL.
"""

import contextlib
import io
import os
import re
import sys
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "docs/api"
SIGNER, CONTINUED = "authentication.md", ("orders.md", "positions.md", "overview.md")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
URL = "http://127.0.0.1:8080"


def run(page, names):
    """Executes a page. Returns what its Python printed, and the text that says what it prints."""
    printed, says = io.StringIO(), ""
    for language, text in BLOCK.findall((PAGES / page).read_text()):
        if language == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(text.replace(URL, os.environ.get("EXCHANGE_TRADING_URL", URL)), page, "exec"), names)
        elif language == "text":
            says += text
    return printed.getvalue(), says


def main():
    names = {}
    printed, says = run(SIGNER, names)
    if not printed or printed != says:
        print(f"{SIGNER} prints\n{printed}and says\n{says}", file=sys.stderr)
        return 1
    print(f"{SIGNER}: {len(printed.splitlines())} vectors")
    for page in CONTINUED if "EXCHANGE_TRADING_URL" in os.environ else ():
        printed, _ = run(page, names)
        print(f"{page}: {len(printed.splitlines())} lines of output")
    return 0


if __name__ == "__main__":
    sys.exit(main())
