"""What schemathesis cannot know of the exchange: who signs, and which sequences exist.

Loaded by `schemathesis run` (SCHEMATHESIS_HOOKS) for each of the documents.
"""

import math
from functools import cached_property
from urllib.parse import urlencode, urlsplit

import requests
import schemathesis

from exchange import ALICE, BOB, DAVE, L1, L2, URLS, Token, Wallet, word

ISSUING = {("POST", "/auth/api-key"), ("GET", "/auth/derive-api-key")}
REVOKING = {("DELETE", "/auth/api-key"), ("DELETE", "/auth/api-keys")}
PLACING = ("POST", "/order")
REPLACING = ("POST", "/replace")
QUOTING = ("POST", "/quotes")
CHANGING_MODE = ("POST", "/system/mode")
# Fields of a generated order that are kept when it is signed.
KEPT = ("salt", "metadata", "builder", "expiration")
# Headers that are parameters, and not credentials.
PARAMETERS = {"x-min-sequence", "x-chain-id", "service_nonce"}
WRONG_REQUEST_TAKEN = "ST201"
# The state the run begins with is past this sequence.
KNOWN_SEQUENCE = 50
# Bytes of a query below which the head's bound of 16 KiB refuses nothing.
SHORT_QUERY = 9_000


@schemathesis.hook
def filter_query(context, query):
    """Leaves out queries that no schema bounds: the head's bound refuses them with 431."""
    return not isinstance(query, dict) or len(urlencode(query, doseq=True)) <= SHORT_QUERY


class Signer(requests.auth.AuthBase):
    """Signs each request as its operation wants it. The key that is revoked is one of its own."""

    @cached_property
    def caller(self):
        return Wallet(ALICE).connect()

    @cached_property
    def leaving(self):
        return Wallet(DAVE).connect()

    @cached_property
    def token(self):
        """A token that anybody may trade."""
        markets = requests.get(URLS["trading"] + "/markets", timeout=60).json()["data"]
        return next(market["tokens"][0]["token_id"] for market in markets if not market["neg_risk"])

    @cached_property
    def domain(self):
        return requests.get(URLS["trading"] + "/quotes/domain", timeout=60).json()

    @cached_property
    def condition(self):
        markets = requests.get(URLS["trading"] + "/markets", timeout=60).json()["data"]
        return next(market["condition_id"] for market in markets if not market["neg_risk"])

    def __call__(self, request):
        if request.url.startswith(URLS["operator"]):
            return Token()(request)
        operation = request.method, urlsplit(request.url).path
        if operation in ISSUING:
            nonce = str(request.headers.get("SERVICE_NONCE", "0"))
            right = nonce.isascii() and nonce.isdigit() and len(nonce) <= 77
            L1(Wallet(BOB, int(nonce) if right else 0))(request)
            request.headers["SERVICE_NONCE"] = nonce
            return request
        return L2(self.leaving if operation in REVOKING else self.caller)(request)

    def order(self, generated):
        """A generated submission made good: the caller's, of a token that exists, signed now."""
        order = generated["order"]
        kept = {name: order[name] for name in KEPT if order.get(name) is not None}
        amounts = order["makerAmount"], order["takerAmount"]
        terms = {name: value for name, value in generated.items() if name not in ("order", "owner")}
        return self.caller.order(self.token, order["side"], *amounts, terms=terms, **kept)

    def quotes(self, generated):
        """A generated set made good: the caller's bids in a market that exists, as many as its words, signed now."""
        numbers = enumerate(int(text, 16) for text in generated["set"]["quotes"])
        words = [word(index % 2, 0, 100 * (1 + index // 2), 1_000 + number % 1_000) for index, number in numbers]
        return self.caller.quotes(self.domain, [self.condition], words, group=generated["set"]["group"])

    def revoked(self):
        """The next key of the wallet whose key is gone."""
        self.leaving = Wallet(DAVE, self.leaving.nonce + 1).connect()


signer = Signer()
needs_credentials = schemathesis.auth.set_from_requests(signer)
needs_credentials.apply_to(lambda context: bool(context.operation.definition.raw.get("security")))


def operation_of(case):
    return case.operation.method.upper(), case.operation.path


def wrong_parts(case):
    """Which parts of a case were made wrong."""
    return {location.name for location, part in case.meta.components.items() if part.mode.is_negative}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Signs orders and sets of quotes; asks for sequences that were reached: any other is waited for, and then a 503.
    Trading goes on: any other mode would reject the requests of the other surfaces."""
    if operation_of(case) == PLACING and not wrong_parts(case):
        case.body = signer.order(case.body)
    if operation_of(case) == REPLACING and not wrong_parts(case):
        case.body = {**case.body, "place": [signer.order(order) for order in case.body.get("place") or ()]}
    if operation_of(case) == QUOTING and not wrong_parts(case):
        case.body = signer.quotes(case.body)
    if operation_of(case) == CHANGING_MODE and not wrong_parts(case):
        case.body = {"mode": "running"}
    value = str((case.headers or {}).get("x-min-sequence", ""))
    if value.isascii() and value.isdigit():
        case.headers["x-min-sequence"] = str(int(value) % KNOWN_SEQUENCE)


@schemathesis.hook
def after_call(context, case, response):
    if operation_of(case) in REVOKING and response.status_code == 200:
        signer.revoked()


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Keeps a failure, unless the wrong request that was taken was not wrong as it was sent."""
    if failure.code != WRONG_REQUEST_TAKEN:
        return True
    return not (had_its_credentials(case) or was_a_text(case) or was_a_batch(case) or was_an_rpc_error(case, response))


def had_its_credentials(case):
    """Wrong were only headers that the signer replaced, or that nobody reads."""
    values = [str(value) for name, value in (case.headers or {}).items() if name.lower() in PARAMETERS]
    return wrong_parts(case) == {"HEADER"} and all(value.isascii() and value.isdigit() for value in values)


def was_a_text(case):
    """What is wrong is a number in place of a list of texts, which is a text as it is sent."""
    lists = {one.name for one in case.operation.query if one.definition.get("schema", {}).get("items", {}).get("type") == "string"}
    numbers = {name for name, value in (case.query or {}).items() if is_number(value)}
    return wrong_parts(case) == {"QUERY"} and bool(numbers & lists)


def is_number(value):
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


def was_a_batch(case):
    """What is wrong with one order of a batch is told in its result, under a status of 200."""
    return operation_of(case) == ("POST", "/orders") and isinstance(case.body, list) and 1 <= len(case.body) <= 15


def was_an_rpc_error(case, response):
    """JSON-RPC reports a wrong call in the field `error`, under a status of 200."""
    return operation_of(case) == ("POST", "/ui/wallet") and "error" in response.json()
