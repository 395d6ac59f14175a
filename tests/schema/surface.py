"""A surface that is asked, and whose answers are held against its document."""

import json
from collections import Counter
from copy import deepcopy
from pathlib import Path

import requests
import schemathesis
from schemathesis.checks import load_all_checks
from schemathesis.core.failures import FailureGroup
from schemathesis.openapi.checks import JsonSchemaError
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from exchange import URLS

load_all_checks()
DOCUMENTS = Path(__file__).resolve().parents[2] / "docs" / "openapi"
CHECKS = (
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
# Fields whose content is somebody else's, or a command's.
FOREIGN = {"raw_metadata", "eventMetadata", "fields"}
# Objects whose keys are what was asked for.
BY_KEY = {"allowances", "not_canceled", "history", "closes"}
# Records of the catalog have every field of their source; these are always there.
OF_A_RECORD = {"conditionId", "ticker"}
OF_EVERY_RECORD = {"id", "slug", "title", "question", "conditionId", "outcomes", "clobTokenIds", "active", "closed", "archived"}
# Fields of a holder, on request.
PROFITS = {"avg_price", "entry_cost_usdc", "current_price", "current_value", "realized_pnl", "unrealized_pnl", "total_pnl"}
# Fields that an answer may leave out.
OPTIONAL = {"duplicate", "error", "code", "revokedAt", "BUY", "SELL", "number", "cancelled", "eventId", "payout", "next_cursor", "already_paid"}
OPTIONAL |= {"negativeRisk", "rank", "rank_pnl", "rank_volume", "dt", "date", *PROFITS}
OPTIONAL |= {"startDate", "endDate", "creationDate", "createdAt", "updatedAt", "waits", "settled_at", "sandbox"}
# Those that only the object of this name may leave out.
OPTIONAL_OF = {
    "happened": {"order", "market", "detail"},
    # Of a question of an event, which the first market of a list may be.
    "data": {"question_index"},
    "rejections": {"met"},
    "life": {"opens_at", "closes_at", "game_start_time", "proposal", "settlement"},
    "proposal": {"evidence", "counter"},
    "dispute": {"counter", "counter_outcome"},
    None: {"outcome", "next"},
    "acts": {"condition_id", "outcomes", "subject"},
    "proposals": {"dispute"},
    "operators": {"revoked"},
    "markets": {"policy", "terms"},
    # Answers show settings as the change that sets them all.
    "payments": {"withdrawal_limit", "rebates_daily"},
    "policy": {"proposers", "disputers", "minimum_window_seconds", "second_person", "by_time"},
    "terms": {"opens_at", "closes_at", "game_start_time", "clear_book_on_start", "taker_delay_ms", "rebate_ppm"},
}
# Those that the answer of this path may leave out, because others have its type.
OPTIONAL_AT = {
    "/sandbox/orders/{order_id}": {"met"},
    "/markets": {"status", "condition_id", "token_ids"},
    "/events": {"event_id"},
    "/markets/{condition_id}": {"life"},
    "/quotes": {"kept", "reduced", "placed", "ended", "refused", "orders"},
}


class Surface:
    """One surface: asks it, and holds what it answers against its document."""

    def __init__(self, name):
        self.name, self.url = name, URLS[name]
        self.document = schemathesis.openapi.from_path(DOCUMENTS / f"{name}.json")
        self.operations = {}
        for found in self.document.get_all_operations():
            operation = found.ok()
            self.operations[operation.method.upper(), operation.path] = operation
        self.seen = Counter()
        self.good = {}

    def ask(self, method, path, status=200, *, query=None, body=None, auth=None, headers=None, **parts):
        """Sends a request; its answer must have the status, unless that is None, and the form of its document."""
        operation = self.operations[method, path]
        more = {} if body is None else {"body": body, "media_type": "application/json"}
        case = operation.Case(path_parameters=parts, query=query or {}, headers=headers or {}, **more)
        url = self.url + path.format(**parts)
        sent = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        more = {"Content-Type": "application/json"} if sent is not None else {}
        answer = requests.request(
            method,
            url,
            params=query,
            data=sent,
            auth=auth,
            headers={**(headers or {}), **more},
            timeout=60,
            allow_redirects=False,
        )
        if status is not None:
            assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        case.validate_response(answer, checks=list(CHECKS))
        self.seen[method, path, answer.status_code] += 1
        is_json = "json" in answer.headers.get("Content-Type", "")
        content = answer.json() if is_json else answer.text
        if answer.status_code == 200 and weight(content) >= weight(self.good.get((method, path), (None, None, 0))[2]):
            self.good[method, path] = case, answer, content
        return content

    def get(self, path, status=200, **more):
        return self.ask("GET", path, status, **more)

    def post(self, path, body=None, status=200, **more):
        return self.ask("POST", path, status, body=body, **more)

    def put(self, path, body=None, status=200, **more):
        return self.ask("PUT", path, status, body=body, **more)

    def delete(self, path, body=None, status=200, **more):
        return self.ask("DELETE", path, status, body=body, **more)

    def never_good(self):
        """Operations whose 200 is documented and was not seen."""
        documented = self.document.raw_schema["paths"]
        return [
            f"{self.name}: {method} {path}"
            for method, path in self.operations
            if (method, path) not in self.good and "200" in documented[path][method.lower()]["responses"]
        ]

    def loose(self):
        """Operations at which an answer with a field too many or too few passed."""
        found = []
        for (method, path), (case, answer, content) in self.good.items():
            if path == "/openapi.json":  # any object
                continue
            for change, altered in lies(content, self.name == "catalog", OPTIONAL_AT.get(path, ())):
                if accepts(case, answer, altered):
                    found.append(f"{self.name}: {method} {path} {change}")
        return found


def weight(content):
    """How much an answer shows: the one with most is kept."""
    return len(json.dumps(content))


def lies(content, has_records, optional):
    """The content with a field too many, and with each field too few, at every depth."""
    for place, inner in objects(content, ()):
        holder = next((step for step in reversed(place) if isinstance(step, str)), None)
        is_record = has_records and (holder == "feeSchedule" or not OF_A_RECORD.isdisjoint(inner))
        if not is_record:
            altered = deepcopy(content)
            at(altered, place)["unheard_of"] = 1
            yield f"with a field added at {place}", altered
        for name in inner:
            if name in OPTIONAL or name in OPTIONAL_OF.get(holder, ()) or not place and name in optional:
                continue
            if is_record and name not in OF_EVERY_RECORD:
                continue
            altered = deepcopy(content)
            del at(altered, place)[name]
            yield f"without {name} at {place}", altered


def objects(content, place):
    """Objects with fields of our own: the first of each list."""
    if isinstance(content, list):
        for inner in content[:1]:
            yield from objects(inner, (*place, 0))
    elif isinstance(content, dict):
        keyed = place and place[-1] in BY_KEY or any(key[:1].isdigit() or key[:2] == "0x" for key in content)
        if not keyed:
            yield place, content
        for name, inner in content.items():
            if name not in FOREIGN:
                yield from objects(inner, (*place, name))


def at(content, place):
    for step in place:
        content = content[step]
    return content


def accepts(case, answer, content):
    """Whether the document takes an answer with other content."""
    answer._content = json.dumps(content).encode()
    try:
        case.validate_response(answer, checks=[response_schema_conformance])
    except FailureGroup as found:
        assert all(isinstance(failure, JsonSchemaError) for failure in found.exceptions), found
        return False
    return True
