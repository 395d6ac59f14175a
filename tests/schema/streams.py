"""The AsyncAPI document of the streams: it holds by itself, and messages are held against it.

Run alone it checks the document: against AsyncAPI's own schema where ASYNCAPI_SCHEMA names that file, that every
message is sent or received by an operation, and that every example fits its schema.
"""

import json
import os
import sys
from collections import Counter
from copy import deepcopy
from pathlib import Path

import jsonschema_rs
import yaml

FILE = Path(__file__).resolve().parents[2] / "docs/asyncapi/streams.yaml"
BASE = "https://asyncapi.invalid/streams.yaml"
# Fields that a message may leave out.
OPTIONAL = {
    "event_message", "description", "assets", "markets", "cancel_on_disconnect", "from", "to", "reason", "oldest_resume", "receipt", "terms",
}
# An asked-for book is no link of the chain.
NO_LINK = {"book"}


class Document:
    """The document, and the messages that were held against it."""

    def __init__(self):
        self.content = yaml.safe_load(FILE.read_text())
        self.registry = jsonschema_rs.Registry([(BASE, self.content)], draft=jsonschema_rs.Draft7)
        self.messages = self.content["components"]["messages"]
        self.validators = {name: self.validator(name) for name in self.messages}
        self.seen = Counter()
        self.good = {}

    def validator(self, name):
        schema = {"$ref": f"{BASE}#/components/messages/{name}/payload"}
        return jsonschema_rs.Draft7Validator(schema, registry=self.registry, validate_formats=True)

    def of(self, action):
        """(channel, message) pairs that the server sends or receives."""
        for operation in self.content["operations"].values():
            if operation["action"] == action:
                for message in operation["messages"]:
                    _, _, channel, _, name = message["$ref"].split("/")
                    yield channel, name

    def hold(self, channel, text):
        """Checks a text that the server sent on a channel; returns its objects, `PONG` as it is."""
        content = text if text == "PONG" else json.loads(text)
        if isinstance(content, list):
            self.seen[channel, "books"] += 1
            assert content and all(book["event_type"] == "book" for book in content), text
            return [self.check(channel, "book", book, text.removeprefix("[")) for book in content]
        return [self.check(channel, "pong" if text == "PONG" else content["event_type"], content, text)]

    def check(self, channel, name, content, text):
        """Checks a message that has this name."""
        assert (channel, name) in set(self.of("send")), f"{channel}: {name} is not in the document: {text}"
        problems = [f"{list(error.instance_path)}: {error.message}" for error in self.validators[name].iter_errors(content)]
        assert not problems, f"{channel}: {name}: {'; '.join(problems)}\n{text}"
        assert text == "PONG" or text.startswith('{"event_type":'), f"event_type is not the first field: {text}"
        self.seen[channel, name] += 1
        if name not in self.good or len(text) > len(json.dumps(self.good[name])):
            self.good[name] = content
        return content

    def never_seen(self):
        """Messages that the server should send, and has not sent."""
        return [f"{channel}: {name}" for channel, name in self.of("send") if not self.seen[channel, name]]

    def loose(self):
        """Messages that would pass with a field too many or too few."""
        for name, content in self.good.items():
            for change, altered in lies(content):
                if self.validators[name].is_valid(altered):
                    yield f"{name} {change}"

    def problems(self):
        """What is wrong with the document itself."""
        if "ASYNCAPI_SCHEMA" in os.environ:
            schema = json.loads(Path(os.environ["ASYNCAPI_SCHEMA"]).read_text())
            for error in jsonschema_rs.Draft7Validator(schema).iter_errors(self.content):
                yield f"{list(error.instance_path)}: {error.message[:300]}"
        used = {name for action in ("send", "receive") for _, name in self.of(action)}
        yield from (f"{name} is in no operation" for name in set(self.messages) - used)
        for channel, content in self.content["channels"].items():
            named = {(channel, name) for name in content["messages"]}
            operations = {pair for action in ("send", "receive") for pair in self.of(action) if pair[0] == channel}
            yield from (f"{pair} is not in both a channel and an operation" for pair in named ^ operations)
        for name, schema in self.content["components"]["schemas"].items():
            if not jsonschema_rs.meta.is_valid({"$schema": "http://json-schema.org/draft-07/schema#", **schema}):
                yield f"{name} is no JSON schema"
        for name, message in self.messages.items():
            for example in message["examples"]:
                for error in self.validators[name].iter_errors(example["payload"]):
                    yield f"example {example['name']} of {name}: {list(error.instance_path)}: {error.message}"


def lies(content):
    """The message with a field too many, and with each field too few; the same of its first inner objects."""
    for place in objects(content, ()):
        optional = OPTIONAL | ({"prev_sequence"} if content["event_type"] in NO_LINK else set())
        altered = deepcopy(content)
        at(altered, place)["unheard_of"] = 1
        yield f"with a field added at {place}", altered
        for field in set(at(content, place)) - optional:
            altered = deepcopy(content)
            del at(altered, place)[field]
            yield f"without {field} at {place}", altered


def objects(content, place):
    """Places of the objects in a message: the first of each list."""
    if isinstance(content, dict):
        yield place
        for field, inner in content.items():
            yield from objects(inner, (*place, field))
    elif isinstance(content, list) and content:
        yield from objects(content[0], (*place, 0))


def at(content, place):
    for step in place:
        content = content[step]
    return content


def main():
    document = Document()
    problems = list(document.problems())
    for problem in problems:
        print(problem, file=sys.stderr)
    checked = "and AsyncAPI's schema" if "ASYNCAPI_SCHEMA" in os.environ else "and no npm for AsyncAPI's schema"
    print(f"{len(document.messages)} messages fit their examples, {checked}" if not problems else f"{len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
