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
    status: int = 0
    reason: str = ""


ANSWERED = Outcome("answered")
LOCAL = Outcome("local")
STREAM = Outcome("stream", reason="a WebSocket; `test_streams.py` drives it")


def answered(reason):
    """Answered, with something to know."""
    return Outcome("answered", reason=reason)


def not_offered(reason):
    """There is nothing behind this method: 404, or the client itself stops before a request."""
    return Outcome("not offered", 404, reason)


def refused(status, reason):
    """Refused with this status, as documented."""
    return Outcome("refused", status, reason)


@dataclass
class Seen:
    """The requests of one call, and how it ended."""

    requests: list = field(default_factory=list)
    error: Exception | None = None

    @property
    def last(self):
        """Method and path, status, error code of the last request."""
        return self.requests[-1] if self.requests else (None, None, "")

    def call(self):
        """The distinct requests, in order."""
        return ", ".join(dict.fromkeys(f"`{request}`" for request, _, _ in self.requests)) or "–"

    def code(self):
        """The error code of the last answer."""
        return self.last[2]

    def shown(self):
        """What happened, for a failing test."""
        requests = [f"{request} {status}" for request, status, _ in self.requests]
        return f"{requests} {self.code()} {type(self.error).__name__}: {self.error}"

    def fits(self, wanted):
        """Whether the call did what was declared."""
        _, status, _ = self.last
        if wanted.kind == "stream":
            return True
        if wanted.kind == "local":
            return self.error is None and not self.requests
        if wanted.kind == "answered":
            fine = all(200 <= status < 300 for _, status, _ in self.requests)
            return self.error is None and bool(self.requests) and fine
        if wanted.kind == "not offered" and status is None:
            # The client stops by itself; a wrong argument of this test is no such outcome.
            return self.error is not None and not isinstance(self.error, MISTAKES)
        return status == wanted.status

    def outcome(self, wanted):
        """The last column of the table."""
        told = wanted.kind
        _, status, _ = self.last
        if status is not None and status >= 400:
            code = self.code()
            told += f": {status} `{code}`" if code else f": {status}"
        return f"{told}. {wanted.reason}" if wanted.reason else told


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

    def _note(self, request, response):
        path = NAMED.sub("{…}", request.url.path)
        self.seen.requests.append((f"{request.method} {path}", response.status_code, response.headers.get(CODE, "")))

    def _install(self):
        send, send_async = httpx.Client.send, httpx.AsyncClient.send

        def noted(client, request, **more):
            response = send(client, request, **more)
            if not more.get("stream"):
                self._note(request, response)
            return response

        async def noted_async(client, request, **more):
            response = await send_async(client, request, **more)
            if not more.get("stream"):
                self._note(request, response)
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
    if os.environ.get("FORETELL_BLESS") == "1":
        PAGE.write_text(head + begin + "".join(lines) + end + tail)
    else:
        assert table == "".join(lines), f"{PAGE.name} differs: run with FORETELL_BLESS=1"
