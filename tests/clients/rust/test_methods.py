"""Every method of the Rust clients, called against a running exchange that lists own markets, imported ones and
questions of an event. Their models refuse an answer, and with it a whole list, for one field that is missing.

The program of this folder makes a call for each line that it reads, and says how it ended; here are the requests, and
the tables.
"""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from eth_account import Account
from exchange import TRADING, deposit, eventually, operate
from outcomes import Outcome, Recorder, assert_classified, assert_table
from py_clob_client_v2.client import ClobClient
from py_clob_client_v2.clob_types import OrderArgs
from py_clob_client_v2.signing.eip712 import sign_clob_auth_message
from recorder import forwarder

CHAIN = 137
SURFACES = {
    "trading": TRADING,
    "data": os.environ["EXCHANGE_DATA_SURFACE"],
    "catalog": os.environ["EXCHANGE_CATALOG"],
}
RECORDS = Path(os.environ["EXCHANGE_RECORDS"])
BUILDER = "0x" + "00" * 12 + "bd" * 20
FEE = {"fee": {"rate_ppm": 40_000, "exponent": 1}, "rebate_ppm": 250_000}
# The crate of each client, and the section of its table.
CRATES = {"polyoxide": "polyoxide-polymarket", "sdk": "polymarket_client_sdk_v2"}
# Not a request, but what a type that makes requests is made with, or what it is.
OF_BUILDERS = {"as_str", "known_tier"}
# How a user reaches a type of polyoxide where its file is named otherwise.
NAMESPACES = {
    "clob/api/account.rs AccountApi": "clob.account_api",
    "clob/api/rewards.rs PublicRewards": "clob.public_rewards",
    "data/api/users.rs UserApi": "data.user",
    "data/client.rs Traded": "data.traded",
    "clob/client.rs Clob": "clob",
}
IMPLEMENTATION = re.compile(r"^impl(?:<[^\n]*>)? (\w+)[^\n]*\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(r"^    pub (async )?fn (\w+)", re.MULTILINE)


def sources(crate):
    """The files of a crate's sources, as the build has them, by their path."""
    here = Path(__file__).parent
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--offline"]
    printed = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True, timeout=60).stdout
    packages = json.loads(printed)["packages"]
    [manifest] = [package["manifest_path"] for package in packages if package["name"] == crate]
    root = Path(manifest).parent / "src"
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.rs")}


def functions(text):
    """The public functions of each type in a file: whether they are asynchronous, and their names."""
    product = text.partition("#[cfg(test)]\nmod tests")[0]
    return [(of, FUNCTION.findall(body)) for of, body in IMPLEMENTATION.findall(product)]


def methods_of_polyoxide():
    """What makes requests: the functions of namespaces, and the asynchronous ones of clients."""
    found = set()
    for path, text in sources(CRATES["polyoxide"]).items():
        is_client = re.fullmatch(r"(clob|gamma|data)/client\.rs", path)
        if not is_client and not re.match(r"(clob|gamma|data)/(v2/)?api/", path):
            continue
        surface, file = path.split("/")[0], Path(path).stem
        usual = f"{surface}.v2" if "/v2/" in path else f"{surface}.{file}"
        for of, names in functions(text):
            if is_client and not any(is_async for is_async, _ in names):
                continue
            if not is_client and "send" in {name for _, name in names}:
                continue
            reached = NAMESPACES.get(f"{path} {of}", usual)
            found |= {f"{reached}.{name}" for is_async, name in names if is_async or not is_client}
    return {name for name in found if name.rpartition(".")[2] not in OF_BUILDERS}


def methods_of_the_sdk():
    """The asynchronous functions of the clients of its three surfaces, without those of a feature that is off."""
    found = set()
    for path, text in sources(CRATES["sdk"]).items():
        if path in ("clob/client.rs", "data/client.rs", "gamma/client.rs"):
            names = [name for _, names in functions(text) for is_async, name in names if is_async]
            found |= {f"{path.partition('/')[0]}.{name}" for name in names}
    return found - {"clob.stop_heartbeats"}


def clob(key):
    """A client that prepares what calls need, and its wallet."""
    client = ClobClient(TRADING, CHAIN, key=key)
    client.set_api_creds(client.create_or_derive_api_key())
    deposit(client.get_address(), 10_000)
    return client


def registered(path, **fields):
    """An own market; the words of its slug are its question."""
    words = {"question": f"Is {fields['slug']} read?", "end_date": "2030-01-01T00:00:00Z"}
    path.write_text(json.dumps({**words, **fields}))
    operate("market", "register", str(path))


def listed(catalog, **query):
    """The first market of the catalog with these fields, when it takes orders."""
    rows = eventually(
        lambda: catalog.get("/markets", params=query).json(), lambda rows: rows and rows[0]["acceptingOrders"]
    )
    return rows[0]


def group_of(path, catalog, number):
    """An event with two questions."""
    operate("market", "event", str(number), f"Which question of {number} is read?")
    slugs = [f"question-{letter}-{number}" for letter in "ab"]
    for slug in slugs:
        registered(path, slug=slug, event_id=number)
    for slug in slugs:
        operate("market", "activate", slug)
    market = listed(catalog, slug=slugs[0])
    event = market["events"][0]
    return {"id": event["id"], "slug": event["slug"], "title": event["title"], "market": market["id"]}


def record_of():
    """The event of the tests' fixtures, imported."""
    operate("catalog", "import", str(RECORDS))
    [event] = json.loads(RECORDS.read_text())
    [tag], [series], [market] = event["tags"], event["series"], event["markets"]
    return {
        "id": event["id"], "slug": event["slug"], "title": event["title"], "market": market["id"],
        "market_slug": market["slug"], "tag": tag["id"], "tag_slug": tag["slug"], "series": series["id"],
    }  # fmt: skip


def buy(client, token, price, size):
    """An order that is accepted."""
    order = client.create_order(
        OrderArgs(token_id=token, price=price, size=size, side="BUY", builder_code=BUILDER)
    )
    assert client.post_order(order)["success"]


def prepared(path, surfaces):
    """Markets of every kind, a book with both sides, a trade of a builder's orders with a rebate, and a profile."""
    number = time.time_ns() // 1_000
    catalog = httpx.Client(base_url=SURFACES["catalog"], timeout=30)
    key = Account.create().key.hex()
    client, maker = clob(key), clob(Account.create().key.hex())
    registered(path, slug=f"own-{number}", **FEE)
    market = listed(catalog, slug=f"own-{number}")
    yes, no = json.loads(market["clobTokenIds"])
    # The second meets the first, so that there is a trade; the others rest.
    for trader, token, price, size in [
        (maker, yes, 0.4, 50), (client, no, 0.6, 50), (maker, yes, 0.45, 1_000), (maker, no, 0.45, 1_000),
    ]:  # fmt: skip
        buy(trader, token, price, size)
    wallet, name, creds = client.get_address(), f"Reader {number}", client.creds
    operate("profile", "set", wallet, "--name", name)
    stamp = int(time.time())
    facts = {
        "surfaces": surfaces, "direct": SURFACES, "absent": f"{surfaces['trading']}/absent",
        "key": f"0x{key.removeprefix('0x')}", "wallet": wallet, "name": name, "builder": BUILDER,
        "api": {"key": creds.api_key, "secret": creds.api_secret, "passphrase": creds.api_passphrase},
        "signature": {"timestamp": stamp, "text": sign_clob_auth_message(client.signer, stamp, 0)},
        "maker": maker.get_address(), "day": time.strftime("%Y-%m-%d", time.gmtime()),
        "market": {
            "id": market["id"], "event": market["events"][0]["id"],
            "condition": market["conditionId"], "yes": yes, "no": no,
        },
        "group": group_of(path, catalog, number), "record": record_of(),
    }  # fmt: skip
    held = {"user": wallet}
    eventually(lambda: httpx.get(f"{SURFACES['data']}/positions", params=held).json(), len)
    return facts, [client, maker]


def drive(program, client, facts, recorder):
    """What every method of a client did: its declared outcome, and what it did, by its name."""
    with subprocess.Popen([program, client], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def say(line):
            print(line, file=process.stdin, flush=True)
            answer = process.stdout.readline()
            assert answer, f"the program ended with {process.wait()}"
            return json.loads(answer)

        methods = {}
        for name in say(json.dumps(facts)):
            with recorder.recording() as record:
                line = say(name)
            assert line["method"] == name
            if "mistake" in line:
                record.error = AssertionError(line["mistake"])
            elif "error" in line:
                record.error = RuntimeError(line["error"])
            methods[name] = (Outcome(line["kind"], reason=line["reason"]), record)
        process.stdin.close()
    return methods


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    """What every method of every client did."""
    recorder = Recorder()
    surfaces = {name: forwarder(address) for name, address in SURFACES.items()}
    path = tmp_path_factory.mktemp("rust") / "market.json"
    program, done = os.environ["EXCHANGE_RUST_CLIENTS"], {}
    for client in CRATES:
        facts, traders = prepared(path, surfaces)
        done[client] = drive(program, client, facts, recorder)
        for trader in traders:
            trader.cancel_all()
    return done


@pytest.mark.parametrize(("client", "found"), [("polyoxide", methods_of_polyoxide), ("sdk", methods_of_the_sdk)])
def test_every_method_is_called(driven, client, found):
    assert_classified(found(), set(driven[client]))


@pytest.mark.parametrize("client", CRATES)
def test_every_method_does_what_is_said_of_it(driven, client):
    wrong = [
        f"{name}: {outcome.kind}: {record.shown()}"
        for name, (outcome, record) in driven[client].items()
        if not record.fits(outcome)
    ]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize("client", CRATES)
def test_the_table_of_outcomes_is_in_the_documentation(driven, client):
    rows = [
        (f"`{name}`", record.call(), record.outcome(outcome)) for name, (outcome, record) in sorted(driven[client].items())
    ]
    assert_table(CRATES[client], rows)
