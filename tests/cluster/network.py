"""One switch and the machines' network namespaces. The switch is in the namespace of this program.

A direction is cut in the sender's table of neighbours: its packets go to an address that no interface has.
"""

import subprocess

PREFIX = "10.0.0"
NOWHERE = "02:00:00:00:00:ff"
# This program and the load.
OUTSIDE = f"{PREFIX}.254"


def ip(*arguments, check=True):
    subprocess.run(["ip", *arguments], check=check, capture_output=not check)


class Network:
    """Namespaces by name, each with one interface at the switch."""

    def __init__(self):
        self.addresses = {}
        self.cuts = set()
        # Namespaces are files: with a file system of this mount namespace alone they end with this program.
        subprocess.run(["mkdir", "-p", "/run/netns"], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "netns", "/run/netns"], check=True)
        ip("link", "set", "lo", "up")
        ip("link", "add", "switch", "type", "bridge")
        ip("address", "add", f"{OUTSIDE}/24", "dev", "switch")
        ip("link", "set", "switch", "up")

    def add(self, name, number):
        """A namespace with an address; returns the address."""
        address, outer = f"{PREFIX}.{number}", f"port{number}"
        ip("netns", "add", name)
        ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", outer, "master", "switch", "up")
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        self.addresses[name] = address
        return address

    def name_hosts(self, names, file):
        """Host names that every process of this program resolves, each the address of a namespace."""
        lines = [f"{self.addresses[namespace]} {name}" for name, namespace in names.items()]
        file.write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        subprocess.run(["mount", "--bind", file, "/etc/hosts"], check=True)

    def cut(self, sender, receiver):
        """Loses all packets of one direction."""
        self.cuts.add((sender, receiver))
        entry = ("neigh", "replace", self.addresses[receiver], "lladdr", NOWHERE, "dev", "eth0", "nud", "permanent")
        ip("-n", sender, *entry)

    def mend(self, sender, receiver):
        if (sender, receiver) in self.cuts:
            self.cuts.remove((sender, receiver))
            ip("-n", sender, "neigh", "del", self.addresses[receiver], "dev", "eth0", check=False)

    def mend_all(self):
        for sender, receiver in list(self.cuts):
            self.mend(sender, receiver)
