"""Following a log of events over every interruption (reference §17, §19)."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpx

from ._frames import Frame, Reader, Sent, is_event
from ._transport import Query, Request, Transport
from .errors import ConnectionError, MillwrightError

SILENT_CONNECTIONS = 2
"""So many connections in a row on which nothing came mean that something between holds streams back."""


@dataclass(slots=True)
class Times:
    """In seconds; the tests have shorter ones."""

    silence: float = 45.0
    least_wait: float = 1.0
    most_wait: float = 30.0
    poll: int = 25


TIMES = Times()


async def follow(
    transport: Transport, path: str, *, after: str | None, query: Query
) -> AsyncGenerator[Frame, None]:
    """
    Each frame of the streams of a log, in order, for ever: it connects again from the last position after every end but `gone` and
    `unauthorized`, which raise, and `final`. Where no stream comes through it asks again and again.

    `after` is where to begin: a position, or `latest`; None for the service's own beginning.
    """
    connection = _Connection(transport, path, after, query)
    failures = 0
    while True:
        asked = 0.0
        try:
            async with aclosing(connection.frames()) as frames:
                async for frame in frames:
                    if frame["type"] == "stream.end":
                        if frame["reason"] == "final":
                            return
                        _raise_end(frame["reason"])
                        break
                    if is_event(frame):
                        # A service that tells of an event is well: the wait begins anew.
                        failures = 0
                    yield frame
        except ConnectionError:
            pass
        except MillwrightError as error:
            if not error.retryable:
                raise
            asked = error.retry_after
        back_off = min(TIMES.most_wait, connection.retry * 2**failures)
        await transport.io.pause(max(asked, back_off * (0.5 + random.random() / 2)))
        failures = min(failures + 1, 16)


class _Connection:
    def __init__(self, transport: Transport, path: str, after: str | None, query: Query) -> None:
        self._transport = transport
        self._path = path
        self._position = after
        self._query = query
        self._silent = 0
        self._retry = 0.0

    @property
    def retry(self) -> float:
        """Seconds, of the last `retry:`."""
        return max(TIMES.least_wait, self._retry)

    def frames(self) -> AsyncGenerator[Frame, None]:
        return self._stream() if self._silent < SILENT_CONNECTIONS else self._poll()

    async def _stream(self) -> AsyncGenerator[Frame, None]:
        silent, self._silent = self._silent, 0
        heard = False
        try:
            async with aclosing(self._messages()) as messages:
                async for sent in messages:
                    heard = True
                    frame: Frame = json.loads(sent.data)
                    if sent.id is not None:
                        if self._is_behind(frame):
                            continue
                        self._position = sent.id
                    yield frame
        except httpx.ReadTimeout as error:
            self._silent = 0 if heard else silent + 1
            raise ConnectionError("The stream is silent.") from error
        except httpx.RequestError as error:
            raise self._transport.unreachable(error) from error

    async def _messages(self) -> AsyncGenerator[Sent, None]:
        io = self._transport.io
        response = await self._transport.stream(self._path, self._asked({}), silence=TIMES.silence)
        reader = Reader()
        try:
            async for chunk in io.chunks(response):
                for sent in reader.feed(chunk):
                    yield sent
        finally:
            self._retry = reader.retry or self._retry
            await io.close(response)

    async def _poll(self) -> AsyncGenerator[Frame, None]:
        """The same without a stream. What is still being made does not come."""
        while True:
            query = {**self._asked({"wait": TIMES.poll}), "deltas": None}
            page = await self._transport.json(Request("GET", self._path, query, more_time=TIMES.poll))
            for event in page["events"]:
                yield event
            self._position = page["position"]
            if page["caughtUp"]:
                yield {"type": "stream.caught_up", "position": page["position"]}

    def _asked(self, more: Query) -> dict[str, Any]:
        return {**self._query, **more, "after": self._position}

    def _is_behind(self, frame: Frame) -> bool:
        """An event that was told already: of a service that begins a little before the position."""
        seq, position = frame.get("seq"), self._position
        return isinstance(seq, int) and position is not None and position.isdecimal() and seq <= int(position)


def _raise_end(reason: str) -> None:
    def end(status: int, type: str, code: str, message: str) -> MillwrightError:
        error = {"type": type, "code": code, "message": message, "param": None, "retryable": False}
        return MillwrightError(status, {"error": error}, {})

    if reason == "gone":
        raise end(404, "not_found", "not_found", "What was followed is gone, or is not seen any more.")
    if reason == "unauthorized":
        raise end(401, "unauthorized", "invalid_credential", "The key has ended.")
