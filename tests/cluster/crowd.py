"""Deposits one unit to each of many wallets. It runs where the operator's listener is.

    crowd.py TOKEN_FILE COUNT
"""

import concurrent.futures
import http.client
import json
import sys
from pathlib import Path

THREADS = 32


def deposit_all(token, numbers):
    connection = http.client.HTTPConnection("127.0.0.1", 8090, timeout=30)
    for number in numbers:
        body = {"wallet": f"0xc0ffee{number:034x}", "amount": "1", "reference": f"crowd {number}"}
        fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request("POST", "/accounts/deposit", json.dumps(body), fields)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"deposit {number}: {answer.status} {text!r}")


def main():
    token, count = Path(sys.argv[1]).read_text().strip(), int(sys.argv[2])
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda first: deposit_all(token, range(first, count, THREADS)), range(THREADS)))


if __name__ == "__main__":
    main()
