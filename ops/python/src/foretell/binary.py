"""Where the program `foretell` is."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from foretell.errors import BinaryNotFound

NOT_FOUND = """there is no program `foretell` here; one of these helps:
  - install the wheel that contains it: pip install foretell-VERSION-py3-none-manylinux_….whl
  - set FORETELL_BIN to the path of the program
  - set FORETELL_URL to the ready line of a running sandbox (docs/start/python.md)"""


def find_binary() -> Path:
    """The path of the program `foretell`.

    It is FORETELL_BIN if that is set, else the program that pip installed beside this Python, else the first
    one on PATH. Raises BinaryNotFound.
    """
    chosen = os.environ.get("FORETELL_BIN")
    if chosen:
        path = Path(chosen)
        if not is_program(path):
            raise BinaryNotFound(f"FORETELL_BIN is {chosen!r}, allowed: the path of the program `foretell`")
        return path
    beside = Path(sysconfig.get_path("scripts")) / "foretell"
    if is_program(beside):
        return beside
    on_path = shutil.which("foretell")
    if on_path is None:
        raise BinaryNotFound(NOT_FOUND)
    return Path(on_path)


def is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
