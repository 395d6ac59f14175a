"""The attack run; `run` says how to start it."""

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import full_disk
import preparation
import report
from exchange import Exchange, Sampler

HERE = Path(__file__).parent
ATTACKS = ("H1", "H2", "H5", "M1", "M4")
# Of the honest clients alone before the baseline, so that nothing is cold.
WARM_UP_SECONDS = 5
# For the last answers of honest clients, and for the attacker to end.
GRACE_SECONDS = 60


def arguments():
    parser = argparse.ArgumentParser(prog="tests/attacks/run", description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--seconds", type=float, default=600, help="length of the attack")
    parser.add_argument("--baseline", type=float, help="length of the phase without it, default: the same")
    parser.add_argument("--only", default=",".join(ATTACKS), help="attacks, such as H2 or H1,M4")
    parser.add_argument("--lenient", action="store_true", help="judge nothing that depends on speed")
    parser.add_argument("--memory-mib", type=int, default=256, help="growth of memory allowed, all processes")
    parser.add_argument("--disk-kib", type=int, default=128, help="journal growth allowed a second, by the attack")
    parser.add_argument("--full-disk", action="store_true", help="the run on a disk that is nearly full, instead")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    chosen = parser.parse_args()
    chosen.only = chosen.only.split(",")
    if unknown := set(chosen.only) - set(ATTACKS):
        parser.error(f"no such attack: {', '.join(unknown)}")
    chosen.baseline = chosen.baseline or chosen.seconds
    chosen.binary = chosen.binary.resolve()
    return chosen


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
    """Honest clients for some seconds, with or without the attacker; its figures."""
    site, out, found = directory / "site.json", directory / f"{name}.json", directory / "attacker.json"
    first = last_sequence(exchange)
    begun = time.monotonic()
    clients = [start("honest.py", site, seconds, out)]
    if attacks:
        clients.append(start("attacker.py", site, seconds, found, *attacks))
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


def count_journal(figures, exchange):
    """Bytes and commands of each phase's batches."""
    batches = list(exchange.batches())
    for part in (figures["baseline"], figures["attack"]):
        first, last = part["first"] or 0, part["last"] or 1 << 63
        part["journal_bytes"] = sum(size for sequence, size in batches if first < sequence <= last)
        part["commands"] = min(last, batches[-1][0]) - first


def attack_run(chosen, directory):
    """The whole run; its figures."""
    exchange = Exchange(chosen.binary, directory)
    try:
        print("preparing: markets, wallets, keys, history", flush=True)
        preparation.prepare(exchange, directory / "site.json", history="M4" in chosen.only)
        phase(exchange, directory, "warm-up", WARM_UP_SECONDS)
        print(f"baseline: {chosen.baseline:.0f} s without the attack", flush=True)
        baseline, _ = phase(exchange, directory, "baseline", chosen.baseline)
        print(f"attack: {chosen.seconds:.0f} s of {'+'.join(chosen.only)}", flush=True)
        attack, attacker = phase(exchange, directory, "attack", chosen.seconds, chosen.only)
        starts = exchange.processes()[1]
    finally:
        exit_code = exchange.stop()
    print("auditing", flush=True)
    code, audit = exchange.audit()
    figures = {
        "baseline": baseline,
        "attack": attack,
        "attacker": attacker,
        "starts": starts,
        "exit_code": exit_code,
        "audit": {"exit_code": code, "report": audit},
        "log_tail": exchange.log.read_text()[-2_000:],
    }
    count_journal(figures, exchange)
    bounds = {
        "latency": not chosen.lenient,
        "memory_mib": chosen.memory_mib,
        "disk_kib_per_second": chosen.disk_kib,
    }
    figures["failures"] = report.judge(figures, bounds)
    figures["growth"] = report.growth(figures)
    report.show(figures)
    return figures


def main():
    chosen = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything started is stopped
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    print(f"open files: {soft} soft, {hard} hard; the exchange starts with a soft limit of 1024")
    with tempfile.TemporaryDirectory(prefix="foretell-attacks-") as directory:
        run = full_disk.run if chosen.full_disk else attack_run
        figures = run(chosen, Path(directory))
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1))
    for failure in figures["failures"]:
        print(f"failed: {failure}", file=sys.stderr)
    if not figures["failures"]:
        print("everything holds")
    return 1 if figures["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
