from __future__ import annotations

import builtins
from collections.abc import AsyncGenerator, Awaitable, Iterable, Mapping
from contextlib import aclosing
from typing import Any, Callable, Literal, cast

from ._calls import M, Pages, call, download, listing, stream
from ._follow import follow
from ._frames import Frame, is_delta, is_event, status_in
from ._io import Aside, Beside, settled
from ._resource import Collection, segment
from ._transport import Query, Request
from .errors import MillwrightError
from .types import (
    Answer,
    ChangeTask,
    CreateTask,
    Deleted,
    Delta,
    File,
    FolderEntry,
    ForkTask,
    Interaction,
    Message,
    NetworkUse,
    PauseTask,
    Reply,
    SecretUse,
    SendMessage,
    SentMessage,
    Snapshot,
    Task,
    TaskCheck,
    TaskCommand,
    TaskEvent,
    TaskProof,
    TaskStatus,
    is_final,
)

OnEvent = Callable[[TaskEvent], Any]
"""What it returns is awaited by an `AsyncMillwright`, where it can be. What it raises ends the following, not the task."""
OnDelta = Callable[[Delta], Any]
OnReady = Callable[[Task, int], Any]
"""Each time that a connection stands: the task and the number of its last event, of one moment. Deltas from before are void."""
OnQuestion = Callable[[Interaction, Task], Reply | None | Awaitable[Reply | None]]
"""Asked at each question; None leaves it open. An `AsyncMillwright` cancels it when somebody else has settled the question."""


class Tasks(Collection[M]):
    _root = "/v1/tasks"

    @call
    async def create(self, body: CreateTask, *, idempotency_key: str | None = None) -> Task:
        """Hands work over. The same `idempotency_key` makes the same task only once; without one it is made for the call."""
        return await self._one("task", self._keyed(self._root, body, idempotency_key))

    @call
    async def get(self, id: str) -> Task:
        """One by its id."""
        return await self._get(id)

    @call
    async def update(self, id: str, body: ChangeTask) -> Task:
        """Changes what is given."""
        return await self._one("task", Request("PATCH", self._path(id), body=body))

    @listing
    def list(
        self,
        *,
        status: TaskStatus | Iterable[TaskStatus] | None = None,
        project_id: str | None = None,
        automation_id: str | None = None,
        parent_task_id: str | None = None,
        metadata: Mapping[str, str] | None = None,
        tag: str | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        q: str | None = None,
        archived: Literal["false", "true", "all"] | None = None,
        sort: Literal["createdAt", "updatedAt"] | None = None,
        limit: int | None = None,
    ) -> Pages[Task]:
        """
        Newest first; without `archived` those that are not archived.

        `parent_task_id`: those that the agent of this task has made; `any`: these and all others. `metadata`: pairs that a task has, all
        of them. `created_after`, `created_before`: a time, or a day. `q`: words, or beginnings of words, of the title and the first message.
        """
        query = {
            "status": status if status is None or isinstance(status, str) else ",".join(status),
            "projectId": project_id,
            "automationId": automation_id,
            "parentTaskId": parent_task_id,
            **{f"metadata.{key}": value for key, value in (metadata or {}).items()},
            "tag": tag,
            "createdAfter": created_after,
            "createdBefore": created_before,
            "q": q,
            "archived": archived,
            "sort": sort,
            "limit": limit,
        }
        return Pages(self._root, "tasks", query)

    @call
    async def cancel(self, id: str) -> Task:
        """`task_not_cancellable`: it is final."""
        return await self._one("task", Request("POST", self._path(id, "/cancel"), repeatable=True))

    @call
    async def fork(self, id: str, body: ForkTask | None = None, *, idempotency_key: str | None = None) -> Task:
        """A new task as this one was at the end of a turn. `snapshot_gone`: the folder of that turn is no more."""
        return await self._one("task", self._keyed(self._path(id, "/fork"), body or {}, idempotency_key))

    @call
    async def pause(self, id: str, body: PauseTask | None = None) -> Task:
        """No worker takes it up until `resumeAt`, or until it is resumed. `task_not_pausable`: it is final."""
        return await self._one("task", Request("POST", self._path(id, "/pause"), body=body or {}, repeatable=True))

    @call
    async def resume(self, id: str) -> Task:
        """A paused task goes on where it stopped."""
        return await self._one("task", Request("POST", self._path(id, "/resume"), repeatable=True))

    @call
    async def answer(self, id: str, body: Answer, *, idempotency_key: str | None = None) -> Task:
        """Answers what the task waits for. `interaction_not_pending`: somebody else did."""
        return await self._answer(id, body, idempotency_key)

    @call
    async def send(self, id: str, body: SendMessage, *, idempotency_key: str | None = None) -> SentMessage:
        """Goes on with a task, whatever its status."""
        return await self._json(self._keyed(self._path(id, "/messages"), body, idempotency_key))

    @call
    async def withdraw(self, id: str, message_id: str) -> Deleted:
        """Takes a message back. `message_already_read`: a run was faster."""
        return await self._delete(self._path(id, f"/messages/{segment(message_id)}"))

    @listing
    def messages(
        self, id: str, *, order: Literal["asc", "desc"] | None = None, after: str | None = None, limit: int | None = None
    ) -> Pages[Message]:
        """Oldest first."""
        return Pages(self._path(id, "/messages"), "messages", {"order": order, "after": after, "limit": limit})

    @listing
    def files(self, id: str, *, limit: int | None = None) -> Pages[File]:
        """What it was given, and what it has published."""
        return Pages(self._path(id, "/files"), "files", {"limit": limit})

    @download
    def files_archive(self, id: str) -> Request:
        """All files of the task as one zip."""
        return Request("GET", self._path(id, "/files/archive"))

    @call
    async def secret_uses(self, id: str) -> builtins.list[SecretUse]:
        """What the task did with secrets, by name and host."""
        return await self._one("uses", Request("GET", self._path(id, "/secrets")))

    @listing
    def network(self, id: str, *, limit: int | None = None) -> Pages[NetworkUse]:
        """The hosts that the task reached or was refused, by host and port."""
        return Pages(self._path(id, "/network"), "hosts", {"limit": limit})

    @call
    async def proof(self, id: str) -> TaskProof:
        """What its last checks said, signed: `verify_proof` reads it. `not_found` where none have run."""
        return await self._json(Request("GET", self._path(id, "/proof")))

    @listing
    def checks(self, id: str, *, limit: int | None = None) -> Pages[TaskCheck]:
        """What became of its checks, newest first; one that still runs is not among them."""
        return Pages(self._path(id, "/checks"), "checks", {"limit": limit})

    @call
    async def run_checks(self, id: str, *, idempotency_key: str | None = None) -> Task:
        """
        Runs the checks of a final task again, without its agent. `task_not_final`: it is under way; `no_checks`: it has none.
        """
        return await self._one("task", self._keyed(self._path(id, "/checks"), None, idempotency_key))

    @listing
    def commands(self, id: str, *, limit: int | None = None) -> Pages[TaskCommand]:
        """Commands of its agent that go on, or went on, beyond their calls, newest first."""
        return Pages(self._path(id, "/commands"), "commands", {"limit": limit})

    @call
    async def stop_command(self, id: str, command_id: str) -> TaskCommand:
        """Stops one; its worker ends it soon. `command_not_running`: it has ended."""
        return await self._one("command", Request("POST", self._path(id, f"/commands/{segment(command_id)}/stop")))

    @listing
    def snapshots(self, id: str, *, limit: int | None = None) -> Pages[Snapshot]:
        """Newest first."""
        return Pages(self._path(id, "/snapshots"), "snapshots", {"limit": limit})

    @listing
    def workdir(
        self, id: str, *, path: str | None = None, snapshot: str | None = None, limit: int | None = None
    ) -> Pages[FolderEntry]:
        """The entries of one folder of the task, as a snapshot has them: by default `/workdir`, and the newest."""
        return Pages(self._path(id, "/workdir"), "entries", {"path": path, "snapshot": snapshot, "limit": limit})

    @download
    def workdir_content(self, id: str, path: str, *, snapshot: str | None = None) -> Request:
        """A file of the folder of the task."""
        return Request("GET", self._path(id, "/workdir/content"), {"path": path, "snapshot": snapshot})

    @stream
    async def events(
        self,
        id: str,
        *,
        after: int | Literal["latest"] = 0,
        types: Iterable[str] | None = None,
        on_delta: OnDelta | None = None,
        on_ready: OnReady | None = None,
    ) -> AsyncGenerator[TaskEvent, None]:
        """
        Each event of the task once, in order, for ever, however often the connection is lost. Leaving the loop ends it.

        `after`: the number of the last event that is known, or `latest`. `types`: such as `["task.*", "message.completed"]`. `on_delta` is
        told what is still being made.

        Raises `MillwrightError` when the task is gone or the key has ended.
        """
        async with aclosing(self._frames(id, after, types, deltas=on_delta is not None)) as frames:
            async for frame in frames:
                if is_event(frame):
                    yield cast(TaskEvent, frame)
                elif is_delta(frame) and on_delta is not None:
                    await settled(on_delta(cast(Delta, frame)))
                elif frame["type"] == "stream.ready" and on_ready is not None:
                    await settled(on_ready(frame["task"], frame["latest"]))

    @stream
    async def history(
        self, id: str, *, after: int = 0, types: Iterable[str] | None = None
    ) -> AsyncGenerator[TaskEvent, None]:
        """Each event that there is by now, in order, without following."""
        position, caught_up = str(after), False
        while not caught_up:
            query: Query = {"after": position, "types": _joined(types)}
            page = await self._json(Request("GET", self._path(id, "/events"), query))
            for event in page["events"]:
                yield event
            position, caught_up = page["position"], page["caughtUp"]

    @call
    async def run(
        self,
        body: CreateTask,
        *,
        on_event: OnEvent | None = None,
        on_delta: OnDelta | None = None,
        on_question: OnQuestion | None = None,
        idempotency_key: str | None = None,
    ) -> Task:
        """Creates a task and stays with it: see `wait`."""
        task = await self._one("task", self._keyed(self._root, body, idempotency_key))
        return await self._wait(task["id"], 0, on_event, on_delta, on_question)

    @call
    async def wait(
        self,
        id: str,
        *,
        after: int | Literal["latest"] = 0,
        on_event: OnEvent | None = None,
        on_delta: OnDelta | None = None,
        on_question: OnQuestion | None = None,
    ) -> Task:
        """
        Gives the task once its status is final. Without `on_question` somebody else answers what it asks.

        What a callback raises, and with `AsyncMillwright` a cancellation, ends the following, not the task.
        """
        return await self._wait(id, after, on_event, on_delta, on_question)

    async def _get(self, id: str) -> Task:
        return await self._one("task", Request("GET", self._path(id)))

    async def _answer(self, id: str, body: Answer, idempotency_key: str | None = None) -> Task:
        return await self._one("task", self._keyed(self._path(id, "/interaction"), body, idempotency_key))

    async def _wait(
        self,
        id: str,
        after: int | Literal["latest"],
        on_event: OnEvent | None,
        on_delta: OnDelta | None,
        on_question: OnQuestion | None,
    ) -> Task:
        status: str | None = None
        # Until this event it is history: an earlier turn may have ended in it.
        latest = 0
        async with (
            self._transport.io.beside() as beside,
            aclosing(self._frames(id, after, None, deltas=on_delta is not None)) as frames,
        ):
            questions = _Questions(self, id, on_question, beside)
            try:
                async for frame in frames:
                    if is_event(frame) and on_event is not None:
                        await settled(on_event(cast(TaskEvent, frame)))
                    elif is_delta(frame) and on_delta is not None:
                        await settled(on_delta(cast(Delta, frame)))
                    elif frame["type"] == "stream.ready":
                        latest, status = frame["latest"], frame["task"]["status"]
                    is_news = isinstance(frame.get("seq"), int) and frame["seq"] > latest
                    moved = status_in(frame)
                    if moved is not None and (is_news or not is_event(frame)):
                        status = moved
                    if not is_news and frame["type"] not in ("stream.caught_up", "heartbeat"):
                        continue
                    if status is None or is_final(status):
                        task = await self._get(id)
                        if is_final(task["status"]):
                            return task
                        status = task["status"]
                    questions.follow(status, frame)
            finally:
                questions.end()
        raise RuntimeError("The stream of a task that is not final has ended.")

    def _frames(
        self, id: str, after: int | Literal["latest"], types: Iterable[str] | None, *, deltas: bool
    ) -> AsyncGenerator[Frame, None]:
        query: Query = {"types": _joined(types), "deltas": deltas or None}
        return follow(self._transport, self._path(id, "/events"), after=str(after), query=query)


class _Questions:
    """The question that a person is asked at the moment, beside the following of the task."""

    def __init__(self, tasks: Tasks[Any], task_id: str, ask: OnQuestion | None, beside: Beside) -> None:
        self._tasks = tasks
        self._task_id = task_id
        self._ask = ask
        self._beside = beside
        self._asked: str | None = None
        self._looking = False
        self._asking: Aside | None = None

    def follow(self, status: str, frame: Frame) -> None:
        if frame["type"] == "interaction.settled":
            # What comes next the status tells.
            if frame["data"].get("interactionId") == self._asked:
                self.end()
        elif status != "awaiting_input":
            self.end()
        elif self._ask is not None and self._asked is None and not self._looking:
            self._looking = True
            self._asking = self._beside(self._answer(self._ask))

    def end(self) -> None:
        """The question is settled."""
        if self._asking is not None:
            self._asking.cancel()
        self._asked, self._asking, self._looking = None, None, False

    async def _answer(self, ask: OnQuestion) -> None:
        task = await self._tasks._get(self._task_id)
        self._looking = False
        question = task["pendingInteraction"]
        if question is None:
            return
        self._asked = question["id"]
        reply = await settled(ask(question, task))
        if reply is None:
            return
        try:
            await self._tasks._answer(self._task_id, cast(Answer, {"interactionId": question["id"], **reply}))
        except MillwrightError as error:
            # Somebody else was faster: the events say how.
            if error.code != "interaction_not_pending":
                raise


def _joined(types: Iterable[str] | None) -> str | None:
    if isinstance(types, str):
        raise TypeError("types is a list, such as ['task.*'].")
    return None if types is None else ",".join(types)
