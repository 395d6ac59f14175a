"""Compares what the two auditors say of one journal: every field that both have must be the same.

    compare.py REPLAY.json CHECK.json
"""

import json
import sys


def key(row):
    return json.dumps(row, sort_keys=True)


def reduced(rows, fields):
    """Rows with these fields only, in an order of their own."""
    return sorted(({name: row[name] for name in fields} for row in rows), key=key)


def differences(replay, check):
    for name in ("sequence", "collateral_micros", "fee_account_micros"):
        if replay[name] != check[name]:
            yield f"{name}: {replay[name]} by re-execution, {check[name]} by the record"
    for name in ("accounts", "markets", "holdings", "orders"):
        fields = sorted({field for row in check[name] for field in row})
        ours, theirs = reduced(replay[name], fields), reduced(check[name], fields)
        missing = [row for row in ours if row not in theirs]
        added = [row for row in theirs if row not in ours]
        for row in missing:
            yield f"{name}: only by re-execution: {key(row)}"
        for row in added:
            yield f"{name}: only by the record: {key(row)}"


def main():
    replay, check = (json.load(open(path)) for path in sys.argv[1:3])
    found = list(differences(replay, check))
    for difference in found:
        print(difference, file=sys.stderr)
    if not found:
        counts = ", ".join(f"{len(check[name])} {name}" for name in ("accounts", "markets", "holdings", "orders"))
        print(f"the same up to sequence {check['sequence']}: {check['trades']} trades, {counts}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
