"""ccxt at a sandbox."""

import asyncio
from contextlib import asynccontextmanager

from ccxt.prediction import polymarket


@asynccontextmanager
async def client(sandbox, wallet, **options):
    """A stock client; only its addresses, its wallet and its builder are settings."""
    made = polymarket(
        {
            "privateKey": wallet.key,
            "walletAddress": wallet.funder,
            "options": {"signatureType": wallet.signature_type, "builder": None, **options},
        }
    )
    streams = sandbox.trading.replace("http", "ws")
    made.urls["api"] |= {
        "gamma": sandbox.catalog,
        "clob": sandbox.trading,
        "data": sandbox.data,
        "ws": f"{streams}/ws/market",
        "wsUser": f"{streams}/ws/user",
    }
    try:
        yield made
    finally:
        await made.close()


def at(sandbox, wallet, use, **options):
    """The result of an async function of a client."""

    async def run():
        async with client(sandbox, wallet, **options) as ccxt:
            return await use(ccxt)

    return asyncio.run(run())
