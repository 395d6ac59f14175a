"""What every method of a client does here: calls, requests, and the table of outcomes.

A test declares for each public method how it is called and what should come of it. The table that
it makes stands in docs/api/client-methods.md; FORETELL_BLESS=1 writes it anew.
"""

import inspect
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

PAGE = Path(os.environ["EXCHANGE_METHODS_PAGE"])

CODE = "x-error-code"
MISTAKES = (TypeError, AttributeError, KeyError, AssertionError)

# Path segments that name something: hex, numbers, UUIDs.
NAMED = re.compile(r"(?<=/)(0x[0-9a-fA-F]+|[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=/|$)")


@dataclass(frozen=True)
class Outcome:
    """What should come of a call: the kind, and for a table the reason."""

    kind: str
    reason: str = ""


ANSWERED = Outcome("answered")
LOCAL = Outcome("local")
STREAM = Outcome("stream", reason="a WebSocket; `test_streams.py` drives it")


def answered(reason):
    """Answered, with something to know."""
    return Outcome("answered", reason=reason)


def not_offered(reason):
    """There is nothing behind this method, or not in its form: 404, 405, 400 and 401, or the client stops."""
    return Outcome("not offered", reason=reason)


def local(reason):
    """No request, with something to know."""
    return Outcome("local", reason=reason)


def differs(reason):
    """The exchange answers in a form of its own, which the client does not read."""
    return Outcome("differs", reason=reason)


@dataclass
class Seen:
    """The requests of one call, and how it ended."""

    requests: list = field(default_factory=list)
    error: Exception | None = None

    @property
    def last(self):
        """Method and path, status, error code of the last request that was answered."""
        done = [request for request in self.requests if request[1] is not None]
        return done[-1] if done else (None, None, "")

    def call(self):
        """The distinct requests, in order."""
        return ", ".join(dict.fromkeys(f"`{request}`" for request, _, _ in self.requests)) or "–"

    def shown(self):
        """What happened, for a failing test."""
        requests = [f"{request} {status}" for request, status, _ in self.requests]
        return f"{requests} {self.last[2]} {type(self.error).__name__}: {self.error}"

    def fits(self, wanted):
        """Whether the call did what was declared."""
        _, status, _ = self.last
        if wanted.kind == "stream":
            return True
        if wanted.kind == "local":
            return self.error is None and not self.requests
        fine = bool(self.requests) and all(
            status is not None and 200 <= status < 300 for _, status, _ in self.requests
        )
        if wanted.kind == "answered":
            return self.error is None and fine
        # The client gives up; a wrong argument of this test is no such outcome.
        stopped = self.error is not None and not isinstance(self.error, MISTAKES)
        if wanted.kind == "differs":
            return stopped and fine
        return status in (400, 401, 404, 405) or (status is None and stopped)

    def outcome(self, wanted):
        """The last column of the table."""
        told = wanted.kind if self.fits(wanted) else "fails"
        _, status, code = self.last
        if status is not None and status >= 400:
            told += f" ({status} `{code}`)" if code else f" ({status})"
        return f"{told}: {wanted.reason}" if wanted.reason else told


class Recorder:
    """Records the requests that any client of this process sends through httpx."""

    def __init__(self):
        self.seen = Seen()
        self._install()

    @contextmanager
    def recording(self):
        """The requests until the end of the block; an error in it is part of what is seen."""
        self.seen = seen = Seen()
        try:
            yield seen
        except Exception as error:  # whatever a client raises is its outcome
            seen.error = error
        self.seen = Seen()

    @contextmanager
    def paused(self):
        """Requests in the block prepare a call, and are not part of it."""
        seen, self.seen = self.seen, Seen()
        try:
            yield
        finally:
            self.seen = seen

    def _sent(self, request):
        """Notes a request when it is sent: of two at once, either may be answered first."""
        noted = [f"{request.method} {NAMED.sub('{…}', request.url.path)}", None, ""]
        self.seen.requests.append(noted)
        return noted

    def _install(self):
        send, send_async = httpx.Client.send, httpx.AsyncClient.send

        def noted(client, request, **more):
            seen = self._sent(request)
            response = send(client, request, **more)
            seen[1:] = response.status_code, response.headers.get(CODE, "")
            return response

        async def noted_async(client, request, **more):
            seen = self._sent(request)
            response = await send_async(client, request, **more)
            seen[1:] = response.status_code, response.headers.get(CODE, "")
            return response

        httpx.Client.send, httpx.AsyncClient.send = noted, noted_async


def public_names(kind):
    """The names of a class that its users may use."""
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


def assert_classified(found, declared):
    """Every method is declared, and nothing else is."""
    assert sorted(found - declared) == [], "new methods: say how to call them and what comes of it"
    assert sorted(declared - found) == [], "declared, but the client has no such method"


def assert_table(section, rows):
    """Compares the section of the page with these rows, or writes it."""
    begin, end = f"<!-- {section} -->\n", f"<!-- end of {section} -->\n"
    lines = ["| method | call | outcome |\n", "|---|---|---|\n"]
    lines += [f"| {' | '.join(row)} |\n" for row in rows]
    page = PAGE.read_text()
    head, found, rest = page.partition(begin)
    table, closed, tail = rest.partition(end)
    assert found and closed, f"{PAGE} has no section {section}"
    if os.environ.get("EXCHANGE_BLESS") == "1":
        PAGE.write_text(head + begin + "".join(lines) + end + tail)
    else:
        assert table == "".join(lines), f"{PAGE.name} differs: run with FORETELL_BLESS=1"
