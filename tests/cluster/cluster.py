"""The whole: three machines with a server and a host each, prepared so that a load can trade."""

import processes
from hosts import Host
from machines import Machines
from network import Network
from servers import NUMBERS
from streams import Watcher

ROLES = {"leader": "alpha", "standby": "beta", "reader": "gamma"}
# Last numbers of addresses: servers 1 to 3, hosts 11 to 13.
FIRST_HOST, BALANCER = 11, 20
START_SECONDS = 180
# A set of servers forms within seconds, or never.
FORM_SECONDS, FORM_ATTEMPTS = 45, 4
# Filling a stream from a journal takes a replicated sync for each batch.
FILL_SECONDS = 300


def network_of_machines(directory):
    """Every server, host and load balancer has a namespace and an address; servers have their certificates' names."""
    network = Network()
    for number in NUMBERS:
        network.add(f"nats-{number}", number)
    for number, name in enumerate(ROLES.values(), FIRST_HOST):
        network.add(name, number)
    network.add("balancer", BALANCER)
    names = {f"{namespace}.example.org": namespace for namespace in network.addresses}
    network.name_hosts(names, directory / "hosts")
    return network


class Cluster:
    """Machines, servers, hosts. A host has the name of its namespace."""

    def __init__(self, network, directory, chosen):
        self.network = network
        self.machines = Machines(network, directory, chosen.server, chosen.sync_interval)
        self.hosts = []
        for machine, (role, name) in zip(self.machines.all, ROLES.items()):
            address = network.addresses[name]
            machine.host = Host(chosen.binary, name, role, address, self.machines, machine.disk)
            self.hosts.append(machine.host)

    def start(self):
        """Servers, the stream, the leader, then the hosts that get its secrets."""
        first = self.hosts[0]
        first.data.mkdir(mode=0o700)
        self.make_stream(first)
        first.start()
        processes.wait_for("leader", lambda: self.leader() is first, START_SECONDS)
        for host in self.hosts[1:]:
            host.take_secrets(first)
            host.start()
        for host in self.hosts[1:]:
            processes.wait_for(f"status of {host.name}", host.status, START_SECONDS)

    def make_stream(self, first):
        """Servers that start at one instant may close each other's routes as duplicates, and then one of them never
        hears of the metadata leader: all are started again."""
        for attempt in range(1, FORM_ATTEMPTS + 1):
            for server in self.machines.servers:
                server.start()
            try:
                return processes.wait_for("stream", lambda: self.is_stream_made(first), FORM_SECONDS)
            except TimeoutError:
                if attempt == FORM_ATTEMPTS:
                    raise
            for server in self.machines.servers:
                server.kill()

    @staticmethod
    def is_stream_made(host, *flags):
        """`cluster init` needs a majority of servers, which takes some seconds to form."""
        done = processes.run(host.name, host.command("cluster", "init", *flags), FILL_SECONDS, cwd=host.directory)
        (host.directory / "init.log").write_text(done.stdout + done.stderr)
        return done.returncode == 0

    def leader(self):
        """The host that leads in the highest term, as the hosts say; None without one."""
        leading = [(status["term"], host) for host in self.hosts if (status := host.status()) and status["leading"]]
        return max(leading, key=lambda pair: pair[0])[1] if leading else None

    def machine_of(self, host):
        return next(machine for machine in self.machines.all if machine.host is host)

    def watchers(self, load):
        """One at each host, and one that wanders."""
        every = [host.url for host in self.hosts]
        of = {**{host.name: [host.url] for host in self.hosts}, "wanderer": every}
        return [Watcher(name, urls, load.markets, load.ledger) for name, urls in of.items()]

    def is_caught_up(self, host):
        """Whether a host has all that its log had when it was asked."""
        status = host.status()
        return status is not None and status["state"] in ("leading", "following") and status["lag_frames"] == 0

    def kill(self):
        self.machines.kill()

    def remove(self):
        self.machines.remove()
