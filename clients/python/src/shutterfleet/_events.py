"""Server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from ._flow import Request
from ._models import StreamEvent

RECONNECT_SECONDS = 2
SILENT_MAX = 5
"""Consecutive connections without an event after which the stream fails."""
SILENT_SECONDS = 45
"""A stream that is silent for so long is broken: the service sends something every 15 seconds."""
LAST = ("result", "deleted")
"""Events that end the stream of a capture or batch."""


@dataclass
class Lines:
    """Splits a text that arrives in parts at line feeds alone: JSON may contain all other separators of lines."""

    _rest: str = ""

    def feed(self, text: str) -> list[str]:
        """Returns the lines that the text completes."""
        *lines, self._rest = (self._rest + text).split("\n")
        return lines

    def end(self) -> list[str]:
        """Returns the last line if nothing ends it."""
        return [self._rest] if self._rest else []


@dataclass
class EventStream:
    """Parses the lines of a stream over its connections."""

    path: str
    last: tuple[str, ...] = LAST
    has_ended: bool = False
    silent: int = 0
    _last_id: str | None = None
    _fields: dict[str, str] = field(default_factory=dict)

    def request(self) -> Request:
        self._fields = {}
        self.silent += 1
        headers = {} if self._last_id is None else {"last-event-id": self._last_id}
        return Request("GET", self.path, headers=headers, silent_seconds=SILENT_SECONDS)

    def feed(self, line: str) -> Iterator[StreamEvent]:
        """Yields the event that the line completes, if any."""
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line != "":
            self._fields[name] = f"{self._fields[name]}\n{value}" if name == "data" and name in self._fields else value
            return
        fields, self._fields = self._fields, {}
        if "event" not in fields or "data" not in fields:
            return
        self.silent = 0
        self._last_id = fields.get("id", self._last_id)
        self.has_ended = fields["event"] in self.last
        yield StreamEvent(fields["event"], json.loads(fields["data"]))

    def check(self) -> None:
        """Raises `ConnectionError` once the stream has ended too often without an event."""
        if self.silent >= SILENT_MAX:
            raise ConnectionError(f"the event stream ended {SILENT_MAX} times without an event")
