"""A phase of a run: honest clients for some time, with or without an attacker."""

import json
import subprocess
import sys
import time
from pathlib import Path

import report
from exchange import Sampler

HERE = Path(__file__).parent
# Of the honest clients alone before the baseline, so that nothing is cold.
WARM_UP_SECONDS = 5
# For the last answers of honest clients, and for the attacker to end.
GRACE_SECONDS = 60


def last_sequence(exchange):
    """The durable sequence; after an attack the operator may have to ask more than once."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        try:
            return exchange.operate("GET", "/status", timeout=5)["engine"]["durableSequence"]
        except (OSError, RuntimeError, TypeError):
            if time.monotonic() > deadline:
                return None
            time.sleep(0.5)


def start(script, *arguments):
    return subprocess.Popen([sys.executable, HERE / script, *map(str, arguments)])


def finish(process, seconds):
    """Waits for a process that this run started; one that hangs is killed."""
    try:
        return process.wait(max(1.0, seconds))
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def phase(exchange, directory, name, seconds, attacks=()):
    """Honest clients for some seconds, with or without an attacker (script and arguments); its figures."""
    site, out, found = directory / "site.json", directory / f"{name}.json", directory / "attacker.json"
    first = last_sequence(exchange)
    begun = time.monotonic()
    clients = [start("honest.py", site, seconds, out)]
    if attacks:
        script, *arguments = attacks
        clients.append(start(script, site, seconds, found, *arguments))
    sampler = Sampler(exchange, end_attack=clients[-1].terminate)
    sampler.start()
    try:
        statuses = [finish(client, begun + seconds + GRACE_SECONDS - time.monotonic()) for client in clients]
    finally:
        for client in clients:
            client.kill()
        samples = sampler.stop()
    if any(statuses):
        raise SystemExit(f"{name}: honest clients and attacker ended with {statuses}")
    figures = {
        "name": name,
        "seconds": seconds,
        "ended_early": sampler.ended_attack,
        "first": first,
        "last": last_sequence(exchange),
        "latency": report.latencies(json.loads(out.read_text())),
        "resources": report.resources(samples),
    }
    return figures, json.loads(found.read_text()) if attacks else None
