"""A `foretell up` of its own on a temporary directory, and what is measured of it from outside."""

import http.client
import json
import os
import resource
import signal
import struct
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

# Soft limit of open files that the exchange starts with: the usual one of a shell or a service.
SOFT_FILES = 1_024
START_SECONDS = 60
STOP_SECONDS = 60
PAGE = 4_096


class Exchange:
    """A running exchange. `settings` are environment variables of `foretell up`."""

    def __init__(self, binary, directory, settings=None):
        self.binary, self.data = binary, Path(directory) / "data"
        self.log, self.events = Path(directory) / "up.log", Path(directory) / "up.jsonl"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FORETELL_")}
        environment.update(settings or {})
        listen = [f"--{surface}-listen" for surface in ("trading", "data", "catalog", "operator")]
        arguments = [argument for flag in listen for argument in (flag, "127.0.0.1:0")]
        with open(self.events, "wb") as out, open(self.log, "wb") as log:
            self.up = subprocess.Popen(
                [binary, "up", "--json", "--data", self.data, *arguments],
                cwd=directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                preexec_fn=lower_soft_files,
            )
        ready = self.wait_ready()
        self.addresses = {}
        for surface in ("trading", "data", "catalog", "operator"):
            url = urlsplit(ready[surface])
            self.addresses[surface] = (url.hostname, url.port)
        self.token = (self.data / "operator.token").read_text().strip()

    def lines(self):
        """What `up --json` printed."""
        return [json.loads(line) for line in self.events.read_text().splitlines() if line.endswith("}")]

    def wait_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while True:
            for line in self.lines():
                if line.get("ready") == "exchange":
                    return line
            if self.up.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise SystemExit(f"the exchange did not become ready:\n{self.log.read_text()[-4_000:]}")
            time.sleep(0.05)

    def processes(self):
        """Process ids by name, of the newest start of each; how often each was started."""
        newest, starts = {}, {}
        for line in self.lines():
            if "process" in line and "pid" in line:
                if newest.get(line["process"]) != line["pid"]:
                    starts[line["process"]] = starts.get(line["process"], 0) + 1
                newest[line["process"]] = line["pid"]
        return newest, starts

    def sample(self):
        """Memory and descriptors of each process."""
        readings = {name: reading(pid) for name, pid in self.processes()[0].items()}
        return {name: value for name, value in readings.items() if value}

    def operate(self, method, path, body=None, timeout=30):
        """An operator's request on a connection of its own; returns the JSON answer."""
        connection = http.client.HTTPConnection(*self.addresses["operator"], timeout=timeout)
        try:
            fields = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body) if body is not None else None, fields)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text)

    def stop(self):
        """Stops it in order; kills only `up` when that takes too long."""
        if self.up.poll() is None:
            self.up.send_signal(signal.SIGTERM)
            try:
                self.up.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.up.kill()
                self.up.wait()
        return self.up.returncode

    def audit(self):
        """`foretell audit verify` of the stopped exchange: exit code and JSON report."""
        command = [self.binary, "--json", "audit", "--journal", self.data / "journal", "verify"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.data, timeout=1_800)
        try:
            return done.returncode, json.loads(done.stdout)
        except ValueError:
            return done.returncode, {"text": (done.stdout + done.stderr)[-2_000:]}

    def end(self, exit_code):
        """Audits the stopped exchange: exit code and report of the audit, and what does not hold."""
        code, audit = self.audit()
        failures = [f"the exchange ended with {exit_code}"] if exit_code else []
        failures += [f"audit verify ended with {code}"] if code else []
        return code, audit, failures

    def journal_bytes(self):
        """Bytes on disk of all batches in the journal."""
        return sum(size for _, size in self.batches())

    def batches(self):
        """First sequence and bytes on disk of each batch in the journal, in order."""
        for path in sorted((self.data / "journal").glob("*.segment")):
            with open(path, "rb") as file:
                at = PAGE
                while True:
                    file.seek(at)
                    head = file.read(64)
                    if len(head) < 64 or head[:8] != b"FRTLBTCH":
                        break
                    (size,) = struct.unpack_from("<I", head, 16)
                    (first,) = struct.unpack_from("<Q", head, 40)
                    total = -(-(128 + size) // PAGE) * PAGE
                    yield first, total
                    at += total


def lower_soft_files():
    """Runs in the child: the usual soft limit of open files, the hard one as it is."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(SOFT_FILES, hard), hard))


def reading(pid):
    """Memory and descriptors of a process; None when it is gone."""
    try:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
        files = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None
    bytes_of = lambda name: int(status.get(name, "0 kB").split()[0]) << 10  # noqa: E731
    soft = next(line.split()[3] for line in limits if line.startswith("Max open files"))
    # After the name, which may have spaces: user and system time are fields 14 and 15 of all.
    times = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return {
        "cpu": (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK"),
        "rss": bytes_of("VmRSS"),
        # What the process holds alone; the rest are pages of files, which the kernel takes back.
        "own": bytes_of("RssAnon") + bytes_of("RssShmem"),
        "files": files,
        "files_limit": int(soft),
    }


def disk_bytes(directory):
    """Bytes that a directory takes on the disk."""
    total = 0
    for root, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_blocks * 512
            except OSError:
                continue  # files come and go
    return total


class Sampler(threading.Thread):
    """Reads memory, descriptors and disk every few seconds until it is stopped."""

    EVERY = 2.0
    # The machine is not to run out of memory: more than that ends the attack.
    MOST_BYTES = 4 << 30

    def __init__(self, exchange, end_attack):
        super().__init__(daemon=True)
        self.exchange, self.end_attack, self.samples, self.ended = exchange, end_attack, [], threading.Event()
        self.ended_attack = False

    def run(self):
        while True:
            sample = self.sample()
            self.samples.append(sample)
            if sum(process["own"] for process in sample["processes"].values()) > self.MOST_BYTES:
                self.ended_attack = True
                self.end_attack()
            if self.ended.wait(self.EVERY):
                return

    def sample(self):
        disk = disk_bytes(self.exchange.data)
        return {"at": time.monotonic(), "disk": disk, "processes": self.exchange.sample()}

    def stop(self):
        self.ended.set()
        self.join()
        return self.samples
