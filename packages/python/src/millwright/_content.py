"""Bytes that the service sends: files, archives."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from types import TracebackType

import httpx

from ._io import finished, walked
from ._transport import Transport


class _Opened:
    def __init__(self, transport: Transport, response: httpx.Response) -> None:
        self._transport = transport
        self._response = response

    @property
    def headers(self) -> httpx.Headers:
        """The head of the answer: type, name and length of what comes."""
        return self._response.headers

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in self._transport.chunks(self._response):
                yield chunk
        finally:
            await self._close()

    async def _read(self) -> bytes:
        return b"".join([chunk async for chunk in self._chunks()])

    async def _save(self, path: str | os.PathLike[str], overwrite: bool) -> None:
        try:
            with open(path, "wb" if overwrite else "xb") as file:
                async for chunk in self._chunks():
                    file.write(chunk)
        finally:
            await self._close()

    async def _close(self) -> None:
        await self._transport.io.close(self._response)


class Content(_Opened):
    """
    The head of an answer, whose bytes come while they are read: once, by one of the ways below. Reading to the end closes it; else
    `close()` does, or a `with` block. What is lost in the middle raises `ConnectionError`.
    """

    def __iter__(self) -> Iterator[bytes]:
        return walked(self._chunks())

    def read(self) -> bytes:
        """All of it."""
        return finished(self._read())

    def text(self) -> str:
        """All of it, as UTF-8."""
        return self.read().decode()

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes it to a file. Raises `FileExistsError` where there is one, without `overwrite`."""
        finished(self._save(path, overwrite))

    def close(self) -> None:
        finished(self._close())

    def __enter__(self) -> Content:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


class AsyncContent(_Opened):
    """
    The head of an answer, whose bytes come while they are read: once, by one of the ways below. Reading to the end closes it; else
    `aclose()` does, or an `async with` block. What is lost in the middle raises `ConnectionError`.
    """

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks()

    async def read(self) -> bytes:
        """All of it."""
        return await self._read()

    async def text(self) -> str:
        """All of it, as UTF-8."""
        return (await self.read()).decode()

    async def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes it to a file. Raises `FileExistsError` where there is one, without `overwrite`."""
        await self._save(path, overwrite)

    async def aclose(self) -> None:
        await self._close()

    async def __aenter__(self) -> AsyncContent:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.aclose()
