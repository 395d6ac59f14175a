"""Every request body and every answer of the documents has an example that fits its schema."""

import json
import sys
from pathlib import Path
from urllib.parse import quote

import jsonschema_rs

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs/openapi"
BASE = "https://openapi.invalid/"


def contents(document):
    """Contents of all bodies and answers: the path of each in the document, and the content."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            here = ("paths", path, method)
            if "requestBody" in operation:
                yield from media((*here, "requestBody"), operation["requestBody"])
            for status, answer in operation["responses"].items():
                yield from media((*here, "responses", status), answer)
    for name, answer in document["components"].get("responses", {}).items():
        yield from media(("components", "responses", name), answer)


def media(path, body):
    for kind, content in body.get("content", {}).items():
        yield (*path, "content", kind), content


def examples_of(content):
    """The examples of a content."""
    return [content["example"]] if "example" in content else [one["value"] for one in content.get("examples", {}).values()]


def reference(name, path):
    """A URL of a part of a document."""
    pointer = "/".join(part.replace("~", "~0").replace("/", "~1") for part in path)
    return f"{BASE}{name}.json#/{quote(pointer, safe='/~')}"


def main():
    documents = {file.stem: json.loads(file.read_bytes()) for file in sorted(DOCUMENTS.glob("*.json"))}
    registry = jsonschema_rs.Registry([(f"{BASE}{name}.json", document) for name, document in documents.items()])
    examples, problems = 0, []
    for name, document in documents.items():
        for path, content in contents(document):
            where = f"{name}: {' '.join(path)}"
            given = examples_of(content)
            if not given:
                problems.append(f"{where} has no example")
                continue
            examples += len(given)
            schema = {"$ref": reference(name, (*path, "schema"))}
            validator = jsonschema_rs.Draft202012Validator(schema, registry=registry, validate_formats=True)
            problems += [f"{where}: {error.message}" for example in given for error in validator.iter_errors(example)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{examples} examples fit their schemas" if not problems else f"{len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
