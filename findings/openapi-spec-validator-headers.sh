#!/usr/bin/env bash
# openapi-spec-validator 0.9.0: a reference to a header that does not exist is valid, one to a schema is an error.
#
# A document whose answers share headers, such as the remaining requests of a rate limit, refers to them by name. After a
# header was renamed the validator still says OK, and generators of clients end with an error or leave out the answer.
#
# Seen: exit code 0 and "OK" for the header, exit code 2 and "does not exist within" for the schema.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openapi-spec-validator==0.9.0

document() { # <more of the answer>
    cat <<JSON
{"openapi": "3.1.0", "info": {"title": "venue", "version": "1"},
 "paths": {"/time": {"get": {"operationId": "time", "responses": {"200": {"description": "Now.", $1}}}}},
 "components": {"schemas": {"Known": {"type": "string"}}, "headers": {"Known": {"schema": {"type": "string"}}}}}
JSON
}
document '"headers": {"x-sequence": {"$ref": "#/components/headers/Absent"}}' >header.json
document '"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Absent"}}}' >schema.json

header=0 schema=0
venv/bin/openapi-spec-validator header.json >header.log 2>&1 || header=$?
venv/bin/openapi-spec-validator schema.json >schema.log 2>&1 || schema=$?
echo "header: exit code $header, $(head -c 60 header.log)"
echo "schema: exit code $schema, $(head -c 60 schema.log)"
((header == 0 && schema == 2))
grep --quiet "OK" header.log
grep --quiet "does not exist within" schema.log
echo "as described"
