"""
How one description of a resource serves both clients.

A method of a resource is a coroutine, written once. The decorators below give it to the one client as it is, and to the other as a
function that returns when it is done. Its types follow: of a `Tasks[Blocking]`, `get` gives a `Task`, of a `Tasks[Awaited]` a coroutine.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator, Iterator
from dataclasses import dataclass, field
from types import MethodType
from typing import Any, Callable, Concatenate, Generic, ParamSpec, TypeVar, overload

from ._content import AsyncContent, Content
from ._io import finished, walked
from ._transport import Query, Request, Transport


class Blocking:
    """Marks what belongs to a `Millwright`."""


class Awaited:
    """Marks what belongs to an `AsyncMillwright`."""


M = TypeVar("M")
P = ParamSpec("P")
T = TypeVar("T")


class Resource(Generic[M]):
    """Some routes of the service. `M` says who waits: `Blocking` or `Awaited`."""

    def __init__(self, transport: Transport, *, blocking: bool) -> None:
        self._transport = transport
        self._blocking = blocking


class call(Generic[P, T]):
    """A method that makes requests and gives what came of them."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._method = method
        functools.update_wrapper(self, method)

    @overload
    def __get__(self, resource: Resource[Blocking], owner: type) -> Callable[P, T]: ...

    @overload
    def __get__(self, resource: Resource[Awaited], owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...

    @overload
    def __get__(self, resource: None, owner: type) -> call[P, T]: ...

    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:
        if resource is None:
            return self
        return _bound(self._method, resource, finished)


class stream(Generic[P, T]):
    """A method that gives one thing after the other, for as long as it is asked."""

    def __init__(self, method: Callable[Concatenate[Any, P], AsyncGenerator[T, None]]) -> None:
        self._method = method
        functools.update_wrapper(self, method)

    @overload
    def __get__(self, resource: Resource[Blocking], owner: type) -> Callable[P, Generator[T, None, None]]: ...

    @overload
    def __get__(self, resource: Resource[Awaited], owner: type) -> Callable[P, AsyncGenerator[T, None]]: ...

    @overload
    def __get__(self, resource: None, owner: type) -> stream[P, T]: ...

    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:
        if resource is None:
            return self
        return _bound(self._method, resource, walked)


class download(Generic[P]):
    """A method that gives bytes, whose request it describes."""

    def __init__(self, method: Callable[Concatenate[Any, P], Request]) -> None:
        self._method = method
        functools.update_wrapper(self, method)

    @overload
    def __get__(self, resource: Resource[Blocking], owner: type) -> Callable[P, Content]: ...

    @overload
    def __get__(self, resource: Resource[Awaited], owner: type) -> Callable[P, Coroutine[Any, Any, AsyncContent]]: ...

    @overload
    def __get__(self, resource: None, owner: type) -> download[P]: ...

    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:
        if resource is None:
            return self

        async def opened(resource: Resource[Any], *args: P.args, **kwargs: P.kwargs) -> Content | AsyncContent:
            transport = resource._transport
            response = await transport.response(self._method(resource, *args, **kwargs))
            return Content(transport, response) if resource._blocking else AsyncContent(transport, response)

        return _bound(functools.wraps(self._method)(opened), resource, finished)


class listing(Generic[P, T]):
    """A method that gives a list, whose pages it describes."""

    def __init__(self, method: Callable[Concatenate[Any, P], Pages[T]]) -> None:
        self._method = method
        functools.update_wrapper(self, method)

    @overload
    def __get__(self, resource: Resource[Blocking], owner: type) -> Callable[P, Listing[T]]: ...

    @overload
    def __get__(self, resource: Resource[Awaited], owner: type) -> Callable[P, AsyncListing[T]]: ...

    @overload
    def __get__(self, resource: None, owner: type) -> listing[P, T]: ...

    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:
        if resource is None:
            return self

        def listed(resource: Resource[Any], *args: P.args, **kwargs: P.kwargs) -> Listing[T] | AsyncListing[T]:
            pages = self._method(resource, *args, **kwargs)
            kind = Listing if resource._blocking else AsyncListing
            return kind(resource._transport, pages)

        return MethodType(functools.wraps(self._method)(listed), resource)


def _bound(method: Callable[..., Any], resource: Resource[Any], run: Callable[[Any], Any]) -> Callable[..., Any]:
    bound = MethodType(method, resource)
    if not resource._blocking:
        return bound

    @functools.wraps(bound)
    def blocking(*args: Any, **kwargs: Any) -> Any:
        return run(bound(*args, **kwargs))

    return blocking


@dataclass(frozen=True, slots=True)
class Pages(Generic[T]):
    """Where a list is, and under which name its items stand in an answer."""

    path: str
    key: str
    query: Query = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list."""

    items: list[T]
    next_cursor: str | None
    """Where the next page begins; None on the last one."""
    partial: bool | None = None
    """Only of lists that ask other hosts: whether there may be more than they have said."""


class _Listed(Generic[T]):
    def __init__(self, transport: Transport, pages: Pages[T]) -> None:
        self._transport = transport
        self._pages = pages

    async def _page(self, cursor: str | None) -> Page[T]:
        path, key, query = self._pages.path, self._pages.key, self._pages.query
        body = await self._transport.json(Request("GET", path, {**query, "cursor": cursor}))
        return Page(body[key], body.get("nextCursor"), body.get("partial"))


class Listing(_Listed[T]):
    """A list that is read while it is walked through, page by page."""

    def page(self, cursor: str | None = None) -> Page[T]:
        """One page: the first, or that of a cursor."""
        return finished(self._page(cursor))

    def __iter__(self) -> Iterator[T]:
        page = self.page()
        yield from page.items
        while page.next_cursor is not None:
            page = self.page(page.next_cursor)
            yield from page.items


class AsyncListing(_Listed[T]):
    """A list that is read while it is walked through with `async for`, page by page."""

    async def page(self, cursor: str | None = None) -> Page[T]:
        """One page: the first, or that of a cursor."""
        return await self._page(cursor)

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await self.page()
        for item in page.items:
            yield item
        while page.next_cursor is not None:
            page = await self.page(page.next_cursor)
            for item in page.items:
                yield item
