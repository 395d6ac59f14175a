#!/usr/bin/env bash
# openapi-python-client 0.29.1: of words written as `oneOf` of `const`, the generated reader takes the first alone.
#
# Exchanges in Rust describe a status so: schemars writes an enum whose variants have descriptions as `oneOf` of `const`.
# The generated code returns or raises at the first constant, and the code for the others is never reached. Generation ends
# without a warning about it. A bot that places an order with such a client gets an exception for the status `matched`,
# although the order was placed. One `enum` of the same words is read as it should be.
#
# Seen: `live` is read; `matched` raises ValueError "… must match const 'live', got 'matched'"; the enum reads both.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openapi-python-client==0.29.1
export PATH="$work/venv/bin:$PATH" # it formats with ruff, which it brings

document() { # <schema of the status>
    cat <<JSON
{"openapi": "3.1.0", "info": {"title": "venue", "version": "1"},
 "paths": {"/order": {"post": {"operationId": "placeOrder", "responses": {"200": {"description": "Placed.",
   "content": {"application/json": {"schema": {"\$ref": "#/components/schemas/Placed"}}}}}}}},
 "components": {"schemas": {"Placed": {"type": "object", "required": ["status"], "properties": {"status": $1}}}}}
JSON
}
document '{"oneOf": [{"type": "string", "const": "live", "description": "It rests."},
                     {"type": "string", "const": "matched", "description": "It traded."}]}' >of_const.json
document '{"type": "string", "enum": ["live", "matched"]}' >of_enum.json
for form in of_const of_enum; do
    venv/bin/openapi-python-client generate --path "$form.json" --output-path "$form" --meta none --fail-on-warning >"$form.log" 2>&1
done

found=$(venv/bin/python - <<'PYTHON'
import importlib

for form in ("of_const", "of_enum"):
    placed = importlib.import_module(f"{form}.models.placed").Placed
    for status in ("live", "matched"):
        try:
            placed.from_dict({"status": status})
            print(form, status, "read")
        except ValueError as error:
            print(form, status, "raised:", error)
PYTHON
)
echo "$found"
diff <(echo "$found" | sed "s/raised: .* must match/raised: must match/") <(cat <<'SEEN'
of_const live read
of_const matched raised: must match const 'live', got 'matched'
of_enum live read
of_enum matched read
SEEN
)
echo "as described"
