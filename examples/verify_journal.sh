#!/usr/bin/env bash
# Copies the journal of a running exchange and verifies the copy against a signed checkpoint.
#
#   examples/verify_journal.sh [DATA_DIRECTORY]          default: data
#
# FORETELL names the binary, TRADING_URL the exchange that signed the checkpoint.
set -euo pipefail

data=${1:-data}
foretell=${FORETELL:-target/debug/foretell}
url=${TRADING_URL:-http://127.0.0.1:8080}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# The checkpoint first: the copy must reach it.
curl -sS --fail-with-body "$url/audit/checkpoint" >"$copy/checkpoint.json"
sequence=$(sed -E 's/.*"sequence":"?([0-9]+).*/\1/' "$copy/checkpoint.json")
# The watermark before the segments: a copy that ends before its watermark looks cut.
mkdir "$copy/journal"
cp "$data/journal/watermark" "$copy/journal/"
find "$data/journal" -type f ! -name watermark -exec cp --sparse=always -t "$copy/journal" {} +
echo "copied    $(du -sh "$copy/journal" | cut -f1) from $data/journal"

"$foretell" audit --journal "$copy/journal" verify --signatures \
    --checkpoints "$copy/checkpoint.json" --checkpoint-key "$data/checkpoint.pub" && code=0 || code=$?
case $code in
    0) echo "verified  the journal, every signature, and the checkpoint of sequence $sequence" ;;
    *) echo "UNSOUND  exit code $code: docs/verify/auditing.md says what it means" ;;
esac
exit "$code"
