"""Holds reports of `foretell audit verify --json` to docs/verify/report.schema.json: each value fits, and each key is described.

    report_schema.py REPORT.json…

Implements the keywords of that schema only, so that it needs no package; an unknown keyword fails.
"""

import json
import pathlib
import re
import sys

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs/verify/report.schema.json"
TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "null": lambda value: value is None,
}
IGNORED = {"$schema", "$defs", "title", "description", "format", "items", "properties"}


def fits(keyword, limit, value):
    """Whether a value fits one keyword. Keywords of another type do not apply."""
    if keyword == "type":
        return any(TYPES[name](value) for name in ([limit] if isinstance(limit, str) else limit))
    if keyword == "enum":
        return value in limit
    if keyword == "minimum":
        return not TYPES["number"](value) or value >= limit
    if keyword == "pattern":
        return not isinstance(value, str) or re.search(limit, value) is not None
    if keyword in ("minItems", "maxItems"):
        at_least = keyword == "minItems"
        return not isinstance(value, list) or (len(value) >= limit if at_least else len(value) <= limit)
    if keyword == "required":
        return not isinstance(value, dict) or all(name in value for name in limit)
    raise ValueError(f"unknown keyword {keyword}")


def problems(value, schema, root, path="report"):
    """What does not fit, in words."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")] | {k: v for k, v in schema.items() if k != "$ref"}
    for keyword, limit in schema.items():
        if keyword not in IGNORED and not fits(keyword, limit, value):
            yield f"{path}: {value!r} does not fit {keyword} {limit!r}"
    if isinstance(value, dict):
        described = schema.get("properties", {})
        for name, inner in value.items():
            if name not in described:
                yield f"{path}.{name}: not described"
            else:
                yield from problems(inner, described[name], root, f"{path}.{name}")
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from problems(inner, schema["items"], root, f"{path}[{index}]")


def main():
    schema = json.load(open(SCHEMA))
    found = [
        f"{report}: {problem}"
        for report in sys.argv[1:]
        for problem in problems(json.load(open(report)), schema, schema)
    ]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
