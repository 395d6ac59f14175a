"""What must hold after a round, when everything runs again and nothing is being sent."""

import processes
from acknowledged import Tables

CATCH_UP_SECONDS = 120
# Lines of a failure.
SHOWN = 20


class Broken(AssertionError):
    """A promise does not hold; one line each."""


def check(cluster, load, watchers):
    """Checks everything; returns figures of the round."""
    found = [*load.failures, *(failure for watcher in watchers for failure in watcher.failures)]
    found += unexpected_ends(cluster)
    sequence = processes.wait_for("common end of all journals", lambda: common_end(cluster, load), CATCH_UP_SECONDS)
    found += journals(cluster)
    for host in cluster.hosts:
        tables = Tables.of(host, host.directory)
        found += (f"{host.name}: {difference}" for difference in load.ledger.differences(tables))
    if found:
        more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        raise Broken("\n".join(["", *found[:SHOWN], *more]))
    return {"sequence": sequence, "set_aside": sum(map(set_aside, cluster.hosts))}


def unexpected_ends(cluster):
    """Hosts whose `up` ended by itself."""
    for host in cluster.hosts:
        for code in host.ended:
            if not (code == 74 and host.disk.was_filled):
                yield f"{host.name}: up ended with {code}"
        host.ended.clear()


def common_end(cluster, load):
    """The sequence at which all hosts are; None while they differ, or one has no place in the cluster yet.

    Reports are up to half a second old, so they must name what was acknowledged.
    """
    statuses = [host.status() for host in cluster.hosts]
    if not all(statuses) or sorted(status["state"] for status in statuses) != ["following", "following", "leading"]:
        return None
    sequences = {status["own_sequence"] for status in statuses}
    return sequences.pop() if len(sequences) == 1 and max(sequences) >= max(load.ledger.terms) else None


def journals(cluster):
    """Each is sound by itself, all are equal, and so are the states that they lead to."""
    digests = {}
    for host in cluster.hosts:
        code, report = host.audit("verify")
        if code != 0:
            yield f"{host.name}: audit verify ended with {code}: {report.get('findings', report)}"
            continue
        digests.setdefault(report["last_sequence"], {})[host.name] = (report["digest"], report["journal"]["hash"])
    for sequence, of in digests.items():
        if len(set(of.values())) > 1:
            yield f"at sequence {sequence} the digests differ: {of}"
    first, *others = cluster.hosts
    for host in others:
        code, answer = first.audit("diff", first.data / "journal", host.data / "journal")
        if code != 0:
            yield f"audit diff of {first.name} and {host.name} ended with {code}: {answer}"


def set_aside(host):
    """Number of tails that this host has moved aside as a former leader."""
    return sum(1 for path in (host.data / "journal").glob("set-aside/*"))
