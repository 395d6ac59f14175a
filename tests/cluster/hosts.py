"""A host of the exchange: `foretell up` in its namespace, with its data directory on the disk of its machine."""

import json
import shutil
import subprocess

import httpx
import processes

TRADING, HEALTH = 8080, 8070
# They must be the same on hosts that can lead.
SHARED = ("master.secret", "operator.token", "sync.token", "checkpoint.key", "checkpoint.pub")
# What a reader has of the cluster's key.
KEYS = {"leader": "cluster.key", "standby": "cluster.key", "reader": "cluster.pub"}
IO_ERROR = 74
START_SECONDS = 90


class Host:
    """One host. `role` is where it starts; leader and standby change places by what happens."""

    def __init__(self, binary, name, role, address, machines, disk):
        self.binary, self.name, self.role, self.address, self.disk = binary, name, role, address, disk
        self.data, self.directory = disk.path / "data", machines.logs / name
        self.directory.mkdir()
        self.log, self.events = self.directory / "up.log", self.directory / "up.jsonl"
        self.settings = self.directory / "foretell.toml"
        self.url = f"http://{address}:{TRADING}"
        self.process = None
        # Exit codes of `up` that nobody asked for.
        self.ended = []
        self.configure(machines)

    def configure(self, machines):
        certificate, key = machines.reader_certificate if self.role == "reader" else machines.user_certificate
        servers = ", ".join(f'"{server.url}"' for server in machines.servers)
        self.settings.write_text(f"""
[data]
directory = "{self.data}"
[trading]
listen = "{self.address}:{TRADING}"
[catalog]
listen = "{self.address}:8082"
[operator]
listen = "127.0.0.1:8090"
[gateway]
data_listen = "{self.address}:8081"
data_allowlist = ["10.0.0.0/24"]
trusted_proxies = ["10.0.0.20/32"]
[engine]
segment_mib = 1
disk_reserve_mib = 64
[limits]
enabled = false
[cluster]
role = "{self.role}"
host = "{self.name}"
servers = [{servers}]
tls_ca_file = "{machines.authority.certificate}"
tls_certificate_file = "{certificate}"
tls_key_file = "{key}"
health_listen = "{self.address}:{HEALTH}"
address = "{self.url}"
""")

    def command(self, *arguments):
        return [self.binary, "--config", self.settings, *arguments]

    def start(self, *flags):
        """Starts the host unless it runs; after a full disk it needs to be asked explicitly."""
        if self.is_running():
            return
        self.note_end()
        if self.ended[-1:] == [IO_ERROR] and not flags:
            flags = ("--after-io-error",)
        # The report of an earlier start is no report of this one.
        (self.data / "cluster-status").unlink(missing_ok=True)
        command = self.command("--json", "up", *flags)
        self.process = processes.start(self.name, command, self.log, self.events, cwd=self.directory)

    def note_end(self):
        """Keeps the exit code of a host that was not killed."""
        if self.process is not None and self.process.returncode is not None and self.process.returncode >= 0:
            self.ended.append(self.process.returncode)
            self.process = None

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.process is not None:
            self.process.poll()
            self.note_end()
        if self.process is not None:
            processes.kill(self.process)
            self.process = None

    def stop(self):
        """Ends it in order; returns the exit code."""
        code = processes.stop(self.process)
        self.process = None
        return code

    def replace_binary(self, binary):
        """What an upgrade does on a host: stop, replace, start."""
        code = self.stop()
        assert code == 0, f"{self.name}: up ended with {code}"
        self.binary = binary
        self.start()

    def is_frozen(self):
        process = self.process  # another thread may kill it
        pids = (process and process.pid, self.process_ids().get("engine"))
        return any(processes.is_stopped(pid) for pid in pids if pid)

    def has_engine(self):
        return self.is_running() and self.process_ids().get("engine") in processes.members(self.process.pid)

    def process_ids(self):
        """Process ids by name (`engine`, `gateway-1`), of the newest start of each."""
        lines = [json.loads(line) for line in self.events.read_text().splitlines() if line.endswith("}")]
        return {line["process"]: line["pid"] for line in lines if "process" in line and "pid" in line}

    def operate(self, *arguments, timeout=60):
        """An operator's command on this host; the last of its JSON answers."""
        done = processes.run(self.name, self.command("--json", *arguments), timeout, cwd=self.directory)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {arguments}: {done.returncode} {done.stdout[-400:]}{done.stderr[-400:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def status(self):
        """`cluster status`; None when the host does not answer."""
        if not self.is_running() or self.is_frozen():
            return None
        try:
            return self.operate("cluster", "status", timeout=10)
        except (RuntimeError, ValueError, subprocess.TimeoutExpired):
            return None

    def readiness(self, purpose):
        """What `/readyz` on the health listener answers; None without an answer."""
        try:
            return httpx.get(f"http://{self.address}:{HEALTH}/readyz", params={"for": purpose}, timeout=5).status_code
        except httpx.TransportError:
            return None

    def audit(self, *arguments):
        """`foretell audit` of its journal: exit code and JSON."""
        command = self.command("--json", "audit", "--journal", self.data / "journal", *arguments)
        done = processes.run(self.name, command, 300, cwd=self.directory)
        try:
            return done.returncode, json.loads(done.stdout)
        except ValueError:
            return done.returncode, {"text": (done.stdout + done.stderr)[-2_000:]}

    def take_secrets(self, other):
        """What a new host is given by an operator."""
        self.data.mkdir(mode=0o700)
        for name in (*SHARED, KEYS[self.role]):
            if (other.data / name).exists():
                shutil.copy2(other.data / name, self.data / name)
        # Before a power cut takes what only the memory has.
        subprocess.run(["sync", "--file-system", self.data], check=True)
