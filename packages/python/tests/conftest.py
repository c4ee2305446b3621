from __future__ import annotations

import asyncio
import os
import socket
import ssl
from pathlib import Path
from typing import Any, Callable, Iterator

import httpx
import pytest

from both import Waiting
from millwright import AsyncMillwright, Millwright
from millwright._follow import TIMES
from servers import Scripted, scripted

# Made once: httpx reads all certificates for each client.
SSL = ssl.create_default_context()
FIXTURES = Path(__file__).parents[3] / "test" / "fixtures"

NewClient = Callable[..., Any]


@pytest.fixture(scope="session")
def service() -> dict[str, str]:
    """Where the service is, and a key."""
    names = ("MILLWRIGHT_URL", "MILLWRIGHT_API_KEY")
    if not all(name in os.environ for name in names):
        pytest.exit("These tests need a service: `npm run test:python` starts one.", returncode=2)
    return {"base_url": os.environ[names[0]], "api_key": os.environ[names[1]]}


@pytest.fixture(params=["blocking", "asyncio"])
def new_client(request: pytest.FixtureRequest) -> Iterator[NewClient]:
    """Makes clients of either kind, which the test uses alike."""
    made: list[Any] = []
    if request.param == "blocking":

        def blocking(**options: Any) -> Any:
            made.append(Millwright(http=httpx.Client(verify=SSL), **options))
            return made[-1]

        yield blocking
        for client in made:
            client.close()
        return
    with asyncio.Runner() as runner:

        def awaited(**options: Any) -> Any:
            made.append(Waiting(runner, AsyncMillwright(http=httpx.AsyncClient(verify=SSL), **options)))
            return made[-1]

        yield awaited
        for client in made:
            client.close()


@pytest.fixture
def client(new_client: NewClient, service: dict[str, str]) -> Any:
    """Of the service."""
    return new_client(**service)


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted() as script:
        yield script


@pytest.fixture
def told(new_client: NewClient, server: Scripted) -> Any:
    """A client of the server that answers as it is told. It does not wait between its tries."""
    return without_pauses(new_client(api_key="k", base_url=server.url, timeout=20))


def without_pauses(client: Any) -> Any:
    """What it would have waited stands in `client.pauses`."""
    inner = client._inner if isinstance(client, Waiting) else client
    inner.pauses = []

    async def pause(seconds: float) -> None:
        inner.pauses.append(seconds)

    inner._transport.io.pause = pause
    return client


@pytest.fixture
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TIMES, "least_wait", 0.005)
    monkeypatch.setattr(TIMES, "most_wait", 0.2)


@pytest.fixture
def free_port() -> int:
    """Nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
