"""Each case is written once, against a blocking client. For the other client, what it gives to await is awaited here."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Iterator

from millwright import AsyncContent, AsyncListing
from millwright._calls import Resource


class Waiting:
    """Something of an `AsyncMillwright`, used as the same of a `Millwright`."""

    def __init__(self, runner: asyncio.Runner, inner: Any) -> None:
        self._runner = runner
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return waited(self._runner, getattr(self._inner, {"close": "aclose"}.get(name, name)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return waited(self._runner, self._inner(*args, **kwargs))

    def __iter__(self) -> Iterator[Any]:
        return walked(self._runner, self._inner.__aiter__())

    def __enter__(self) -> Any:
        return waited(self._runner, self._inner.__aenter__())

    def __exit__(self, *error: Any) -> None:
        waited(self._runner, self._inner.__aexit__(*error))


def waited(runner: asyncio.Runner, value: Any) -> Any:
    if inspect.iscoroutine(value):
        return waited(runner, runner.run(value))
    if inspect.isasyncgen(value):
        return walked(runner, value)
    if isinstance(value, (Resource, AsyncListing, AsyncContent)) or inspect.ismethod(value):
        return Waiting(runner, value)
    return value


def walked(runner: asyncio.Runner, items: Any) -> Iterator[Any]:
    async def step() -> Any:
        return await items.__anext__()

    async def close() -> None:
        await items.aclose()

    try:
        while True:
            try:
                item = runner.run(step())
            except StopAsyncIteration:
                return
            yield item
    finally:
        runner.run(close())
