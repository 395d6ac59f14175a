"""The nemesis: what befalls the machines, chosen by a seed. All of it ends by `heal`."""

import asyncio
import itertools

import processes


async def strikes(nemesis, chance):
    """The acts of a round: one to three strikes of one or two acts, each healed after a while."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        for _ in range(chance.choice((1, 1, 2))):
            await asyncio.sleep(chance.uniform(0.2, 2))
            print(f"  {await asyncio.to_thread(nemesis.strike)}", flush=True)
        await asyncio.sleep(chance.uniform(0.5, 8))
        await asyncio.to_thread(nemesis.heal)


class Nemesis:
    """Acts on servers and disks; `exchange_nemesis.py` adds those on hosts."""

    def __init__(self, machines, random, only=None):
        self.only = only and only.split(",")
        self.machines, self.network, self.random = machines, machines.network, random
        self.corrupted = None
        self.filled = []

    def acts(self):
        """Names of acts, each with its weight."""
        return {
            "kill_one_server": 2,
            "kill_two_servers": 2,
            "freeze_server": 1,
            "cut_server_off": 2,
            "cut_one_way_between_servers": 2,
            "cut_power_of_machine": 3,
            "cut_power_of_all": 1,
            "fill_disk": 1,
            "flip_byte_in_server": 1,
            "restart_everything": 1,
        }

    def strike(self):
        """Does one act; returns what it did."""
        weights = {name: weight for name, weight in self.acts().items() if not self.only or name in self.only}
        [name] = self.random.choices(list(weights), list(weights.values()))
        return f"{name}: {getattr(self, name)()}"

    def heal(self):
        """Undoes everything: connects, thaws, frees, starts."""
        self.network.mend_all()
        for machine in self.machines.all:
            for part in machine.parts():
                if part.is_running():
                    processes.thaw(part.process)
        for machine in self.filled:
            # A server that found its disk full has stopped writing until it is started again.
            machine.disk.free()
            machine.server.kill()
            if machine.host is not None and not machine.host.has_engine():
                # `up` does not start an engine again whose write failed: an operator does.
                machine.host.kill()
                machine.host.start("--after-io-error")
        self.filled = []
        for machine in self.machines.all:
            machine.start()

    def any_servers(self, count=1):
        return self.random.sample(self.machines.servers, count)

    def kill_one_server(self):
        [server] = self.any_servers()
        server.kill()
        return server.name

    def kill_two_servers(self):
        servers = self.any_servers(2)
        for server in servers:
            server.kill()
        return " and ".join(server.name for server in servers)

    def freeze_server(self):
        [server] = self.any_servers()
        processes.freeze(server.process)
        return server.name

    def cut_server_off(self):
        """Two-way, from everything that has an address."""
        [server] = self.any_servers()
        for other in self.network.addresses:
            if other != server.name:
                self.network.cut(server.name, other)
                self.network.cut(other, server.name)
        return server.name

    def cut_one_way_between_servers(self):
        sender, receiver = self.any_servers(2)
        self.network.cut(sender.name, receiver.name)
        return f"{sender.name} to {receiver.name}"

    def cut_power_of_machine(self):
        machine = self.random.choice(self.machines.all)
        machine.cut_power()
        return machine.disk.path.name

    def cut_power_of_all(self):
        """Freezes everything first: no machine sees another one lose its power."""
        for machine in self.machines.all:
            machine.freeze()
        for machine in self.machines.all:
            machine.cut_power()
        return "three machines"

    def fill_disk(self):
        machine = self.random.choice(self.machines.all)
        machine.disk.fill()
        self.filled.append(machine)
        return machine.disk.path.name

    def flip_byte_in_server(self):
        """In the files of one server only: the other two copies are the ones that must stay sound."""
        if self.corrupted is None:
            [self.corrupted] = self.any_servers()
        self.corrupted.kill()
        where = self.corrupted.flip_byte(self.random)
        self.corrupted.start()
        return f"{self.corrupted.name} {where}"

    def restart_everything(self):
        for part in itertools.chain.from_iterable(machine.parts() for machine in self.machines.all):
            part.kill()
        for machine in self.machines.all:
            machine.start()
        return "servers and hosts"
