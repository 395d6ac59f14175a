"""Figures of a run, what they must hold, and the table for people."""

import collections
import math

MIB = 1 << 20
KIB = 1 << 10
# Latency with the attack may be that many times what it is without.
RATIO = 2.0
# A tick of the kernel's scheduler (250 Hz) and the service itself: shorter waits say nothing of an attack.
TICK_MS = 5.0
# Fewer samples say nothing of a p99: then p90 is judged.
P99_SAMPLES = 1_000
# Cores of the exchange that one address may take.
CORES = 0.5
# The attacker's share of a core, with what a clock read every 5 ms lets through.
SHARE = 0.22
# Segments are prepared ahead whole: the data directory grows in such steps.
SEGMENTS_AHEAD = 3 * 16 * MIB


def quantile(values, share):
    """The smallest value that at least this share of all does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else float("nan")


def latencies(samples):
    """Count, p50, p90, p99, maximum in milliseconds and results other than 200, by kind."""
    kinds = collections.defaultdict(lambda: ([], collections.Counter()))
    for kind, _, latency, result in samples:
        kinds[kind][0].append(latency * 1_000)
        if result != 200:
            kinds[kind][1][str(result)] += 1
    return {
        kind: {
            "count": len(values),
            "p50_ms": quantile(values, 0.5),
            "p90_ms": quantile(values, 0.9),
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
    seconds = samples[-1]["at"] - samples[0]["at"]
    own = [sum(reading["own"] for reading in sample["processes"].values()) for sample in samples]
    return {
        "cores": sum(readings[-1]["cpu"] - readings[0]["cpu"] for readings in by_process.values()) / seconds,
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
    """Everything that does not hold, as sentences. Adds ratios and growth to the figures."""
    latency = list(judge_latency(figures)) if bounds["latency"] else []
    return [*judge_honest(figures), *latency, *judge_growth(figures, bounds), *judge_processes(figures)]


def judge_honest(figures):
    for phase in (figures["baseline"], figures["attack"]):
        for kind, row in phase["latency"].items():
            if refused := row["refused"]:
                yield f"{phase['name']}: {kind}: {sum(refused.values())} of {row['count']} not served: {refused}"


def ratio(figures, kind, name):
    """A quantile with the attack, in multiples of that without."""
    return figures["attack"]["latency"][kind][name] / figures["baseline"]["latency"][kind][name]


def judge_latency(figures):
    baseline = figures["baseline"]["latency"]
    for kind, row in figures["attack"]["latency"].items():
        is_enough = min(row["count"], baseline[kind]["count"]) >= P99_SAMPLES
        name = "p99" if is_enough else "p90"
        times = ratio(figures, kind, f"{name}_ms")
        if row[f"{name}_ms"] > TICK_MS and times > RATIO:
            yield f"{kind}: {name} is {times:.1f} times that without the attack, {RATIO:g} is allowed"


def cores(figures):
    """Cores of the exchange's processes that the attack takes."""
    return figures["attack"]["resources"]["cores"] - figures["baseline"]["resources"]["cores"]


def judge_cores(figures):
    if cores(figures) > CORES:
        yield f"the attack takes {cores(figures):.2f} cores of the exchange, {CORES} are allowed"


def growth(figures):
    """What the attack added: bytes of memory, and of journal and data directory beyond honest growth."""
    before, during = figures["baseline"], figures["attack"]
    scale = during["seconds"] / before["seconds"]
    directory = [phase["resources"]["disk_bytes_growth"] for phase in (before, during)]
    return {
        "memory": during["resources"]["own_bytes_max"] - before["resources"]["own_bytes_max"],
        "journal": during["journal_bytes"] - before["journal_bytes"] * scale,
        "directory": directory[1] - directory[0] * scale,
    }


def judge_growth(figures, bounds):
    during, grown = figures["attack"], growth(figures)
    if during["ended_early"]:
        seconds = figures["attacker"]["seconds"]
        yield f"the attack was ended after {seconds:.0f} s: the memory of the machine was in danger"
    if grown["memory"] > bounds["memory_mib"] * MIB:
        yield f"memory grew by {grown['memory'] / MIB:.0f} MiB, {bounds['memory_mib']} are allowed"
    allowed = bounds["disk_kib_per_second"] * KIB * during["seconds"]
    if grown["journal"] > allowed:
        rate = grown["journal"] / during["seconds"] / KIB
        yield f"the attack's journal grew by {rate:.0f} KiB/s, {bounds['disk_kib_per_second']} are allowed"
    if grown["directory"] > allowed + SEGMENTS_AHEAD:
        limit = (allowed + SEGMENTS_AHEAD) / MIB
        yield f"the attack's data directory grew by {grown['directory'] / MIB:.0f} MiB, {limit:.0f} are allowed"


def judge_processes(figures):
    for name, process in figures["attack"]["resources"]["processes"].items():
        if process["files_max"] >= process["files_limit"]:
            yield f"{name}: all of its {process['files_limit']} descriptors were in use"
    for name, count in figures["starts"].items():
        if count > 1:
            yield f"{name} was started {count} times"
    if figures["exit_code"] != 0:
        yield f"the exchange ended with {figures['exit_code']}"
    if figures["audit"]["exit_code"] != 0:
        yield f"audit verify ended with {figures['audit']['exit_code']}"
    attacker = figures["attacker"]
    if attacker["share"] > SHARE:
        yield f"the attacker took {attacker['share']:.2f} of a core: the run proves too little"
    for name, counts in attacker["counts"].items():
        if not counts.get("sent", 0) + counts.get("connections", 0):
            yield f"{name} did not attack: {counts}"


def show(figures):
    """The tables for people."""
    attacker = figures["attacker"]
    names = "+".join(attacker["counts"])
    print(f"\n{names}, {figures['attack']['seconds']:.0f} s, attacker at {attacker['share']:.2f} of a core")
    show_latency(figures)
    show_processes(figures)
    show_disk(figures)
    print("\n| attack | result |\n|---|---|")
    for name, counts in attacker["counts"].items():
        print(f"| {name} | {', '.join(f'{what} {count}' for what, count in sorted(counts.items()))} |")
    print(f"\naudit verify: exit code {figures['audit']['exit_code']}", flush=True)


def show_latency(figures):
    half = "count | p50 ms | p90 ms | p99 ms | max ms"
    print(f"\n| honest request | {half} | attacked: {half} | p90 ratio | p99 ratio | not served |")
    print("|---" * 14 + "|")
    for kind, row in figures["attack"]["latency"].items():
        cells = []
        for one in (figures["baseline"]["latency"][kind], row):
            quantiles = (f"{one[name]:.1f}" for name in ("p50_ms", "p90_ms", "p99_ms", "max_ms"))
            cells += [str(one["count"]), *quantiles]
        refused = ", ".join(f"{count} × {status}" for status, count in row["refused"].items()) or "–"
        ratios = [f"{ratio(figures, kind, name):.2f}" for name in ("p90_ms", "p99_ms")]
        print(f"| {kind} | {' | '.join([*cells, *ratios])} | {refused} |")


def show_attack(name, figures):
    """The table of one attack at full speed."""
    counts = figures["attacker"]["counts"][name]
    memory = {what: f"{value:.0f}" for what, value in figures["memory_mib"].items()}
    print(f"\n{name}: {', '.join(f'{what} {count}' for what, count in sorted(counts.items()))}")
    print(f"cores of the exchange that it takes: {cores(figures):.2f}")
    print("memory, MiB: before {before}, at most {most}, after {seconds} s {after}".format(**memory))
    show_latency(figures)
    print(flush=True)


def show_processes(figures):
    print("\n| process | RSS MiB | attacked | without pages of files | attacked | descriptors at most | of |")
    print("|---" * 7 + "|")
    before = figures["baseline"]["resources"]["processes"]
    for name, process in figures["attack"]["resources"]["processes"].items():
        pairs = [(one[of] / MIB) for of in ("rss_bytes_max", "own_bytes_max") for one in (before[name], process)]
        cells = " | ".join(f"{value:.0f}" for value in pairs)
        print(f"| {name} | {cells} | {process['files_max']} | {process['files_limit']} |")


def show_disk(figures):
    before, during, grown = figures["baseline"], figures["attack"], growth(figures)
    per_minute = [phase["journal_bytes"] / MIB / phase["seconds"] * 60 for phase in (before, during)]
    print("\n| disk | without | attacked |\n|---|---|---|")
    print(f"| journal, MiB a minute | {per_minute[0]:.1f} | {per_minute[1]:.1f} |")
    print(f"| commands | {before['commands']} | {during['commands']} |")
    sent = sum(counts.get("sent", 0) for counts in figures["attacker"]["counts"].values())
    if sent:
        each = grown["journal"] / sent
        print(f"| journal bytes of the attack, for each of {sent} attacker requests | – | {each:.0f} |")
