"""What only one of the two clients can do (reference §19)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Callable

import httpx
import pytest

from millwright import AsyncMillwright, Millwright, MillwrightError
from tasks import NAMES, SORT, first_option, runbook

Run = Callable[[Callable[[AsyncMillwright], Coroutine[Any, Any, Any]]], Any]


@pytest.fixture
def run(service: dict[str, str]) -> Run:
    """Runs a function with a client."""

    def running(body: Callable[[AsyncMillwright], Coroutine[Any, Any, Any]]) -> Any:
        async def main() -> Any:
            async with AsyncMillwright(**service) as client:
                return await asyncio.wait_for(body(client), 60)

        return asyncio.run(main())

    return running


async def asking(client: AsyncMillwright) -> str:
    """A task that asks."""
    upload = await client.uploads.create(NAMES)
    task = await client.tasks.create({"content": SORT, "attachments": [{"uploadId": upload["id"]}]})
    return task["id"]


def test_many_tasks_are_followed_at_once(run: Run) -> None:
    async def main(client: AsyncMillwright) -> Any:
        bodies = [client.tasks.run({"content": runbook(f"echo {n}")}) for n in range(4)]
        return await asyncio.gather(*bodies)

    assert [task["status"] for task in run(main)] == ["completed"] * 4


def test_a_cancellation_ends_the_following_and_not_the_task(run: Run) -> None:
    async def main(client: AsyncMillwright) -> Any:
        id = await asking(client)
        asked = asyncio.Event()

        async def think(*_: Any) -> None:
            asked.set()
            await asyncio.sleep(60)

        following = asyncio.create_task(client.tasks.wait(id, on_question=think))
        await asked.wait()
        following.cancel()
        with pytest.raises(asyncio.CancelledError):
            await following
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.tasks.wait(id), 0.2)
        status = (await client.tasks.get(id))["status"]
        await client.tasks.cancel(id)
        return status

    assert run(main) == "awaiting_input"


def test_a_question_that_somebody_else_has_settled_is_taken_back(run: Run) -> None:
    async def main(client: AsyncMillwright) -> Any:
        id = await asking(client)
        ends: list[str] = []
        events: list[str] = []

        async def ask(question: Any, _task: Any) -> None:
            reply = first_option(question, None)
            # The stream may tell of it before the answer of the request is here.
            try:
                await client.tasks.answer(id, {"interactionId": question["id"], **reply})
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                ends.append("taken back")
                raise

        async def heard(event: Any) -> None:
            events.append(event["type"])

        task = await client.tasks.wait(id, on_question=ask, on_event=heard)
        return task["status"], ends, events.count("interaction.settled")

    assert run(main) == ("completed", ["taken back"], 1)


def test_what_a_question_raises_ends_the_following_though_nothing_else_comes(run: Run) -> None:
    async def main(client: AsyncMillwright) -> Any:
        id = await asking(client)

        async def ask(*_: Any) -> None:
            await asyncio.sleep(0.1)
            raise KeyError("left")

        with pytest.raises(KeyError, match="left"):
            await client.tasks.wait(id, on_question=ask)

        async def wrong(*_: Any) -> Any:
            return {"optionIds": ["no option"]}

        with pytest.raises(MillwrightError) as raised:
            await client.tasks.wait(id, on_question=wrong)
        await client.tasks.cancel(id)
        return raised.value.status

    assert run(main) == 400


def test_a_question_that_was_answered_meanwhile_is_no_error(service: dict[str, str]) -> None:
    with Millwright(**service) as client:
        id = asyncio.run(_with(service, asking))

        def late(question: Any, _task: Any) -> Any:
            reply = first_option(question, None)
            client.tasks.answer(id, {"interactionId": question["id"], **reply})
            return reply

        assert client.tasks.wait(id, on_question=late)["status"] == "completed"


async def _with(service: dict[str, str], body: Callable[[AsyncMillwright], Coroutine[Any, Any, Any]]) -> Any:
    async with AsyncMillwright(**service) as client:
        return await body(client)


def test_a_blocking_client_awaits_nothing(service: dict[str, str]) -> None:
    async def heard(_event: Any) -> None:
        await asyncio.sleep(0)

    with Millwright(**service) as client:
        with pytest.raises(RuntimeError, match="AsyncMillwright takes such"):
            client.tasks.run({"content": runbook("echo a")}, on_event=heard)


def test_a_blocking_client_works_in_threads_and_within_a_loop(service: dict[str, str]) -> None:
    with Millwright(**service) as client:
        done: list[str] = []
        threads = [
            threading.Thread(target=lambda: done.append(client.tasks.run({"content": runbook("echo a")})["status"]))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert done == ["completed"] * 3

        async def main() -> Any:
            task = client.tasks.run({"content": runbook("echo a")})
            return [event["seq"] for event in client.tasks.history(task["id"])]

        assert asyncio.run(main())[:3] == [1, 2, 3]


def test_a_client_of_httpx_may_be_given(service: dict[str, str]) -> None:
    seen: list[str] = []
    hooks = {"request": [lambda request: seen.append(request.url.path)]}
    with Millwright(**service, http=httpx.Client(event_hooks=hooks)) as client:
        client.models.list()

    async def hook(request: httpx.Request) -> None:
        seen.append(request.url.path)

    async def main() -> None:
        http = httpx.AsyncClient(event_hooks={"request": [hook]})
        async with AsyncMillwright(**service, http=http) as client:
            await client.models.list()

    asyncio.run(main())
    assert seen == ["/v1/models", "/v1/models"]
