"""The process of an exchange: its start, its log and its end."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path

from foretell.errors import ProcessError
from foretell.ready import Ready

START_SECONDS = 60
STOP_SECONDS = 30
LOG_LINES = 20
LOG_BYTES = 64 * 1024
LOG_FILE = "sandbox.log"
LOOPBACK = ("127.0.0.1", "localhost")
PROXIES = ("http_proxy", "https_proxy", "all_proxy")


class Process:
    """A running `foretell up --sandbox`.

    The exchange ends when its standard input ends. This process holds the only writing end, so the exchange ends with
    this process, however that ends.
    """

    def __init__(self, binary: Path, arguments: Sequence[str]) -> None:
        """Starts the exchange and waits until it is ready. Raises ProcessError with the last lines of its log."""
        self._log = tempfile.TemporaryFile(prefix="foretell-", suffix=".log")  # noqa: SIM115
        self._kept: Path | None = None
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FORETELL_")}
        self._popen = subprocess.Popen(
            [str(binary), "up", "--sandbox", "--json", *arguments],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment,
            start_new_session=True,  # Ctrl-C reaches the tests only; they stop the exchange
        )
        _running.add(self)
        try:
            self.ready = self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def has_ended(self) -> bool:
        """Whether the exchange has ended. Waits up to 1 s for an exchange that is about to."""
        try:
            self._popen.wait(1)
        except subprocess.TimeoutExpired:
            return False
        return True

    def epitaph(self) -> str:
        """What to tell of an exchange that has ended by itself."""
        return f"the exchange ended with exit code {self._popen.returncode}; its last lines:\n{self.log_tail()}"

    def log_tail(self) -> str:
        """The last 20 lines of the exchange's log."""
        return "\n".join(self._log_end().splitlines()[-LOG_LINES:])

    def keep(self) -> Path:
        """Makes the exchange keep its data directory when it ends, with the end of its log. Returns its path."""
        if self._kept is None and self._popen.stdin is not None:
            self._popen.stdin.write(b"keep\n")
            self._kept = self.ready.directory
        return self.ready.directory

    def reset(self) -> None:
        """Starts the exchange again without data, and waits until it is ready. Its directory is a new one."""
        assert self._popen.stdin is not None
        self._popen.stdin.write(b"reset\n")
        self.ready = self._wait_until_ready()
        self._add_log()

    def stop(self) -> None:
        """Ends the exchange. It gets 30 s to stop in order. In a forked child it only closes the child's files."""
        _running.discard(self)
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._popen.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait()
        self._add_log()
        self._log.close()

    def release_in_child(self) -> None:
        """Closes the pipe in a forked child: the exchange must end with the parent, not with the last child."""
        if self._popen.stdin is not None:
            self._popen.stdin.close()

    def _add_log(self) -> None:
        """Adds the end of the log to a directory that is kept, which the exchange has left."""
        if self._kept is not None:
            (self._kept / LOG_FILE).write_text(self._log_end())
        self._kept = None

    def _log_end(self) -> str:
        """The last 64 KiB of the exchange's log."""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), LOG_BYTES, max(0, size - LOG_BYTES)).decode(errors="replace")

    def _wait_until_ready(self) -> Ready:
        """Reads the ready line. Each wait for a part of it ends after 60 s."""
        assert self._popen.stdout is not None
        output, poll, line = self._popen.stdout.fileno(), select.poll(), b""
        poll.register(output, select.POLLIN)
        while not line.endswith(b"\n"):
            if not poll.poll(START_SECONDS * 1000):
                raise ProcessError(
                    f"the exchange is not ready after {START_SECONDS} s; its last lines:\n{self.log_tail()}"
                )
            part = os.read(output, 65536)
            if not part:
                self._popen.wait(STOP_SECONDS)
                raise ProcessError(f"the exchange did not start: {self.epitaph()}")
            line += part
        try:
            return Ready.read(line)
        except ValueError as error:
            raise ProcessError(f"{error}; the last lines of the exchange:\n{self.log_tail()}") from None


_running: weakref.WeakSet[Process] = weakref.WeakSet()


def _release_all_in_child() -> None:
    for process in list(_running):
        process.release_in_child()


os.register_at_fork(after_in_child=_release_all_in_child)


def bypass_proxies() -> None:
    """Adds loopback to NO_PROXY if a proxy is set: HTTP clients would send a bot's requests to the proxy."""
    if not any(os.environ.get(name) or os.environ.get(name.upper()) for name in PROXIES):
        return
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [host for host in os.environ.get(name, "").split(",") if host]
        os.environ[name] = ",".join(hosts + [host for host in LOOPBACK if host not in hosts])
