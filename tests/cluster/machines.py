"""Three machines. Each has a disk, a server of the log and a host of the exchange; both have addresses of their own."""

import processes
from disks import Disk
from servers import NUMBERS, Authority, Server

DISK_MIB = 768


class Machine:
    """A machine: what shares one disk and one power cable."""

    def __init__(self, disk, server, host=None):
        self.disk, self.server, self.host = disk, server, host

    def parts(self):
        return [part for part in (self.server, self.host) if part is not None]

    def cut_power(self):
        """Everything on the machine ends at one instant; its disk keeps what was written to the device."""
        self.freeze()
        self.disk.lose_power()
        self.kill()
        self.disk.restore_power()

    def freeze(self):
        for part in self.parts():
            if part.is_running():
                processes.freeze(part.process)

    def start(self):
        for part in self.parts():
            part.start()

    def kill(self):
        for part in self.parts():
            part.kill()


class Machines:
    """The machines and the network between them."""

    def __init__(self, network, directory, server_binary, sync_interval="always"):
        self.network, self.directory = network, directory
        self.logs = directory / "logs"
        self.logs.mkdir(parents=True)
        self.authority = Authority(self.logs / "certificates")
        # Of the hosts that may lead, and of strangers; readers may do less.
        self.user_certificate = self.authority.issue("foretell")
        self.reader_certificate = self.authority.issue("foretell-reader")
        self.all = []
        for number in NUMBERS:
            disk = Disk(directory, f"disk-{number}", DISK_MIB)
            address = network.addresses[f"nats-{number}"]
            server = Server(server_binary, number, address, disk, self.authority, self.logs, sync_interval)
            self.all.append(Machine(disk, server))

    @property
    def servers(self):
        return [machine.server for machine in self.all]

    def kill(self):
        for machine in self.all:
            machine.kill()

    def remove(self):
        for machine in self.all:
            machine.disk.remove()
