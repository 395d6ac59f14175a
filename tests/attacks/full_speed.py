"""Each attack of flood.py alone, at full speed on one core, beside honest clients.

The phase that each is compared with has honest clients alone. After an attack memory must come back to what it was
before.
"""

import os
import time

import preparation
import report
from exchange import Exchange
from flood import ATTACKS
from phases import WARM_UP_SECONDS, phase

NAMES = tuple(ATTACKS)
# For memory to come back after the last connection of an attack closed.
RECOVERY_SECONDS = 60
# Memory that may stay: tables that grew with the exchange's own history, and the allocator's.
STAYS_MIB = 64
BUSIEST_MIB = 512


def own_bytes(exchange):
    """Memory of all processes that is not pages of files."""
    return sum(process["own"] for process in exchange.sample().values())


def recovered(exchange, before):
    """Seconds until memory was back, and what it was then."""
    begun = time.monotonic()
    while True:
        after, passed = own_bytes(exchange), time.monotonic() - begun
        if after <= before + STAYS_MIB * report.MIB or passed > RECOVERY_SECONDS:
            return passed, after
        time.sleep(1)


def attacked(exchange, directory, chosen, quiet, name):
    """One attack; its figures and what does not hold."""
    print(f"{name}: {chosen.seconds:.0f} s", flush=True)
    before = own_bytes(exchange)
    attack, attacker = phase(exchange, directory, name, chosen.seconds, ("flood.py", core(), name))
    seconds, after = recovered(exchange, before)
    figures = {"baseline": quiet, "attack": attack, "attacker": attacker}
    most = attack["resources"]["own_bytes_max"]
    figures["memory_mib"] = {
        "before": before / report.MIB,
        "most": most / report.MIB,
        "after": after / report.MIB,
        "seconds": seconds,
    }
    speed = [] if chosen.lenient else [*report.judge_latency(figures), *report.judge_cores(figures)]
    failures = [*report.judge_honest(figures), *speed]
    if most > before + BUSIEST_MIB * report.MIB:
        failures.append(f"memory grew by {(most - before) / report.MIB:.0f} MiB, {BUSIEST_MIB} are allowed")
    if seconds > RECOVERY_SECONDS:
        failures.append(f"{(after - before) / report.MIB:.0f} MiB were not given back, {STAYS_MIB} may stay")
    if not attacker["counts"][name].get("sent"):
        failures.append(f"it did not attack: {attacker['counts'][name]}")
    report.show_attack(name, figures)
    return figures, [f"{name}: {failure}" for failure in failures]


def core():
    """The last core of this machine."""
    return max(os.sched_getaffinity(0))


def run(chosen, directory):
    exchange = Exchange(chosen.binary, directory, {"FORETELL_GATEWAY_HTTP2": "true"})
    runs, failures = {}, []
    try:
        print("preparing: markets, wallets, keys, history", flush=True)
        preparation.prepare(exchange, directory / "site.json")
        phase(exchange, directory, "warm-up", WARM_UP_SECONDS)
        print(f"quiet: {chosen.baseline:.0f} s of honest clients", flush=True)
        quiet, _ = phase(exchange, directory, "quiet", chosen.baseline)
        for name in chosen.only:
            runs[name], found = attacked(exchange, directory, chosen, quiet, name)
            failures += found
        starts = exchange.processes()[1]
        failures += [f"{name} was started {count} times" for name, count in starts.items() if count > 1]
    finally:
        exit_code = exchange.stop()
    _, audit, found = exchange.end(exit_code)
    return {"attacks": runs, "audit": audit, "failures": failures + found}
