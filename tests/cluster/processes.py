"""Processes of a machine. Each leads a session of its own; by it all that it started are found."""

import os
import signal
import subprocess
import time
from pathlib import Path

PATIENCE = 30


def start(namespace, command, log, out=None, cwd=None):
    """Starts a command in a network namespace; what it prints is appended to `log`, or to `out` and `log`."""
    with open(log, "ab") as errors, open(out or log, "ab") as printed:
        return subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{namespace}", *map(str, command)],
            cwd=cwd,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=errors,
            start_new_session=True,
        )


def run(namespace, command, timeout=PATIENCE, cwd=None):
    """Runs a command in a network namespace to its end."""
    command = ["nsenter", f"--net=/run/netns/{namespace}", *map(str, command)]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=timeout)


def environment():
    """The caller's variables without settings of Foretell."""
    return {name: value for name, value in os.environ.items() if not name.startswith("FORETELL_")}


def members(session):
    """Process ids of a session that have not ended."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, of = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(of) == session and state not in "ZX":
                yield int(entry.name)


def is_stopped(pid):
    """Whether a process exists and is stopped by a signal."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


def send(session, number):
    """Sends a signal to every process of a session."""
    for pid in list(members(session)):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def freeze(process):
    send(process.pid, signal.SIGSTOP)


def thaw(process):
    send(process.pid, signal.SIGCONT)


def kill(process):
    """Ends a session at once: no process of it sees another one die."""
    freeze(process)
    wait_for("the end of a session", lambda: send(process.pid, signal.SIGKILL) or not list(members(process.pid)))
    process.wait()


def stop(process, seconds=90):
    """Ends a process in order; returns its exit code."""
    process.terminate()
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        kill(process)
        return process.returncode


def wait_for(what, holds, seconds=PATIENCE):
    """Waits until something holds; returns what it gave."""
    deadline = time.monotonic() + seconds
    while True:
        if found := holds():
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {what} within {seconds} s")
        time.sleep(0.05)
