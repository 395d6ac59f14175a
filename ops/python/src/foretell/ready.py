"""The line that `foretell up --sandbox --json` prints when it is ready."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Ready:
    """Addresses of a sandbox's surfaces, the token of its operator, its chain and its data directory."""

    trading: str
    data: str
    catalog: str
    operator: str
    token: str = field(repr=False)
    chain: int
    directory: Path

    @property
    def ws(self) -> str:
        """The address of the streams; a client adds `/market` or `/user`."""
        return "ws" + self.trading.removeprefix("http").rstrip("/") + "/ws"

    @classmethod
    def read(cls, line: str | bytes) -> Ready:
        """Reads the line. Another text raises ValueError."""
        try:
            fields = json.loads(line)
            if fields["ready"] != "sandbox":
                raise ValueError(f"ready is {fields['ready']!r}, allowed: 'sandbox'")
            return cls(
                trading=fields["trading"],
                data=fields["data"],
                catalog=fields["catalog"],
                operator=fields["operator"],
                token=fields["token"],
                chain=fields["chain"],
                directory=Path(fields["directory"]),
            )
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"not the line of a ready sandbox: {line!r} ({error!r})") from None
