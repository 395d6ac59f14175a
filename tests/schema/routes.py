"""Every route of the gateway is in the document of its surface, and the documents have no other.

Streams are in the AsyncAPI document; `/ws` alone and trailing slashes are other names of its channels.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SURFACES = ("trading", "data", "catalog", "operator", "page")
# The page mounts routes of these surfaces; their documents describe them.
MOUNTED = {"data": "/ui/api/data", "catalog": "/ui/api/catalog"}
# `get("/book", …`
ROUTE = re.compile(r'\b(get|read|list|post|query|delete|batch)\(\s*"([^"]+)"')
METHODS = {"read": ["get"], "list": ["get"], "query": ["post"], "batch": ["get", "post"]}
# `command(Deposit, …`, and where a command's path stands.
COMMAND = re.compile(r"\bcommand\(\s*(\w+),")
COMMANDS = re.compile(r'^    (\w+)\(.+\) at "([^"]+)";', re.MULTILINE)


def shape(path):
    """A path without the names of what varies in it."""
    return re.sub(r"\{[^}]*\}", "{}", path)


def of_gateway(name):
    """Routes of a table of the gateway."""
    table = (ROOT / f"gateway/src/routes/{name}.rs").read_text()
    routes = {(method, shape(path)) for word, path in ROUTE.findall(table) for method in METHODS.get(word, [word])}
    commands = dict(COMMANDS.findall((ROOT / "gateway/wire/src/operator/request.rs").read_text()))
    routes |= {("post", commands[kind]) for kind in COMMAND.findall(table)}
    if name == "operator":
        routes |= {("get", "/livez"), ("get", "/readyz"), ("post", "/snapshot")}
    return routes


def mounted(routes, prefix):
    """Those of the page's routes that are of another surface, as that surface names them."""
    return {(method, path.removeprefix(prefix)) for method, path in routes if path.startswith(prefix + "/")}


def channels():
    """Addresses of the AsyncAPI document."""
    text = (ROOT / "docs/asyncapi/streams.yaml").read_text()
    return set(re.findall(r"^    address: (/\S+)$", text, re.MULTILINE))


def of_document(name):
    """Operations of a document: its paths stand two spaces in, their methods four."""
    text = (ROOT / f"docs/openapi/{name}.yaml").read_text()
    paths = text.split("\npaths:\n", 1)[1].split("\ncomponents:\n", 1)[0]
    found, path = set(), None
    for line in paths.splitlines():
        if match := re.match(r"  (/[^ ]*):$", line):
            path = shape(match[1])
        elif match := re.match(r"    (get|post|delete):$", line):
            found.add((match[1], path))
    return found


def main():
    differs = False
    for name in SURFACES:
        routes, documented = of_gateway(name), of_document(name)
        if name == "page":
            for surface, prefix in MOUNTED.items():
                for method, path in sorted(mounted(routes, prefix) - of_document(surface)):
                    print(f"page: {method} {prefix}{path} is not in docs/openapi/{surface}.yaml", file=sys.stderr)
                    differs = True
            routes = {route for route in routes if not route[1].startswith(tuple(MOUNTED.values()))}
        assert len(routes) > 5, f"the table of {name} was not found"
        for method, path in sorted(routes - documented):
            print(f"{name}: {method} {path} is not in docs/openapi/{name}.yaml", file=sys.stderr)
        for method, path in sorted(documented - routes):
            print(f"{name}: {method} {path} is documented, and no route", file=sys.stderr)
        differs |= routes != documented
    streams = {path.rstrip("/") for _, path in of_gateway("streams")} - {"/ws"}
    for path in sorted(streams ^ channels()):
        print(f"streams: {path} is not both a route and in docs/asyncapi/streams.yaml", file=sys.stderr)
    return differs or streams != channels()


if __name__ == "__main__":
    sys.exit(main())
