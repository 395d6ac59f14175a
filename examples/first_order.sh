#!/usr/bin/env bash
# Places one order with curl, finds it, cancels it. sign.py signs; curl sends.
#
#   pip install eth-account
#   examples/first_order.sh
#
# It trades in the first market, by name, that accepts orders. TRADING_URL and PRIVATE_KEY, as `foretell up --demo`
# prints them, choose the exchange and the wallet; the defaults are those of the demo.
set -euo pipefail

url=${TRADING_URL:-http://127.0.0.1:8080}
# A public development key: anybody can use it. Never send anything of value to its address.
export PRIVATE_KEY=${PRIVATE_KEY:-0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80}
sign=$(dirname "${BASH_SOURCE[0]}")/sign.py

# Reads one value of a JSON text: `field EXPRESSION < text`.
field() { python3 -c 'import json, sys; it = json.load(sys.stdin); eval(f"print({sys.argv[1]})")' "$1"; }

# Sends a signed request: METHOD PATH [BODY].
signed() {
    curl -sS --fail-with-body -X "$1" "$url$2" -H @<(python3 "$sign" request "$@") \
        -H 'Content-Type: application/json' ${3:+-d "$3"}
}

market=$(curl -sS --fail-with-body "$url/markets" |
    field 'json.dumps(min((m for m in it["data"] if m["accepting_orders"]), key=lambda m: m["market_slug"]))')
token=$(field 'it["tokens"][0]["token_id"]' <<<"$market")
book=$(curl -sS --fail-with-body "$url/book?token_id=$token")
negative=$(field 'str(it["neg_risk"]).lower()' <<<"$book")
price=$(field 'it["tick_size"]' <<<"$book")
size=$(field 'it["min_order_size"]' <<<"$book")
echo "market    $(field 'it["question"]' <<<"$market")"
echo "best bid  $(field 'it["bids"][-1]["price"] if it["bids"] else "none"' <<<"$book")"

proof=$(python3 "$sign" key)
key=$(curl -sS --fail-with-body -X POST "$url/auth/api-key" -H @- <<<"$proof")
WALLET=$(sed -n 's/^POLY_ADDRESS: //p' <<<"$proof")
API_KEY=$(field 'it["apiKey"]' <<<"$key")
API_SECRET=$(field 'it["secret"]' <<<"$key")
API_PASSPHRASE=$(field 'it["passphrase"]' <<<"$key")
export WALLET API_KEY API_SECRET API_PASSPHRASE
echo "API key   $API_KEY"

# The lowest price of the market: the order rests.
placed=$(signed POST /order "$(python3 "$sign" order "$token" BUY "$price" "$size" "$negative")")
order=$(field 'it["orderID"]' <<<"$placed")
echo "placed    $order $(field 'it["status"]' <<<"$placed")"
echo "status    $(signed GET "/data/order/$order" | field 'it["order"]["status"]')"
echo "cancelled $(signed DELETE /order "{\"orderID\":\"$order\"}" | field '*it["canceled"]')"
echo "status    $(signed GET "/data/order/$order" | field 'it["order"]["status"]')"
