"""How one request is made, and made again (reference §19)."""

from __future__ import annotations

import json
import os
import random
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Callable, TypeVar
from urllib.parse import unquote, urlsplit

import httpx

from ._io import Io
from .errors import ConnectionError, MillwrightError, TimeoutError, failure

T = TypeVar("T")

Query = Mapping[str, "str | int | float | bool | None"]

FIRST_WAIT = 0.5
LONGEST_WAIT = 8.0
UPLOAD_BYTES_PER_SECOND = 100_000
"""An upload is given this beside the client's own time, by its size."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to send: a path, which each try opens, or bytes."""

    content: Path | bytes
    name: str

    @staticmethod
    def of(file: str | os.PathLike[str] | bytes | BinaryIO, name: str | None) -> Upload:
        if isinstance(file, (str, os.PathLike)):
            path = Path(file)
            return Upload(path, name or path.name)
        if isinstance(file, (bytes, bytearray, memoryview)):
            return Upload(bytes(file), name or "file")
        content = file.read()
        if not isinstance(content, bytes):
            raise TypeError("A file to upload is a path, bytes, or a file that is open for reading bytes.")
        own = getattr(file, "name", None)
        return Upload(content, name or (Path(own).name if isinstance(own, str) else "file"))

    @property
    def size(self) -> int:
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: Query = field(default_factory=dict)
    body: object = None
    """JSON; None for none."""
    upload: Upload | None = None
    keyed: bool = False
    """Takes an Idempotency-Key."""
    idempotency_key: str | None = None
    repeatable: bool = False
    """May be sent twice without a key."""
    more_time: float = 0.0
    """Seconds for one try beside the client's own."""
    headers: Mapping[str, str] = field(default_factory=dict)


class Transport:
    """Sends requests in one of the two ways to wait."""

    def __init__(self, io: Io, *, api_key: str | None, base_url: str | None, max_retries: int, timeout: float) -> None:
        self.io = io
        key = os.environ.get("MILLWRIGHT_API_KEY") if api_key is None else api_key
        if not key:
            raise ValueError("A key is missing: give `api_key`, or set MILLWRIGHT_API_KEY.")
        url = base_url or os.environ.get("MILLWRIGHT_URL") or "http://127.0.0.1:3000"
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ValueError(f'base_url "{url}" is no URL of HTTP.')
        if max_retries < 0 or timeout <= 0:
            raise ValueError("max_retries is 0 or more, and timeout more than 0 seconds.")
        self.base_url = url.rstrip("/")
        self._authorization = f"Bearer {key}"
        self._max_retries = max_retries
        self._timeout = timeout

    async def json(self, request: Request) -> Any:
        """The body of the answer."""

        async def once(attempt: int, request: Request) -> Any:
            response, deadline = await self._open(request)
            raw = await self._read(response, deadline)
            if response.is_success:
                return _parsed(raw)
            if request.method == "DELETE" and attempt > 0 and response.status_code == 404:
                return {"deleted": True, "id": unquote(request.path.rsplit("/", 1)[-1])}
            raise failure(response.status_code, raw, response.headers)

        return await self._tries(request, once)

    async def response(self, request: Request) -> httpx.Response:
        """An answer whose body is still coming: whoever has it closes it."""

        async def once(_attempt: int, request: Request) -> httpx.Response:
            response, deadline = await self._open(request)
            if response.is_success:
                return response
            raise failure(response.status_code, await self._read(response, deadline), response.headers)

        return await self._tries(request, once)

    async def stream(self, path: str, query: Query, *, silence: float) -> httpx.Response:
        """One try, whose body ends with `httpx.ReadTimeout` after so many silent seconds."""
        timeout = httpx.Timeout(self._timeout, read=silence)
        headers = {"authorization": self._authorization, "accept": "text/event-stream"}
        request = self.io.request(
            "GET", self.base_url + path, params=_params(query), headers=headers, timeout=timeout
        )
        response = await self.io.send(request)
        if response.is_success:
            return response
        raise failure(response.status_code, await self._read(response, self._deadline()), response.headers)

    async def chunks(self, response: httpx.Response, deadline: float | None = None) -> AsyncIterator[bytes]:
        """The bytes of a body as they come."""
        try:
            async for chunk in self.io.chunks(response):
                yield chunk
                if deadline is not None and time.monotonic() > deadline:
                    raise TimeoutError(f"The answer of {self.base_url} takes too long.")
        except httpx.TimeoutException as error:
            raise TimeoutError(f"The answer of {self.base_url} does not go on.") from error
        except httpx.RequestError as error:
            raise ConnectionError("The connection was lost in the middle of an answer.") from error

    def unreachable(self, error: httpx.RequestError) -> ConnectionError:
        return ConnectionError(f"{self.base_url} cannot be reached: {error or type(error).__name__}")

    async def _tries(self, request: Request, once: Callable[[int, Request], Awaitable[T]]) -> T:
        if request.keyed and request.idempotency_key is None:
            # Made once: each try is the same request.
            request = replace(request, idempotency_key=str(uuid.uuid4()))
        attempt = 0
        while True:
            try:
                return await once(attempt, request)
            except (MillwrightError, ConnectionError) as error:
                if attempt >= self._max_retries or not _may_try_again(request, error):
                    raise
                asked = error.retry_after if isinstance(error, MillwrightError) else 0.0
            own = min(LONGEST_WAIT, FIRST_WAIT * 2**attempt) * (0.5 + random.random() / 2)
            await self.io.pause(max(asked, own))
            attempt += 1

    async def _open(self, request: Request) -> tuple[httpx.Response, float]:
        """The head of an answer, and the time until which all of it has to be here."""
        upload = request.upload
        seconds = self._timeout + request.more_time + (upload.size / UPLOAD_BYTES_PER_SECOND if upload else 0)
        headers = {"authorization": self._authorization, **request.headers}
        if request.keyed and request.idempotency_key is not None:
            headers["idempotency-key"] = request.idempotency_key
        options: dict[str, Any] = {"params": _params(request.query), "headers": headers, "timeout": seconds}
        if request.body is not None:
            headers["content-type"] = "application/json"
            options["content"] = json.dumps(request.body, ensure_ascii=False, allow_nan=False).encode()
        opened = upload.content.open("rb") if upload and isinstance(upload.content, Path) else None
        if upload is not None:
            options["files"] = {"file": (upload.name, opened or upload.content)}
        deadline = time.monotonic() + seconds
        try:
            sent = self.io.request(request.method, self.base_url + request.path, **options)
            return await self.io.send(sent), deadline
        except httpx.TimeoutException as error:
            raise TimeoutError(f"No answer of {self.base_url} within {seconds:g} s.") from error
        except httpx.RequestError as error:
            raise self.unreachable(error) from error
        finally:
            if opened is not None:
                opened.close()

    async def _read(self, response: httpx.Response, deadline: float) -> bytes:
        try:
            return b"".join([chunk async for chunk in self.chunks(response, deadline)])
        finally:
            await self.io.close(response)

    def _deadline(self) -> float:
        return time.monotonic() + self._timeout


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError as error:
        raise ConnectionError("The connection was lost in the middle of an answer.") from error


def _may_try_again(request: Request, error: MillwrightError | ConnectionError) -> bool:
    """Whether another try is safe and may help."""
    if isinstance(error, MillwrightError):
        # Nothing was done.
        if error.status in (429, 503):
            return error.status == 429 or error.retryable
        if error.code != "idempotency_in_progress" and not (error.status >= 500 and error.retryable):
            return False
    return request.method in ("GET", "DELETE") or request.keyed or request.repeatable


def _params(query: Query) -> dict[str, str]:
    """What is None is not asked for."""
    given = {name: value for name, value in query.items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}
