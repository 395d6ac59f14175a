"""Commands and events by name, read with the tables of journal/FORMAT.md and nothing else."""

import re
from pathlib import Path
from types import SimpleNamespace

FORMAT = Path(__file__).resolve().parents[2] / "journal/FORMAT.md"
ROW = re.compile(r"^\| (\d+) \| (\w+) \| (.*) \|$")
FIELD = re.compile(r"(\d+) `(\w+)` (.+?) \((\d+)\)(?:, |$)")


def _table(text, head):
    """Code to name and fields: name, type, offset, size."""
    rows = text[text.index(head) :].split("\n\n")[0].splitlines()[2:]
    table = {}
    for code, name, fields in (ROW.match(row).groups() for row in rows):
        table[int(code)] = name, [(field, word, int(at), int(size)) for at, field, word, size in FIELD.findall(fields)]
    return table


_TEXT = FORMAT.read_text()
COMMANDS = _table(_TEXT, "| code | command | fields |")
EVENTS = _table(_TEXT, "| code | event | fields |")


def _value(word, data):
    """A number where the type is one; a list of a pair of amounts; else the bytes."""
    if option := re.fullmatch(r"Option<(.*)>", word):
        return _value(option[1], data[1:]) if data[0] else None
    if word in ("[Lots; 2]", "[u64; 2]"):
        return [int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")]
    return int.from_bytes(data, "little") if len(data) <= 8 or word == "QuestionSet" else data


def read(table, record):
    """A command or an event: its name as `record`, and its fields by their names."""
    name, fields = table[record[0]]
    values = {field: _value(word, record[at : at + size]) for field, word, at, size in fields}
    return SimpleNamespace(record=name, **values)
