"""The exchange on the chain that foreign clients fix, and one market of each kind."""

import json
import os
import urllib.request

TRADING = os.environ["EXCHANGE_TRADING"]
DATA = os.environ["EXCHANGE_DATA_SURFACE"]
CATALOG = os.environ["EXCHANGE_CATALOG"]
os.environ["GAMMA_API_URL"] = CATALOG  # of NautilusTrader

# Key 0 of the development mnemonic of Hardhat and Anvil. Never fund it.
KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
WALLET = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"


def read(url):
    """The JSON of a public read."""
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


def name_of(market):
    """A market's kind, as the name of a test."""
    return f"{'neg-risk' if market['neg_risk'] else 'plain'}-{market['minimum_tick_size']}-{market['taker_base_fee']}"


def _one_of_each_kind():
    listed = read(f"{TRADING}/markets")["data"]
    open_ones = [market for market in listed if market["accepting_orders"] and not market["seconds_delay"]]
    return list({name_of(market): market for market in open_ones}.values())


MARKETS = _one_of_each_kind()
