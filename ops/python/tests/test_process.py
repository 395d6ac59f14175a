"""The exchange's process: its start, its end, and where the program comes from."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import foretell
from foretell import process

START = """
import foretell, os, sys
ex = foretell.Exchange().start()
print(ex._link.ready.directory, ex._process._popen.pid, flush=True)
"""


def ended(pid: int) -> None:
    """Waits until a process has ended. The test's own time limit bounds it."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    import select

    assert select.select([descriptor], [], [], 20)[0], f"process {pid} is still there"
    os.close(descriptor)


def started(code: str) -> "tuple[subprocess.Popen[str], Path, int]":
    """Runs Python code that starts an exchange; returns the process, the directory and the exchange's pid."""
    python = subprocess.Popen([sys.executable, "-c", START + code], stdout=subprocess.PIPE, text=True)
    assert python.stdout is not None
    directory, pid = python.stdout.readline().split()
    return python, Path(directory), int(pid)


def test_the_exchange_ends_with_a_killed_parent() -> None:
    python, directory, pid = started("sys.stdin.read()\nimport signal; signal.pause()")
    python.send_signal(signal.SIGKILL)
    python.wait()
    ended(pid)
    assert not directory.exists()


def test_the_exchange_ends_with_a_parent_that_forgets_it() -> None:
    python, directory, pid = started("")
    assert python.wait() == 0
    ended(pid)
    assert not directory.exists()


def test_the_exchange_ends_although_a_forked_child_lives() -> None:
    code = "child = os.fork()\nif not child:\n    import signal; signal.pause()\nprint(child, flush=True)\nos._exit(0)"
    python, _, pid = started(code)
    assert python.stdout is not None
    child = int(python.stdout.readline())
    try:
        ended(pid)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_forked_child_uses_the_exchange_and_does_not_stop_it(foretell_exchange: foretell.Exchange) -> None:
    rain, me = foretell_exchange.market("Will it rain?"), foretell_exchange.wallet(usdc=100)

    def work() -> None:
        for _ in range(100):
            me.place(rain.yes, "BUY", price="0.01", size=5)
        foretell_exchange.stop()

    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    while child.is_alive():
        foretell_exchange.clock.now()  # it would read answers of the child on a shared connection
    assert child.exitcode == 0
    assert len(me.orders()) == 100


def test_a_stopped_exchange_leaves_nothing() -> None:
    with foretell.Exchange() as ex:
        assert ex._link is not None
        assert ex._process is not None
        directory, pid = ex._link.ready.directory, ex._process._popen.pid
        assert directory.exists()
    assert not directory.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_kept_exchange_leaves_its_directory_and_log() -> None:
    with foretell.Exchange() as ex:
        ex.market("Will it rain?")
        kept = ex.keep()
        assert ex.keep() == kept
    assert (kept / process.LOG_FILE).read_text().strip()
    assert any(it.name != process.LOG_FILE for it in kept.iterdir())
    shutil.rmtree(kept)


def test_a_data_directory_is_continued(tmp_path: Path) -> None:
    with foretell.Exchange(data=tmp_path / "data") as ex:
        market = ex.market("Will it rain?")
    with foretell.Exchange(data=tmp_path / "data") as ex:
        assert ex.operator("GET", f"/markets/{market.condition_id}")["question"] == "Will it rain?"


def test_an_exchange_that_dies_says_so() -> None:
    with foretell.Exchange() as ex:
        assert ex._process is not None
        left = ex._process.ready.directory
        os.killpg(ex._process._popen.pid, signal.SIGKILL)
        with pytest.raises(foretell.ProcessError, match="ended with exit code -9; its last lines"):
            ex.market("Will it rain?")
    shutil.rmtree(left)


def test_a_program_that_is_not_foretell_fails_with_its_log(tmp_path: Path) -> None:
    program = tmp_path / "foretell"
    program.write_text("#!/bin/sh\necho 'no such thing' >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(foretell.ProcessError, match=r"(?s)exit code 3.*no such thing"):
        foretell.Exchange(binary=program).start()
    program.write_text("#!/bin/sh\necho hello\n")
    with pytest.raises(foretell.ProcessError, match="not the line of a ready sandbox"):
        foretell.Exchange(binary=program).start()


def test_the_program_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "foretell"
    program.touch(0o755)
    monkeypatch.setenv("FORETELL_BIN", str(program))
    assert foretell.find_binary() == program
    monkeypatch.setenv("FORETELL_BIN", str(tmp_path))
    with pytest.raises(foretell.BinaryNotFound, match="FORETELL_BIN is"):
        foretell.find_binary()
    monkeypatch.delenv("FORETELL_BIN")
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert foretell.find_binary() == program
    monkeypatch.setenv("PATH", "")
    with pytest.raises(foretell.BinaryNotFound, match="FORETELL_URL"):
        foretell.find_binary()


def test_a_running_exchange_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = str(foretell.find_binary())
    command = [binary, "up", "--sandbox", "--json"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FORETELL_")}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=kept
    ) as up:
        assert up.stdout is not None
        ready = tmp_path / "ready.json"
        ready.write_bytes(up.stdout.readline())
        monkeypatch.setenv("FORETELL_URL", ready.as_uri())
        with foretell.Exchange() as one, foretell.Exchange() as two:
            assert one.clob_url == two.clob_url
            assert one.market("Will it rain?").slug != two.market("Will it rain?").slug
        with foretell.Exchange() as again:
            assert again.market("Will it rain?").slug.startswith("will-it-rain-")
        with pytest.raises(ValueError, match="FORETELL_URL is set"):
            foretell.Exchange(chain=137).start()
        assert up.stdin is not None
        up.stdin.close()


def test_loopback_bypasses_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy", "http_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    process.bypass_proxies()
    assert "NO_PROXY" not in os.environ
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "example.org")
    monkeypatch.setenv("no_proxy", "")
    process.bypass_proxies()
    process.bypass_proxies()
    assert os.environ["NO_PROXY"] == "example.org,127.0.0.1,localhost"
    assert os.environ["no_proxy"] == "127.0.0.1,localhost"
