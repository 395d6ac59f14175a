"""The nemesis run; `run` says how to start it."""

import argparse
import asyncio
import random
import signal
import shutil
import sys
import time
from pathlib import Path

import servers_only
from machines import Machines, network_of_machines
from nemesis import Nemesis


def arguments():
    parser = argparse.ArgumentParser(prog="tests/cluster/run", description=__doc__)
    parser.add_argument("binary", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, help="default: of the clock")
    parser.add_argument("--servers-only", action="store_true", help="the log's servers alone, without an exchange")
    parser.add_argument("--sync-interval", default="always", help="another one than the samples': a sabotage")
    for name in ("--work", "--server", "--target"):
        parser.add_argument(name, type=Path, required=True, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    chosen.seed = chosen.seed if chosen.seed is not None else time.time_ns() % 1_000_000
    return chosen


async def strikes(nemesis, chance):
    """One round's acts: one to three strikes of one or two acts, each healed after a while."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        for _ in range(chance.choice((1, 1, 2))):
            await asyncio.sleep(chance.uniform(0.2, 2))
            print(f"  {await asyncio.to_thread(nemesis.strike)}", flush=True)
        await asyncio.sleep(chance.uniform(0.5, 8))
        await asyncio.to_thread(nemesis.heal)


async def servers_rounds(chosen):
    chance = random.Random(chosen.seed)
    network = network_of_machines(chosen.work)
    machines = Machines(network, chosen.work / "machines", chosen.server, chosen.sync_interval)
    nemesis = Nemesis(machines, chance)
    for machine in machines.all:
        machine.start()
    publisher = servers_only.Publisher(machines.servers, machines.authority)
    await publisher.open()
    await publisher.make_stream()
    publishing = asyncio.create_task(publisher.publish())
    for number in range(1, chosen.rounds + 1):
        print(f"round {number}: {publisher.acknowledged} acknowledged", flush=True)
        await strikes(nemesis, chance)
        before, deadline = publisher.acknowledged, time.monotonic() + 60
        while publisher.acknowledged < before + 10:
            assert not publishing.done(), publishing.exception()
            assert time.monotonic() < deadline, "no message is acknowledged a minute after the last fault ended"
            await asyncio.sleep(0.1)
        publisher.ended = True
        await publishing
        await publisher.check()
        publisher.ended = False
        publishing = asyncio.create_task(publisher.publish())
    publisher.ended = True
    await publishing
    print(f"{publisher.acknowledged} acknowledged, none lost; longest pause {publisher.longest_pause:.1f} s")


def keep(chosen):
    """Logs and disks of a failure, for whoever looks into it."""
    kept = chosen.target / "cluster" / f"failed-{chosen.seed}"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(chosen.work / "machines", kept, ignore=shutil.ignore_patterns("*.ext4", "*.sock", "lost+found"))
    return kept


def main():
    chosen = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"seed {chosen.seed}", flush=True)
    try:
        asyncio.run(servers_rounds(chosen))
    except BaseException:
        print(f"failed; logs and data: {keep(chosen)}", file=sys.stderr)
        words = [word for word in sys.argv[1:] if word]
        print(f"repeat: tests/cluster/run … --seed {chosen.seed} --rounds {chosen.rounds}", file=sys.stderr)
        raise


if __name__ == "__main__":
    main()
