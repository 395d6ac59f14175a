# Sourced by run and bench: the binary, the npm modules, Chromium, and an exchange of its own.
# Sets binary, npm_tree, CHROMIUM; start_exchange sets EXCHANGE_* and ends the exchange at exit.

target=${CARGO_TARGET_DIR:-$root/target}
binary=$("$root/tests/binary" "${1:-}")

why=$("$root/tests/new_enough" node "$here/package.json") || {
    echo "skipped: $why"
    exit
}

if [[ -z ${CHROMIUM:-} ]]; then
    if ! command -v chromium >/dev/null; then
        { apt-get update --quiet=2 && apt-get install --quiet=2 --yes chromium; } >&2
    fi
    CHROMIUM=$(command -v chromium)
fi
export CHROMIUM

# The tools run on copies next to their modules, so that the checkout stays free of node_modules.
npm_tree=$target/ui-npm
mkdir -p "$npm_tree"
if ! cmp --silent "$here/package-lock.json" "$npm_tree/package-lock.json" || [[ ! -d $npm_tree/node_modules ]]; then
    cp "$here/package.json" "$here/package-lock.json" "$npm_tree"
    (cd "$npm_tree" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
fi
rm -rf "$npm_tree/tests" "$npm_tree/gateway"
mkdir -p "$npm_tree/tests" "$npm_tree/gateway"
cp -R "$here" "$npm_tree/tests/ui"
cp -R "$root/gateway/ui" "$npm_tree/gateway/ui"

work=$(mktemp -d)
up=""
finish() {
    local status=$?
    if [[ -n $up ]] && kill -TERM "$up" 2>/dev/null; then
        wait "$up" || true
    fi
    if [[ $status -ne 0 && -s $work/up.log ]]; then
        echo "--- the last lines the exchange logged" >&2
        tail -n 20 "$work/up.log" >&2
    fi
    rm -rf "$work"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

start_exchange() {
    (
        cd "$work" # a foretell.toml of the caller does not count
        unset FORETELL_CONFIG
        exec "$binary" up --demo --json --data "$work/data" --trading-listen 127.0.0.1:0 \
            --data-listen 127.0.0.1:0 --catalog-listen 127.0.0.1:0 --operator-listen 127.0.0.1:0
    ) >"$work/up.jsonl" 2>"$work/up.log" </dev/null &
    up=$!
    local deadline=$((SECONDS + 60)) line
    until line=$(grep --max-count=1 '"ready":"exchange"' "$work/up.jsonl"); do
        if ! kill -0 "$up" 2>/dev/null || ((SECONDS > deadline)); then
            echo "the exchange was not ready within a minute" >&2
            exit 1
        fi
        sleep 0.1
    done
    field() { node -p 'JSON.parse(process.argv[1])[process.argv[2]]' "$line" "$1"; }
    EXCHANGE_TRADING=$(field trading)
    EXCHANGE_OPERATOR=$(field operator)
    EXCHANGE_ADMIN=$(field admin)
    export EXCHANGE_BINARY=$binary EXCHANGE_DATA=$work/data EXCHANGE_TRADING EXCHANGE_OPERATOR EXCHANGE_ADMIN
    export NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost
}
