"""What a stream of events says (reference §17), and how it is written (the HTML standard, server-sent events)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Frame = dict[str, Any]
"""An event has `seq`, a number or null; another frame has none."""

_DELTAS = ("message.delta", "tool.progress", "command.output", "message.discarded")


def is_event(frame: Frame) -> bool:
    return "seq" in frame


def is_delta(frame: Frame) -> bool:
    return frame["type"] in _DELTAS


def status_in(frame: Frame) -> str | None:
    """The status that a frame tells of; None for none."""
    if frame["type"] == "heartbeat":
        return frame.get("status")
    status = (frame.get("data") or {}).get("status")
    return status if re.fullmatch(r"task\.\w+", frame["type"]) and isinstance(status, str) else None


@dataclass(frozen=True, slots=True)
class Sent:
    """One message of a stream."""

    id: str | None
    data: str


class Reader:
    """Makes messages of bytes, wherever these are cut."""

    retry: float | None = None
    """Seconds of the last `retry:`."""

    def __init__(self) -> None:
        self._rest = b""
        self._id: str | None = None
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[Sent]:
        *lines, self._rest = re.split(rb"\r\n|\n|\r(?!$)", self._rest + chunk)
        for line in lines:
            if line == b"":
                if self._data:
                    yield Sent(self._id, "\n".join(self._data))
                self._id, self._data = None, []
            else:
                self._take(line.decode("utf-8", "replace"))

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value) / 1000
