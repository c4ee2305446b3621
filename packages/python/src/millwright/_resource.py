"""What resources have in common."""

from __future__ import annotations

import os
from typing import Any, BinaryIO
from urllib.parse import quote

from ._calls import M, Resource, call
from ._transport import Query, Request, Upload
from .types import Deleted

FileLike = str | os.PathLike[str] | bytes | BinaryIO
"""A path, bytes, or a file that is open for reading bytes."""


def segment(id: str | int) -> str:
    """Makes one segment of a path of an id. Raises `ValueError` for what would be the address of something else."""
    if not isinstance(id, (str, int)) or id in ("", ".", ".."):
        raise ValueError(f"{id!r} is no id.")
    return quote(str(id), safe="")


class Routes(Resource[M]):
    """Helpers for those who describe routes."""

    async def _json(self, request: Request) -> Any:
        return await self._transport.json(request)

    async def _one(self, key: str, request: Request) -> Any:
        """The object inside the envelope."""
        return (await self._transport.json(request))[key]

    def _keyed(self, path: str, body: object, idempotency_key: str | None) -> Request:
        """A POST that takes an Idempotency-Key: without one it is made for the call. The same key makes the same thing only once."""
        return Request("POST", path, body=body, keyed=True, idempotency_key=idempotency_key)

    async def _delete(self, path: str, query: Query | None = None) -> Deleted:
        deleted: Deleted = await self._transport.json(Request("DELETE", path, query or {}))
        return deleted

    async def _upload(self, path: str, key: str, file: FileLike, name: str | None) -> Any:
        return await self._one(key, Request("POST", path, upload=Upload.of(file, name)))


class Collection(Routes[M]):
    """A resource each of which has an address."""

    _root: str
    """Where they are: `/v1/projects`."""

    def _path(self, id: str, rest: str = "") -> str:
        return f"{self._root}/{segment(id)}{rest}"

    @call
    async def delete(self, id: str) -> Deleted:
        """Deletes one. `MillwrightError` `not_found`: there is none."""
        return await self._delete(self._path(id))


def given(**fields: Any) -> dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
