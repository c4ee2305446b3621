from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from types import TracebackType
from typing import Any, Callable, cast

import httpx

from ._calls import M, Awaited, Blocking, call, stream
from ._follow import follow
from ._frames import is_event
from ._io import BlockingIo, LoopIo, settled
from ._proofs import KEYS_PATH, Json, Proven, verify_proof
from ._resource import Routes
from ._resources import (
    Audit,
    Auth,
    Billing,
    Files,
    Keys,
    McpServers,
    Members,
    Models,
    PersonalNotices,
    Projects,
    ServiceAccounts,
    Uploads,
    Web,
)
from ._tasks import Tasks
from ._transport import Query, Request, Transport
from ._webhooks import Webhooks
from ._work import (
    Agents,
    Automations,
    Environments,
    Integrations,
    Repositories,
    RepositoryConnections,
    Secrets,
    Skills,
)
from .types import WorkspaceEvent


class _Client(Routes[M]):
    """One property per resource, and what is of the workspace as a whole."""

    def __init__(self, transport: Transport, *, blocking: bool) -> None:
        super().__init__(transport, blocking=blocking)
        self.agents = Agents[M](transport, blocking=blocking)
        self.audit = Audit[M](transport, blocking=blocking)
        self.auth = Auth[M](transport, blocking=blocking)
        self.automations = Automations[M](transport, blocking=blocking)
        self.billing = Billing[M](transport, blocking=blocking)
        self.environments = Environments[M](transport, blocking=blocking)
        self.files = Files[M](transport, blocking=blocking)
        self.integrations = Integrations[M](transport, blocking=blocking)
        self.keys = Keys[M](transport, blocking=blocking)
        self.mcp_servers = McpServers[M](transport, blocking=blocking)
        self.members = Members[M](transport, blocking=blocking)
        self.models = Models[M](transport, blocking=blocking)
        self.notices = PersonalNotices[M](transport, blocking=blocking)
        self.projects = Projects[M](transport, blocking=blocking)
        self.repositories = Repositories[M](transport, blocking=blocking)
        self.repository_connections = RepositoryConnections[M](transport, blocking=blocking)
        self.secrets = Secrets[M](transport, blocking=blocking)
        self.service_accounts = ServiceAccounts[M](transport, blocking=blocking)
        self.skills = Skills[M](transport, blocking=blocking)
        self.tasks = Tasks[M](transport, blocking=blocking)
        self.uploads = Uploads[M](transport, blocking=blocking)
        self.web = Web[M](transport, blocking=blocking)
        self.webhooks = Webhooks[M](transport, blocking=blocking)

    @property
    def base_url(self) -> str:
        """Where the service is."""
        return self._transport.base_url

    @stream
    async def events(
        self,
        *,
        after: str = "latest",
        types: Iterable[str] | None = None,
        project_id: str | None = None,
        on_ready: Callable[[], Any] | None = None,
    ) -> AsyncGenerator[WorkspaceEvent, None]:
        """
        What happens in the workspace, from now on or after a position, as `tasks.events` does for a task.

        `on_ready` is called each time that a connection stands.
        """
        query: Query = {"projectId": project_id, "types": None if types is None else ",".join(types)}
        async with aclosing(follow(self._transport, "/v1/events", after=after, query=query)) as frames:
            async for frame in frames:
                if is_event(frame):
                    yield cast(WorkspaceEvent, frame)
                elif frame["type"] == "stream.ready" and on_ready is not None:
                    await settled(on_ready())

    @call
    async def verify_proof(self, proof: Json, *, patch: str | bytes | None = None) -> Proven:
        """
        Verifies a proof by the keys of this service: see `verify_proof` of the package, which needs no client.

        Raises `ProofError` where anything does not fit.
        """
        # A key that has signed just now may be newer than what a cache has.
        keys = await self._json(Request("GET", KEYS_PATH, headers={"cache-control": "no-cache"}))
        return verify_proof(proof, patch=patch, keys=keys)


class Millwright(_Client[Blocking]):
    """
    A client of a service, whose methods return when they are done. Threads may share one.

    `api_key`: else `MILLWRIGHT_API_KEY` of the environment. `base_url`: else `MILLWRIGHT_URL`, else `http://127.0.0.1:3000`.
    `max_retries`: further tries of a request. `timeout`: seconds for one try. `http`: a client of httpx, with proxies or certificates of
    its own; without one it is made.

    Raises `ValueError` without a key, and for a URL that is none.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        max_retries: int = 4,
        timeout: float = 30.0,
        http: httpx.Client | None = None,
    ) -> None:
        self._http = http or httpx.Client()
        transport = Transport(
            BlockingIo(self._http), api_key=api_key, base_url=base_url, max_retries=max_retries, timeout=timeout
        )
        super().__init__(transport, blocking=True)

    def close(self) -> None:
        """Lets go of all connections."""
        self._http.close()

    def __enter__(self) -> Millwright:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


class AsyncMillwright(_Client[Awaited]):
    """
    The same client for asyncio: its methods are awaited, its lists and events walked through with `async for`.

    Its options are those of `Millwright`; `http` is an `httpx.AsyncClient`.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        max_retries: int = 4,
        timeout: float = 30.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._http = http or httpx.AsyncClient()
        transport = Transport(
            LoopIo(self._http), api_key=api_key, base_url=base_url, max_retries=max_retries, timeout=timeout
        )
        super().__init__(transport, blocking=False)

    async def aclose(self) -> None:
        """Lets go of all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncMillwright:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.aclose()
