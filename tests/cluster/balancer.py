"""haproxy with the sample of ops/packaging, in front of the hosts."""

import re
import subprocess
import urllib.request
from pathlib import Path

import processes
from hosts import TRADING

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "ops/packaging/haproxy.cfg"


def missing():
    """Why there is no haproxy to use: none here, or one too old."""
    command = [ROOT / "tests/new_enough", "haproxy"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


class Balancer:
    """A running haproxy. Only the listening line of the sample is another: without TLS."""

    def __init__(self, address, directory):
        self.url = f"http://{address}:{TRADING}"
        text, changed = re.subn(r"bind :443 .*", f"bind :{TRADING}", SAMPLE.read_text())
        assert changed == 1, f"{SAMPLE}: no line to listen"
        configuration = directory / "haproxy.cfg"
        configuration.write_text(text)
        self.log = directory / "haproxy.log"
        self.process = processes.start("balancer", ["haproxy", "-db", "-f", configuration], self.log)
        processes.wait_for("answer through haproxy", self.answers)

    def answers(self):
        """Whether a host answers through it."""
        if self.process.poll() is not None:
            raise AssertionError(f"haproxy ended: {self.log.read_text()[-1_000:]}")
        try:
            with urllib.request.urlopen(f"{self.url}/time", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop(self):
        processes.kill(self.process)
