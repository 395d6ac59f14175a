"""Acts on the hosts of the exchange, and between hosts and servers."""

import os
import signal
import sys
from pathlib import Path

import processes
from nemesis import Nemesis

STRANGER = Path(__file__).parent / "stranger.py"
# Between two writes of a stranger: 100 a second into each part of the log.
STRANGER_PAUSE = 0.01


class ExchangeNemesis(Nemesis):
    """The nemesis of a whole cluster. `cluster.leader()` is the host that leads, as hosts say."""

    def __init__(self, cluster, random, only=None):
        super().__init__(cluster.machines, random, only)
        self.cluster, self.strangers = cluster, []

    def acts(self):
        return {
            **super().acts(),
            "kill_leader": 4,
            "kill_engine_of_leader": 3,
            "kill_host": 2,
            "freeze_leader": 4,
            "freeze_engine_of_leader": 3,
            "cut_power_of_leader": 3,
            "cut_leader_off": 3,
            "cut_leader_one_way": 4,
            "cut_host_one_way": 2,
            "kill_leader_and_its_server": 2,
            "stop_leader": 1,
            "let_stranger_write": 4,
        }

    def heal(self):
        for stranger in self.strangers:
            processes.kill(stranger)
        self.strangers = []
        super().heal()

    def leader(self):
        """The leader, or any host when none leads."""
        return self.cluster.leader() or self.random.choice(self.cluster.hosts)

    def kill_leader(self):
        host = self.leader()
        host.kill()
        return host.name

    def kill_host(self):
        host = self.random.choice(self.cluster.hosts)
        host.kill()
        return host.name

    def stop_leader(self):
        """In order, as an operator does."""
        host = self.leader()
        if host.is_running():
            host.stop()
        return host.name

    def signal_engine(self, host, number):
        """Only the engine: gateways, and `up` that restarts it, go on."""
        try:
            os.kill(host.process_ids()["engine"], number)
        except (KeyError, ProcessLookupError):
            return f"{host.name}: no engine"
        return host.name

    def kill_engine_of_leader(self):
        return self.signal_engine(self.leader(), signal.SIGKILL)

    def freeze_engine_of_leader(self):
        return self.signal_engine(self.leader(), signal.SIGSTOP)

    def freeze_leader(self):
        host = self.leader()
        if host.is_running():
            processes.freeze(host.process)
        return host.name

    def cut_power_of_leader(self):
        host = self.leader()
        self.cluster.machine_of(host).cut_power()
        return host.name

    def kill_leader_and_its_server(self):
        host = self.leader()
        self.cluster.machine_of(host).kill()
        return f"{host.name} and its server"

    def cut_leader_off(self):
        """Two-way, from all servers; clients still reach it."""
        host = self.leader()
        for server in self.machines.servers:
            self.network.cut(host.name, server.name)
            self.network.cut(server.name, host.name)
        return host.name

    def let_stranger_write(self):
        """On the reader's machine, with the certificate that hosts have, until `heal`."""
        machines, reader = self.machines, self.cluster.hosts[-1]
        servers = ",".join(server.url for server in machines.servers)
        command = [sys.executable, STRANGER, servers, machines.authority.certificate, *machines.user_certificate]
        stranger = processes.start(reader.name, [*command, STRANGER_PAUSE], machines.logs / "stranger.log")
        self.strangers.append(stranger)
        return f"on {reader.name}"

    def cut_leader_one_way(self):
        return self.cut_one_way(self.leader())

    def cut_host_one_way(self):
        return self.cut_one_way(self.random.choice(self.cluster.hosts))

    def cut_one_way(self, host):
        """To or from one server or all."""
        servers = self.any_servers(self.random.choice((1, 3)))
        outwards = self.random.random() < 0.5
        for server in servers:
            self.network.cut(*((host.name, server.name) if outwards else (server.name, host.name)))
        names = " ".join(server.name for server in servers)
        return f"{host.name} to {names}" if outwards else f"{names} to {host.name}"
