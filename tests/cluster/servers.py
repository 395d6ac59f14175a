"""The log's three servers, with the configuration that ops/packaging/nats shows and certificates made here."""

import subprocess
from pathlib import Path

import processes

SAMPLES = Path(__file__).resolve().parents[2] / "ops/packaging/nats"
NUMBERS = (1, 2, 3)


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    """A private authority, and certificates of it."""

    def __init__(self, directory):
        self.directory = directory
        directory.mkdir()
        self.certificate, self.key = directory / "ca.pem", directory / "ca.key"
        self.make(self.certificate, self.key, "authority", "-x509", "-addext", "basicConstraints=critical,CA:TRUE")

    def make(self, certificate, key, name, *more):
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30")
        openssl("req", *curve, "-subj", f"/CN={name}", "-keyout", key, "-out", certificate, *more)

    def issue(self, name, *places):
        """Certificate and key of a user, or of a server at a host name and an address."""
        certificate, key = self.directory / f"{name}.pem", self.directory / f"{name}.key"
        alternative = ("-addext", f"subjectAltName={','.join(places)}") if places else ()
        self.make(certificate, key, name, "-x509", "-CA", self.certificate, "-CAkey", self.key,
                  "-addext", "basicConstraints=critical,CA:FALSE", *alternative)  # fmt: skip
        return certificate, key


class Server:
    """One server, on the disk of its machine."""

    def __init__(self, binary, number, address, disk, authority, logs, sync_interval):
        self.binary, self.number, self.address, self.disk = binary, number, address, disk
        self.name, self.host = f"nats-{number}", f"nats-{number}.example.org"
        self.url = f"tls://{self.host}:4222"
        self.log = logs / f"{self.name}.log"
        self.store = disk.path / "nats"
        self.process = None
        self.configure(authority, logs / self.name, sync_interval)

    def configure(self, authority, directory, sync_interval):
        """The samples, with paths of this run."""
        directory.mkdir()
        certificate, key = authority.issue(self.name, f"DNS:{self.host}", f"IP:{self.address}")
        paths = {
            "/etc/nats/server.pem": certificate,
            "/etc/nats/server.key": key,
            "/etc/nats/ca.pem": authority.certificate,
            "/var/lib/nats": self.store,
            "sync_interval: always": f"sync_interval: {sync_interval}",
        }
        for sample in (SAMPLES / "common.conf", SAMPLES / f"{self.name}.conf"):
            text = sample.read_text()
            for written, ours in paths.items():
                text = text.replace(written, str(ours))
            (directory / sample.name).write_text(text)
        self.configuration = directory / f"{self.name}.conf"

    def start(self):
        if not self.is_running():
            command = [self.binary, "--config", self.configuration]
            self.process = processes.start(self.name, command, self.log)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.process is not None:
            processes.kill(self.process)

    def flip_byte(self, random):
        """Changes one byte of a message in the stream's files; None where there is no message yet."""
        blocks = sorted(self.store.glob("jetstream/FORETELL/streams/*/msgs/*.blk"))
        blocks = [block for block in blocks if block.stat().st_size]
        if not blocks:
            return None
        block = random.choice(blocks)
        offset = random.randrange(block.stat().st_size)
        with open(block, "r+b", buffering=0) as file:
            file.seek(offset)
            byte = file.read(1)[0]
            file.seek(offset)
            file.write(bytes([byte ^ 1 << random.randrange(8)]))
        return f"{block.relative_to(self.store)} at {offset}"
