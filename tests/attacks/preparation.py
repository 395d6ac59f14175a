"""What stands before a run: markets, funded and unfunded wallets, API keys, and a costly history."""

import asyncio
import hashlib
import json
import os

from client import Client
from wallets import Wallet, body_of, request, signed_request

# Markets in the lists: about 1.3 KB each in /sampling-markets.
MARKETS = 525
TRADERS, TAKERS, UNFUNDED, DOLLAR_KEYS, OWNERS = 4, 10, 14, 16, 8
# Own orders of the attacker, and fills of one lot each.
MAKER_ORDERS, FILLS = 40, 500
BATCH = 15
# Keys that one address may make within ten seconds, with some to spare.
KEYS_PER_ADDRESS = 15


def number_of(name):
    return hashlib.sha256(name.encode()).hexdigest()


def market_of(number):
    """A plain market; its ids follow from its number."""
    slug = f"attack-{number}"
    tokens = [str(int(number_of(f"{slug} {outcome}"), 16)) for outcome in ("yes", "no")]
    return {
        "condition_id": "0x" + number_of(slug),
        "token_ids": tokens,
        "question": f"Will the attack of day {number} be noticed by anybody who trades here?",
        "slug": slug,
        "outcomes": ["Yes", "No"],
        "tick_size": "0.01",
        "minimum_order_size": "5",
    }


def register(exchange, count):
    """Registers markets; returns them as clients need them."""
    markets = [market_of(number) for number in range(count)]
    for market in markets:
        exchange.operate("POST", "/markets", market)
    return [{"condition_id": market["condition_id"], "tokens": market["token_ids"]} for market in markets]


def deposit(exchange, wallet, amount):
    transfer = {"wallet": wallet.address, "amount": amount, "reference": f"attack run {wallet.address[2:14]}"}
    exchange.operate("POST", "/accounts/deposit", transfer)


async def good(client, data):
    """The JSON of an answer that must be 200."""
    status, body = await client.ask(data)
    if status != 200:
        raise SystemExit(f"preparation: {data[:60]!r} was answered {status} {body[:300]!r}")
    return json.loads(body)


async def issue_keys(address, wallets, network="127.0.2", per_address=KEYS_PER_ADDRESS):
    """An API key for each wallet, few from each source address of the network: keys are capped by address."""
    for index, wallet in enumerate(wallets):
        if index % per_address == 0:
            client = Client(f"{network}.{1 + index // per_address}", address)
        wallet.take_key(await good(client, request("POST", "/auth/api-key", wallet.l1())))


async def signing_domain(client, name):
    """The domain that `quotes` or `withdrawals` are signed for."""
    return await good(client, request("GET", f"/{name}/domain"))


async def make_history(address, maker, takers, market):
    """Orders of the maker that rest, each with 500 fills of one lot: prices rise, so each is the best bid once."""
    token = market["tokens"][0]
    making = Client("127.0.3.1", address)
    for index in range(MAKER_ORDERS):
        taker, taking = takers[index % len(takers)], Client(f"127.0.3.{2 + index}", address)
        if index < len(takers):
            split = body_of({"conditionId": market["condition_id"], "amount": "50000000", "reference": "history"})
            await good(taking, signed_request(taker, "POST", "/positions/split", split))
        order = body_of(maker.buy(token, 1 + index, 1_000))
        await good(making, signed_request(maker, "POST", "/order", order))
        left = FILLS
        while left:
            batches = []
            while left and len(batches) < 4:
                count = min(BATCH, left)
                orders = [taker.sell(token, 1, 1, "FAK") for _ in range(count)]
                batches.append(good(taking, signed_request(taker, "POST", "/orders", body_of(orders))))
                left -= count
            for results in await asyncio.gather(*batches):
                assert all(result["status"] == "matched" for result in results), results


def prepare(exchange, path, history=True):
    """Makes everything and writes the site's description for honest clients and the attacker."""
    markets = register(exchange, MARKETS)
    named = lambda name, count: [Wallet.new(f"{name} {number}") for number in range(count)]  # noqa: E731
    traders, takers, unfunded = named("trader", TRADERS), named("taker", TAKERS), named("unfunded", UNFUNDED)
    switch, maker = Wallet.new("switch"), Wallet.new("maker")
    dollar = [Wallet.new("dollar", nonce) for nonce in range(DOLLAR_KEYS)]
    for wallet in (*traders, switch):
        deposit(exchange, wallet, "100000")
    for wallet in (maker, *takers):
        deposit(exchange, wallet, "1000")
    deposit(exchange, dollar[0], "1")
    owners = named("owner", OWNERS)
    for wallet in owners:
        deposit(exchange, wallet, "6.4")
    address = exchange.addresses["trading"]
    asyncio.run(issue_keys(address, [*traders, switch, maker, *takers, *unfunded, *dollar, *owners]))
    domain = asyncio.run(signing_domain(Client("127.0.2.1", address), "quotes"))
    if history:
        asyncio.run(make_history(address, maker, takers, markets[-3]))
    site = {
        "addresses": exchange.addresses,
        "token": exchange.token,
        "markets": [*markets[: TRADERS // 2], markets[-4]],
        "paused": markets[-1],
        "quiet": markets[-2],
        "traders": [wallet.save() for wallet in traders],
        "switch": switch.save(),
        "maker": maker.save(),
        "takers": [wallet.save() for wallet in takers],
        "unfunded": [wallet.save() for wallet in unfunded],
        "dollar": [wallet.save() for wallet in dollar],
        "owners": [wallet.save() for wallet in owners],
        "quotes_domain": domain,
    }
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump(site, file)
    return site
