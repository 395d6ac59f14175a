"""Counts the instructions of a request in a gateway, from its admission to its answer, under callgrind.

    cargo build --profile counted --bin foretell
    tests/schema/environment target/schema-venv
    target/schema-venv/bin/python bench/steps/gateway.py target/counted/foretell [another program]

Counts do not depend on the load of the machine. With two programs, that of the second is compared with the first.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUESTS = 400
# Polls the future of a request, from its admission to its answer; never inlined.
COUNTED = "*CatchPanic*poll*"
LIMITS = ("trading", "book", "order_burst", "order_sustained", "owner_order_burst", "owner_order_sustained")
ANY_PORT = [part for name in ("trading", "data", "catalog", "operator") for part in (f"--{name}-listen", "127.0.0.1:0")]


class Started:
    """A process that has said that it is ready."""

    def __init__(self, command, work, ready):
        self.process = subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        lines = (json.loads(line) for line in self.process.stdout)
        self.said = next(line for line in lines if line.get("ready") == ready)

    def __enter__(self):
        return self.said

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def count(program, work, send):
    """Instructions of a request that `send` sends to a gateway of its own."""
    out = Path(work) / "callgrind"
    tool = ["valgrind", "--tool=callgrind", "--quiet", f"--toggle-collect={COUNTED}", f"--callgrind-out-file={out}"]
    gateway = [program, "--json", "--data", "data", "gateway", "--surfaces", "trading", "--trading-listen", "127.0.0.1:0"]
    with Started(tool + gateway, work, "gateway") as said:
        for number in range(REQUESTS):
            answer = send(number, f"http://{said['trading']}")
            assert answer.status_code == 200, answer.text
    total = re.search(r"^(?:totals|summary): (\d+)", out.read_text(), re.MULTILINE)
    return int(total[1]) // REQUESTS


def counts(program):
    """Instructions by kind of request."""
    program = str(Path(program).resolve())
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "foretell.toml").write_text("[limits]\n" + "".join(f"{name} = 1000000\n" for name in LIMITS))
        exchange = [program, "--json", "--data", "data", "up", "--demo", "--no-bots", *ANY_PORT]
        with Started(exchange, work, "exchange") as said:
            os.environ.update({f"EXCHANGE_{name.upper()}_URL": said[name] for name in ("trading", "data", "catalog", "operator", "page")})
            return {kind: count(program, work, send) for kind, send in kinds(said["demo"]).items()}


def kinds(demo):
    """What is sent: a book, and an order that rests."""
    sys.path.insert(0, str(ROOT / "tests/schema"))
    import exchange
    import requests

    for name in exchange.URLS:
        exchange.URLS[name] = os.environ[f"EXCHANGE_{name.upper()}_URL"]
    session = requests.Session()
    wallet = exchange.Wallet(demo["privateKey"]).connect()
    orders = [wallet.order(demo["token"], "BUY", 50_000, 5_000_000) for _ in range(REQUESTS)]
    signed = exchange.L2(wallet)

    def order(number, url):
        body = json.dumps(orders[number], separators=(",", ":")).encode()
        return session.post(f"{url}/order", data=body, headers={"Content-Type": "application/json"}, auth=signed)

    return {"book": lambda _, url: session.get(f"{url}/book", params={"token_id": demo["token"]}), "order": order}


def main():
    measured = [counts(program) for program in sys.argv[1:]]
    for kind, first in measured[0].items():
        others = [f"{one[kind]} ({100 * one[kind] / first - 100:+.1f}%)" for one in measured[1:]]
        print(f"{kind}: {first} instructions", *others)


if __name__ == "__main__":
    sys.exit(main())
