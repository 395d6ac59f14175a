"""Programs of clients behind the balancer: the stock client, and examples/stream_book.py, which proves a book."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from load import STOCK_MARKET
from processes import wait_for

HERE = Path(__file__).parent
STREAM_BOOK = HERE.parents[1] / "examples/stream_book.py"


class Programs:
    """Both programs, running."""

    def __init__(self, url, logs, seconds):
        self.logs = logs
        self.trading = self.start("stock_client", [HERE / "stock_client.py", *STOCK_MARKET["token_ids"]], url)
        watch = [STREAM_BOOK, "--market", STOCK_MARKET["slug"], "--seconds", seconds]
        self.book = self.start("stream_book", watch, url)

    def start(self, name, command, url):
        clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        with open(self.logs / f"{name}.out", "wb") as out, open(self.logs / f"{name}.log", "wb") as log:
            return subprocess.Popen(
                [sys.executable, *map(str, command)],
                env={**clean, "EXCHANGE_TRADING": url, "TRADING_URL": url},
                stdout=out,
                stderr=log,
            )

    def answers(self):
        """Number of answers that the stock client has."""
        if self.trading.poll() is not None:
            raise AssertionError(f"the stock client ended: {(self.logs / 'stock_client.log').read_text()[-2_000:]}")
        return (self.logs / "stock_client.out").read_bytes().count(b"\n")

    def goes_on(self, seconds):
        """Waits until the stock client has two turns more."""
        before = self.answers()
        wait_for("answers for the stock client", lambda: self.answers() >= before + 8, seconds)

    def end(self):
        """Waits for the end of the stream's time, ends the stock client; each checks what it saw."""
        for name, program in (("stream_book", self.book), ("stock_client", self.trading)):
            if program is self.trading:
                program.send_signal(signal.SIGTERM)
            if program.wait(600) != 0:
                text = (self.logs / f"{name}.out").read_text()[-1_000:] + (self.logs / f"{name}.log").read_text()[-2_000:]
                raise AssertionError(f"{name} ended with {program.returncode}: {text}")
            print(f"    {name}: {(self.logs / f'{name}.out').read_text().splitlines()[-1]}", flush=True)

    def kill(self):
        for program in (self.trading, self.book):
            program.kill()
            program.wait()
