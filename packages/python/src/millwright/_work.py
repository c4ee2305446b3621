"""What work is described by: agents, automations, environments, skills, secrets, repositories, integrations (each method is one route)."""

from __future__ import annotations

import builtins
from typing import Any, Literal, Mapping

from ._calls import M, Pages, call, download, listing
from ._resource import Collection, FileLike, Routes, given, segment
from ._transport import Request
from .types import (
    Agent,
    AgentStats,
    AgentVersion,
    Automation,
    AutomationRehearsal,
    AutomationRun,
    ChangeAgent,
    ChangeAutomation,
    ChangeEnvironment,
    ChangeRepositoryConnection,
    ChangeSecret,
    ChangeSkill,
    Connect,
    CreateAgent,
    CreateAutomation,
    CreateEnvironment,
    CreateRepositoryConnection,
    CreateSecret,
    Deleted,
    Environment,
    EnvironmentBuild,
    EnvironmentTest,
    EnvironmentVersion,
    Evaluate,
    Evaluation,
    Integration,
    IntegrationConnection,
    IntegrationDelivery,
    MadeConnection,
    Repository,
    RepositoryBranch,
    RepositoryConnection,
    Secret,
    Skill,
    SkillVersion,
)

TEST_SECONDS = 110.0
"""Beside the client's own time: a command may take a minute, and a worker has to come to it."""


class Agents(Routes[M]):
    """Named ways of working, which tasks and automations take (reference §27.5), each by its slug. None of them is ever deleted."""

    _root = "/v1/agents"

    def _path(self, slug: str, rest: str = "") -> str:
        return f"{self._root}/{segment(slug)}{rest}"

    @call
    async def create(self, body: CreateAgent, *, idempotency_key: str | None = None) -> Agent:
        """`agent_exists`: its slug is taken."""
        return await self._one("agent", self._keyed(self._root, body, idempotency_key))

    @call
    async def get(self, slug: str) -> Agent:
        """One by its slug."""
        return await self._one("agent", Request("GET", self._path(slug)))

    @call
    async def update(self, slug: str, body: ChangeAgent, *, idempotency_key: str | None = None) -> Agent:
        """`version` is the newest one as the caller knows it. Another definition is the next version; `archived` puts the agent away."""
        request = Request("PATCH", self._path(slug), body=body, keyed=True, idempotency_key=idempotency_key)
        return await self._one("agent", request)

    @listing
    def list(
        self, *, archived: Literal["true", "false", "all"] | None = None, limit: int | None = None
    ) -> Pages[Agent]:
        """Newest first; without `archived` those that are not archived."""
        return Pages(self._root, "agents", {"archived": archived, "limit": limit})

    @listing
    def versions(self, slug: str, *, limit: int | None = None) -> Pages[AgentVersion]:
        """Newest first."""
        return Pages(self._path(slug, "/versions"), "versions", {"limit": limit})

    @call
    async def version(self, slug: str, version: int) -> AgentVersion:
        """One by its number."""
        return await self._one("version", Request("GET", self._path(slug, f"/versions/{segment(version)}")))

    @call
    async def evaluate(self, slug: str, body: Evaluate, *, idempotency_key: str | None = None) -> Evaluation:
        """Does the same work in several versions: a task for each case in each of them."""
        return await self._one("evaluation", self._keyed(self._path(slug, "/evaluate"), body, idempotency_key))

    @call
    async def evaluation(self, id: str) -> Evaluation:
        """How far one is."""
        return await self._one("evaluation", Request("GET", f"/v1/evaluations/{segment(id)}"))

    @call
    async def stats(self, slug: str, *, from_: str | None = None, to: str | None = None) -> AgentStats:
        """What the tasks of each version came to that were made in a period, 30 days without one."""
        return await self._json(Request("GET", self._path(slug, "/stats"), {"from": from_, "to": to}))


class Automations(Collection[M]):
    _root = "/v1/automations"

    @call
    async def create(self, body: CreateAutomation, *, idempotency_key: str | None = None) -> Automation:
        """Makes one."""
        return await self._one("automation", self._keyed(self._root, body, idempotency_key))

    @call
    async def rehearse(
        self, body: CreateAutomation, *, sample_payload: Mapping[str, Any] | None = None
    ) -> AutomationRehearsal:
        """Checks all that `create` checks and makes nothing. Would an event with `sample_payload` start a run?"""
        rehearsal: dict[str, Any] = {**body, "dryRun": True, **given(samplePayload=sample_payload)}
        return await self._json(Request("POST", self._root, body=rehearsal))

    @call
    async def get(self, id: str) -> Automation:
        """One by its id."""
        return await self._one("automation", Request("GET", self._path(id)))

    @call
    async def update(self, id: str, body: ChangeAutomation) -> Automation:
        """Changes what is given."""
        return await self._one("automation", Request("PATCH", self._path(id), body=body))

    @listing
    def list(self, *, limit: int | None = None) -> Pages[Automation]:
        """Newest first."""
        return Pages(self._root, "automations", {"limit": limit})

    @call
    async def pause(self, id: str) -> Automation:
        """It makes no tasks until it is resumed."""
        return await self._one("automation", Request("POST", self._path(id, "/pause")))

    @call
    async def resume(self, id: str) -> Automation:
        """`automation_completed`: its one time is over."""
        return await self._one("automation", Request("POST", self._path(id, "/resume")))

    @call
    async def run(self, id: str, *, idempotency_key: str | None = None) -> AutomationRun:
        """Makes a task of it at once."""
        return await self._one("run", self._keyed(self._path(id, "/run"), None, idempotency_key))

    @listing
    def runs(self, id: str, *, limit: int | None = None) -> Pages[AutomationRun]:
        """Newest first."""
        return Pages(self._path(id, "/runs"), "runs", {"limit": limit})


class Environments(Collection[M]):
    """Named descriptions of the box that tasks work in (reference §25), each by its slug."""

    _root = "/v1/environments"

    @call
    async def create(self, body: CreateEnvironment, *, idempotency_key: str | None = None) -> Environment:
        """`environment_exists`: its slug is taken."""
        return await self._one("environment", self._keyed(self._root, body, idempotency_key))

    @call
    async def get(self, slug: str) -> Environment:
        """One by its slug."""
        return await self._one("environment", Request("GET", self._path(slug)))

    @call
    async def update(self, slug: str, body: ChangeEnvironment) -> Environment:
        """Another definition is the next version."""
        return await self._one("environment", Request("PATCH", self._path(slug), body=body))

    @listing
    def list(self, *, limit: int | None = None) -> Pages[Environment]:
        """Newest first."""
        return Pages(self._root, "environments", {"limit": limit})

    @listing
    def versions(self, slug: str, *, limit: int | None = None) -> Pages[EnvironmentVersion]:
        """Newest first."""
        return Pages(self._path(slug, "/versions"), "versions", {"limit": limit})

    @call
    async def version(self, slug: str, version: int) -> EnvironmentVersion:
        """One by its number."""
        return await self._one("version", Request("GET", self._path(slug, f"/versions/{segment(version)}")))

    @listing
    def builds(self, slug: str, *, limit: int | None = None) -> Pages[EnvironmentBuild]:
        """Newest first, each with the last of what its commands wrote."""
        return Pages(self._path(slug, "/builds"), "builds", {"limit": limit})

    @call
    async def build(self, slug: str) -> EnvironmentBuild:
        """Begins to build the newest version; one that is being made already is that one."""
        return await self._one("build", Request("POST", self._path(slug, "/build")))

    @call
    async def test(self, slug: str, command: str) -> EnvironmentTest:
        """Runs one command in a copy of the last build of the newest version, and waits for its end."""
        request = Request("POST", self._path(slug, "/test"), body={"command": command}, more_time=TEST_SECONDS)
        return await self._json(request)


class Skills(Collection[M]):
    """Know-how of a workspace that agents read when a task is of its kind (reference §27.4)."""

    _root = "/v1/skills"

    @call
    async def push(self, zip: FileLike, *, name: str | None = None) -> Skill:
        """A zip with a `SKILL.md`: a skill, or the next version of the one with its name. The zip that it has already makes none."""
        return await self._upload(self._root, "skill", zip, name)

    @call
    async def get(self, id: str) -> Skill:
        """One by its id."""
        return await self._one("skill", Request("GET", self._path(id)))

    @call
    async def update(self, id: str, body: ChangeSkill) -> Skill:
        """`default`: whether tasks have it that name no skills."""
        return await self._one("skill", Request("PATCH", self._path(id), body=body))

    @listing
    def list(self, *, limit: int | None = None) -> Pages[Skill]:
        """Newest first."""
        return Pages(self._root, "skills", {"limit": limit})

    @listing
    def versions(self, id: str, *, limit: int | None = None) -> Pages[SkillVersion]:
        """Newest first."""
        return Pages(self._path(id, "/versions"), "versions", {"limit": limit})

    @download
    def content(self, id: str, *, version: int | None = None) -> Request:
        """The zip of a version, without one of the newest."""
        return Request("GET", self._path(id, "/content"), {"version": version})


class Secrets(Collection[M]):
    """Values that tasks use and never see (reference §24). No answer has a value."""

    _root = "/v1/secrets"

    @call
    async def create(self, body: CreateSecret) -> Secret:
        """`secret_exists`: its name is taken in its scope."""
        return await self._one("secret", Request("POST", self._root, body=body))

    @call
    async def get(self, id: str) -> Secret:
        """One by its id, without its value."""
        return await self._one("secret", Request("GET", self._path(id)))

    @call
    async def update(self, id: str, body: ChangeSecret) -> Secret:
        """Another value, or other bindings, count from the next request of a task on."""
        return await self._one("secret", Request("PATCH", self._path(id), body=body))

    @listing
    def list(self, *, limit: int | None = None) -> Pages[Secret]:
        """Newest first."""
        return Pages(self._root, "secrets", {"limit": limit})


class Repositories(Routes[M]):
    @listing
    def list(
        self,
        *,
        q: str | None = None,
        host: str | None = None,
        refresh: bool | None = None,
        limit: int | None = None,
    ) -> Pages[Repository]:
        """What the workspace may use, last used ones first."""
        return Pages("/v1/repositories", "repositories", {"q": q, "host": host, "refresh": refresh, "limit": limit})

    @listing
    def branches(
        self, url: str, *, q: str | None = None, refresh: bool | None = None, limit: int | None = None
    ) -> Pages[RepositoryBranch]:
        """Of the repository at a URL, the default branch first."""
        query = {"url": url, "q": q, "refresh": refresh, "limit": limit}
        return Pages("/v1/repositories/branches", "branches", query)


class RepositoryConnections(Collection[M]):
    _root = "/v1/repository-connections"

    @call
    async def create(self, body: CreateRepositoryConnection) -> RepositoryConnection:
        """With a token, or with a GitHub App. The host is not asked; `test` does that."""
        return await self._one("connection", Request("POST", self._root, body=body))

    @call
    async def get(self, id: str) -> RepositoryConnection:
        """One by its id."""
        return await self._one("connection", Request("GET", self._path(id)))

    @call
    async def update(self, id: str, body: ChangeRepositoryConnection) -> RepositoryConnection:
        """Changes what is given."""
        return await self._one("connection", Request("PATCH", self._path(id), body=body))

    @listing
    def list(self, *, limit: int | None = None) -> Pages[RepositoryConnection]:
        """Newest first."""
        return Pages(self._root, "connections", {"limit": limit})

    @call
    async def test(self, id: str) -> RepositoryConnection:
        """Asks the host who the credential is. A refusal is no error: `status` and `lastError` say it."""
        return await self._one("connection", Request("POST", self._path(id, "/test")))


class Integrations(Routes[M]):
    @call
    async def list(self) -> builtins.list[Integration]:
        """All that the service knows."""
        return await self._one("integrations", Request("GET", "/v1/integrations"))

    @call
    async def get(self, slug: str) -> Integration:
        """One by its slug, such as `github`."""
        return await self._one("integration", Request("GET", f"/v1/integrations/{segment(slug)}"))

    @call
    async def connections(self, slug: str) -> builtins.list[IntegrationConnection]:
        """Your own, and for owners and admins the workspace's."""
        return await self._one("connections", Request("GET", _connections_of(slug)))

    @call
    async def connect(self, slug: str, body: Connect) -> MadeConnection:
        """The secret, with which the provider signs, is shown here alone. `connection_exists`."""
        return await self._json(Request("POST", _connections_of(slug), body=body))

    @call
    async def rotate(self, slug: str, id: str, *, overlap_seconds: int | None = None) -> MadeConnection:
        """The secret of before is taken too for `overlap_seconds`, a day when not given."""
        path = f"{_connections_of(slug)}/{segment(id)}/rotate"
        return await self._json(Request("POST", path, body=given(overlapSeconds=overlap_seconds)))

    @call
    async def test(self, slug: str, id: str) -> IntegrationDelivery:
        """The provider's handshake, taken as one that arrives. `test_not_available`: it has none."""
        return await self._one("delivery", Request("POST", f"{_connections_of(slug)}/{segment(id)}/test"))

    @call
    async def disconnect(self, slug: str, id: str) -> Deleted:
        """What the provider sends is refused from then on."""
        return await self._delete(f"{_connections_of(slug)}/{segment(id)}")

    @call
    async def deliveries(self, slug: str) -> builtins.list[IntegrationDelivery]:
        """The last 100 that arrived, the newest first."""
        return await self._one("deliveries", Request("GET", f"/v1/integrations/{segment(slug)}/deliveries"))


def _connections_of(slug: str) -> str:
    return f"/v1/integrations/{segment(slug)}/connections"
