"""The nemesis run; `run` says how to start it.

A cluster trades under a load. A round is one to three strikes of a seeded nemesis (nemesis.py, exchange_nemesis.py), each
healed after a while; then trading must go on by itself, and checks.py compares the ledger of all
acknowledgements and all hosts with each other. Every tenth round begins with a new cluster, whose seed is the next
number, so that any round can be reached again: the acts repeat, their timing does nearly.
"""

import argparse
import asyncio
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).parent
# Wallets that sign, the HTTP client, markets: those of the attack run.
sys.path.append(str(HERE.parent / "attacks"))

import exchange_run  # noqa: E402
import servers_only  # noqa: E402
from cluster import network_of_machines  # noqa: E402

ROUNDS_OF_A_CLUSTER = 10
SCENARIOS = ("rounds", "strangers", "upgrade", "alone", "replace", "rebuild", "client")


def arguments():
    parser = argparse.ArgumentParser(prog="tests/cluster/run", description=__doc__)
    parser.add_argument("binary", type=Path, nargs="?", help="default: target/debug/foretell")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, help="default: from the clock")
    parser.add_argument("--only", default=",".join(SCENARIOS), help="scenarios, such as rounds or upgrade,client")
    parser.add_argument("--failovers", type=int, default=10, help="of the stock client's scenario")
    parser.add_argument("--acts", help="acts to choose from, such as kill_leader,fill_disk; default: all")
    parser.add_argument("--upgrade-to", type=Path, help="binary of the upgrade's scenario, default: the same")
    parser.add_argument("--servers-only", action="store_true", help="the log's servers alone, without an exchange")
    parser.add_argument("--sync-interval", default="always", help="other than the samples': a sabotage")
    for name in ("--work", "--server", "--target"):
        parser.add_argument(name, type=Path, required=True, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    chosen.seed = time.time_ns() % 1_000_000 if chosen.seed is None else chosen.seed
    chosen.only = chosen.only.split(",")
    if unknown := set(chosen.only) - set(SCENARIOS):
        parser.error(f"no such scenario: {', '.join(unknown)}")
    if not chosen.servers_only:
        chosen.binary = (chosen.binary or chosen.target / "debug/foretell").resolve()
        if not chosen.binary.exists():
            parser.error(f"no foretell binary at {chosen.binary}: build it with cargo build, or name another one")
        chosen.upgrade_to = (chosen.upgrade_to or chosen.binary).resolve()
    return chosen


def clusters(chosen):
    """Seed, rounds and scenarios of each cluster; the last one has all scenarios but the rounds."""
    left = chosen.rounds if "rounds" in chosen.only else 0
    seed = chosen.seed
    while True:
        rounds = min(left, ROUNDS_OF_A_CLUSTER)
        left -= rounds
        yield seed, rounds, [name for name in chosen.only if name != "rounds"] if not left else []
        if not left:
            return
        seed += 1


def run(chosen, network):
    """All clusters one after the other; on failure it says what repeats it."""
    begun = time.monotonic()
    for seed, rounds, scenarios in clusters(chosen):
        directory = chosen.work / f"cluster-{seed}"
        print(f"cluster of seed {seed}", flush=True)
        try:
            if chosen.servers_only:
                asyncio.run(servers_only.rounds(chosen, network, directory, seed, rounds))
            else:
                asyncio.run(exchange_run.on_cluster(chosen, network, directory, seed, rounds, scenarios))
        except Exception as failure:
            traceback.print_exc()
            mode = "--servers-only" if chosen.servers_only else f"--only {','.join(['rounds'] * bool(rounds) + scenarios)}"
            print(f"failed: {failure}", file=sys.stderr)
            print(f"logs and data: {keep(directory, chosen.target, seed)}", file=sys.stderr)
            print(f"repeat: tests/cluster/run {mode} --seed {seed} --rounds {rounds}", file=sys.stderr)
            return 1
    print(f"everything holds, {time.monotonic() - begun:.0f} s")
    return 0


def keep(directory, target, seed):
    """Keeps logs and disks of a failure for whoever looks into it."""
    kept = target / "cluster" / f"failed-{seed}"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(directory, kept, ignore=shutil.ignore_patterns("*.ext4", "*.sock", "lost+found", "filler"))
    return kept


def main():
    chosen = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return run(chosen, network_of_machines(chosen.work))


if __name__ == "__main__":
    sys.exit(main())
