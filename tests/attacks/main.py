"""The attack run; `run` says how to start it."""

import argparse
import json
import resource
import signal
import sys
import tempfile
from pathlib import Path

import full_disk
import full_speed
import journal
import preparation
import report
from exchange import Exchange
from phases import WARM_UP_SECONDS, phase

ATTACKS = ("H1", "H2", "H5", "M1", "M4")


def arguments():
    parser = argparse.ArgumentParser(prog="tests/attacks/run", description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--seconds", type=float, help="length of an attack, default: 600, at full speed 60")
    parser.add_argument("--baseline", type=float, help="length of the phase without it, default: the same")
    parser.add_argument("--only", help="attacks, such as H2 or H1,M4, default: all")
    parser.add_argument("--lenient", action="store_true", help="judge nothing that depends on speed")
    parser.add_argument("--memory-mib", type=int, default=256, help="growth of memory allowed, all processes")
    parser.add_argument("--disk-kib", type=int, default=128, help="journal growth allowed a second, by the attack")
    parser.add_argument("--full-disk", action="store_true", help="the run on a disk that is nearly full, instead")
    parser.add_argument("--journal", action="store_true", help="what each write route costs the journal, instead")
    parser.add_argument("--full-speed", action="store_true", help="each attack of flood.py alone, instead")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    chosen = parser.parse_args()
    known = full_speed.NAMES if chosen.full_speed else ATTACKS
    chosen.only = chosen.only.split(",") if chosen.only else known
    chosen.seconds = chosen.seconds or (60 if chosen.full_speed else 600)
    if unknown := set(chosen.only) - set(known):
        parser.error(f"no such attack: {', '.join(unknown)}")
    chosen.baseline = chosen.baseline or chosen.seconds
    chosen.binary = chosen.binary.resolve()
    return chosen


def count_journal(figures, exchange):
    """Bytes and commands of each phase's batches."""
    batches = list(exchange.batches())
    for part in (figures["baseline"], figures["attack"]):
        first, last = part["first"] or 0, part["last"] or 1 << 63
        part["journal_bytes"] = sum(size for sequence, size in batches if first < sequence <= last)
        part["commands"] = min(last, batches[-1][0]) - first


def attack_run(chosen, directory):
    """The whole run; its figures."""
    # H1 speaks HTTP/2, which is off by default.
    exchange = Exchange(chosen.binary, directory, {"FORETELL_GATEWAY_HTTP2": "true"})
    try:
        print("preparing: markets, wallets, keys, history", flush=True)
        preparation.prepare(exchange, directory / "site.json", history="M4" in chosen.only)
        phase(exchange, directory, "warm-up", WARM_UP_SECONDS)
        print(f"baseline: {chosen.baseline:.0f} s without the attack", flush=True)
        baseline, _ = phase(exchange, directory, "baseline", chosen.baseline)
        print(f"attack: {chosen.seconds:.0f} s of {'+'.join(chosen.only)}", flush=True)
        attack, attacker = phase(exchange, directory, "attack", chosen.seconds, ("attacker.py", *chosen.only))
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
        others = {"full_disk": full_disk.run, "full_speed": full_speed.run, "journal": journal.run}
        run = next((run for name, run in others.items() if getattr(chosen, name)), attack_run)
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
