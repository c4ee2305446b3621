"""The two ways to wait. All else of this package is written once, as coroutines, and does not know which of them it has."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Callable, Protocol, TypeVar, cast

import httpx

T = TypeVar("T")


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine whose `Io` is blocking: it waits inside of what it calls, so it ends at its first step."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return cast(T, stop.value)
    coroutine.close()
    raise RuntimeError("A callback of a blocking client returned something to await: AsyncMillwright takes such.")


def walked(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """The same for what gives one thing after the other."""
    try:
        while True:
            try:
                item = finished(_next(items))
            except StopAsyncIteration:
                return
            yield item
    finally:
        finished(_closed(items))


async def _next(items: AsyncGenerator[T, None]) -> T:
    return await items.__anext__()


async def _closed(items: AsyncGenerator[T, None]) -> None:
    await items.aclose()


async def settled(value: Any) -> Any:
    """What a callback returned, awaited where it has to be."""
    return await value if inspect.isawaitable(value) else value


class Aside(Protocol):
    """Something that is done beside something else."""

    def cancel(self) -> Any: ...


Beside = Callable[[Coroutine[Any, Any, None]], Aside]
"""Begins something that is done beside what goes on."""


class Io(Protocol):
    def request(self, method: str, url: str, **options: Any) -> httpx.Request: ...

    async def send(self, request: httpx.Request) -> httpx.Response:
        """Gives the head of the answer."""

    def chunks(self, response: httpx.Response) -> AsyncIterator[bytes]: ...

    async def close(self, response: httpx.Response) -> None: ...

    async def pause(self, seconds: float) -> None: ...

    def beside(self) -> AbstractAsyncContextManager[Beside]:
        """What fails beside a block ends it with that error."""


class BlockingIo:
    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def request(self, method: str, url: str, **options: Any) -> httpx.Request:
        return self._http.build_request(method, url, **options)

    async def send(self, request: httpx.Request) -> httpx.Response:
        return self._http.send(request, stream=True)

    async def chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        for chunk in response.iter_bytes():
            yield chunk

    async def close(self, response: httpx.Response) -> None:
        response.close()

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[Beside]:
        """There is nothing beside a thread that waits: it is done at once."""

        def start(work: Coroutine[Any, Any, None]) -> Aside:
            finished(work)
            return _Done()

        yield start


class _Done:
    def cancel(self) -> None:
        """It has ended."""


class LoopIo:
    """Of asyncio."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    def request(self, method: str, url: str, **options: Any) -> httpx.Request:
        return self._http.build_request(method, url, **options)

    async def send(self, request: httpx.Request) -> httpx.Response:
        return await self._http.send(request, stream=True)

    def chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        return response.aiter_bytes()

    async def close(self, response: httpx.Response) -> None:
        await response.aclose()

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[Beside]:
        try:
            async with asyncio.TaskGroup() as group:
                yield group.create_task
        except BaseExceptionGroup as errors:
            # There is one: whatever fails first ends all others.
            first = errors.exceptions[0]
            raise first from first.__cause__
