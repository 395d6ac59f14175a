"""Figures of a run, what they must hold, and the table for people."""

import collections
import math

MIB = 1 << 20
KIB = 1 << 10
# Latency with the attack may be that many times what it is without.
RATIO = 2.0
# The attacker's share of a core, with what a clock read every 5 ms lets through.
SHARE = 0.22
# Segments are prepared ahead whole: the data directory grows in such steps.
SEGMENTS_AHEAD = 3 * 16 * MIB


def quantile(values, share):
    """The smallest value that at least this share of all does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else float("nan")


def latencies(samples):
    """Count, p50, p99, maximum in milliseconds and results other than 200, by kind."""
    kinds = collections.defaultdict(lambda: ([], collections.Counter()))
    for kind, _, latency, result in samples:
        kinds[kind][0].append(latency * 1_000)
        if result != 200:
            kinds[kind][1][str(result)] += 1
    return {
        kind: {
            "count": len(values),
            "p50_ms": quantile(values, 0.5),
            "p99_ms": quantile(values, 0.99),
            "max_ms": max(values),
            "refused": dict(refused),
        }
        for kind, (values, refused) in kinds.items()
    }


def resources(samples):
    """Memory, descriptors and disk of a phase."""
    by_process = collections.defaultdict(list)
    for sample in samples:
        for name, reading in sample["processes"].items():
            by_process[name].append(reading)
    own = [sum(reading["own"] for reading in sample["processes"].values()) for sample in samples]
    return {
        "own_bytes_max": max(own),
        "own_bytes_last": own[-1],
        "disk_bytes_growth": samples[-1]["disk"] - samples[0]["disk"],
        "processes": {
            name: {
                "rss_bytes": [reading["rss"] for reading in readings],
                "own_bytes_max": max(reading["own"] for reading in readings),
                "rss_bytes_max": max(reading["rss"] for reading in readings),
                "files_max": max(reading["files"] for reading in readings),
                "files_limit": readings[-1]["files_limit"],
            }
            for name, readings in by_process.items()
        },
    }


def judge(figures, bounds):
    """Everything that does not hold, as sentences."""
    failures = []
    before, during = figures["baseline"], figures["attack"]
    for phase in (before, during):
        for kind, row in phase["latency"].items():
            if row["refused"]:
                failures.append(f"{phase['name']}: {kind}: {sum(row['refused'].values())} not served: {row['refused']}")
    for kind, row in during["latency"].items():
        ratio = row["ratio"] = row["p99_ms"] / before["latency"][kind]["p99_ms"]
        if bounds["latency"] and not ratio <= RATIO:
            failures.append(f"{kind}: p99 is {ratio:.1f} times that without the attack, {RATIO:g} is allowed")
    grown = figures["memory_growth_bytes"] = during["resources"]["own_bytes_max"] - before["resources"]["own_bytes_max"]
    if grown > bounds["memory_mib"] * MIB:
        failures.append(f"memory grew by {grown / MIB:.0f} MiB, {bounds['memory_mib']} are allowed")
    seconds = during["seconds"]
    journal = during["journal_bytes"] - before["journal_bytes"] * seconds / before["seconds"]
    disk = during["resources"]["disk_bytes_growth"] - before["resources"]["disk_bytes_growth"] * seconds / before["seconds"]
    figures["attack_journal_bytes_per_second"], figures["attack_disk_bytes"] = journal / seconds, disk
    allowed = bounds["disk_kib_per_second"] * KIB
    if journal > allowed * seconds:
        failures.append(f"the attack's journal: {journal / seconds / KIB:.0f} KiB/s, {allowed / KIB:.0f} are allowed")
    if disk > allowed * seconds + SEGMENTS_AHEAD:
        failures.append(f"the attack's disk: {disk / MIB:.0f} MiB, {allowed * seconds / MIB:.0f} and segments are allowed")
    for name, process in during["resources"]["processes"].items():
        if process["files_max"] >= process["files_limit"]:
            failures.append(f"{name}: all of its {process['files_limit']} descriptors were in use")
    restarted = {name: count for name, count in figures["starts"].items() if count > 1}
    if restarted:
        failures.append(f"processes ended and were started again: {restarted}")
    if figures["exit_code"] != 0:
        failures.append(f"the exchange ended with {figures['exit_code']}")
    if figures["audit"]["exit_code"] != 0:
        failures.append(f"audit verify ended with {figures['audit']['exit_code']}")
    if figures["attacker"]["share"] > SHARE:
        failures.append(f"the attacker took {figures['attacker']['share']:.2f} of a core: the run says too little")
    for name, counts in figures["attacker"]["counts"].items():
        if not counts.get("sent", 0) + counts.get("connections", 0):
            failures.append(f"{name} did not attack: {counts}")
    return failures


def show(figures):
    """The table for people."""
    before, during = figures["baseline"], figures["attack"]
    names = "+".join(figures["attacker"]["counts"])
    print(f"\n{names}, {during['seconds']:.0f} s, attacker at {figures['attacker']['share']:.2f} of a core")
    print("\n| honest request | count | p50 ms | p99 ms | max ms | attacked: count | p50 ms | p99 ms | max ms | p99 ratio | not served |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for kind, row in during["latency"].items():
        base = before["latency"][kind]
        cells = [f"{one[name]:.1f}" if name != "count" else str(one[name]) for one in (base, row) for name in ("count", "p50_ms", "p99_ms", "max_ms")]
        refused = ", ".join(f"{count} × {status}" for status, count in row["refused"].items()) or "–"
        print(f"| {kind} | {' | '.join(cells)} | {row['ratio']:.2f} | {refused} |")
    print("\n| process | RSS MiB without | at most | own MiB without | at most | descriptors at most | of |")
    print("|---|---|---|---|---|---|---|")
    for name, process in during["resources"]["processes"].items():
        base = before["resources"]["processes"].get(name, process)
        print(
            f"| {name} | {base['rss_bytes_max'] / MIB:.0f} | {process['rss_bytes_max'] / MIB:.0f}"
            f" | {base['own_bytes_max'] / MIB:.0f} | {process['own_bytes_max'] / MIB:.0f}"
            f" | {process['files_max']} | {process['files_limit']} |"
        )
    print("\n| disk | without | attacked |")
    print("|---|---|---|")
    print(f"| journal, MiB a minute | {per_minute(before):.1f} | {per_minute(during):.1f} |")
    print(f"| commands | {before['commands']} | {during['commands']} |")
    sent = sum(counts.get("sent", 0) for counts in figures["attacker"]["counts"].values())
    if sent:
        attack_bytes = figures["attack_journal_bytes_per_second"] * during["seconds"]
        print(f"| journal bytes of the attack, each of {sent} attacker requests | – | {attack_bytes / sent:.0f} |")
    print("\n| attack | what came of it |")
    print("|---|---|")
    for name, counts in figures["attacker"]["counts"].items():
        print(f"| {name} | {', '.join(f'{what} {count}' for what, count in sorted(counts.items()))} |")
    print(f"\naudit verify: exit code {figures['audit']['exit_code']}", flush=True)


def per_minute(phase):
    return phase["journal_bytes"] / MIB / phase["seconds"] * 60
