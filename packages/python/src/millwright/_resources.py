"""One property of the client per resource (reference §2); each method is one route."""

from __future__ import annotations

import builtins
from typing import Literal

from ._calls import M, Pages, call, download, listing
from ._resource import Collection, FileLike, Routes, given, segment
from ._transport import Request
from .types import (
    AddMember,
    AuditEntry,
    AuthContext,
    BillingSummary,
    ChangeMember,
    ChangeNotices,
    ChangeProject,
    Checkout,
    CreateKey,
    CreateProject,
    CreateServiceAccount,
    CreateServiceKey,
    Deleted,
    File,
    Invitation,
    Key,
    MadeKey,
    McpServer,
    Member,
    Model,
    Notices,
    PaymentPage,
    Portal,
    Project,
    PushState,
    PushSubscription,
    ServiceAccount,
    Upload,
    UsageRow,
    WebAccess,
)


class Projects(Collection[M]):
    _root = "/v1/projects"

    @call
    async def create(self, body: CreateProject, *, idempotency_key: str | None = None) -> Project:
        """Makes one."""
        return await self._one("project", self._keyed(self._root, body, idempotency_key))

    @call
    async def get(self, id: str) -> Project:
        """One by its id."""
        return await self._one("project", Request("GET", self._path(id)))

    @call
    async def update(self, id: str, body: ChangeProject) -> Project:
        """Changes what is given."""
        return await self._one("project", Request("PATCH", self._path(id), body=body))

    @listing
    def list(self, *, limit: int | None = None) -> Pages[Project]:
        """Newest first. `limit`: of one page, 1 to 50."""
        return Pages(self._root, "projects", {"limit": limit})

    @listing
    def files(self, id: str, *, limit: int | None = None) -> Pages[File]:
        """The files that each of its tasks has."""
        return Pages(self._path(id, "/files"), "files", {"limit": limit})

    @call
    async def add_file(self, id: str, file: FileLike, *, name: str | None = None) -> File:
        """`name`: when not that of the path."""
        return await self._upload(self._path(id, "/files"), "file", file, name)

    @call
    async def remove_file(self, id: str, file_id: str) -> Deleted:
        """Tasks under way keep it."""
        return await self._delete(self._path(id, f"/files/{segment(file_id)}"))


class Uploads(Routes[M]):
    @call
    async def create(self, file: FileLike, *, name: str | None = None) -> Upload:
        """
        For 24 hours a task or message may refer to it. `file`: a path, bytes, or a file that is open for reading bytes.

        Raises `OSError` where a path cannot be read.
        """
        return await self._upload("/v1/uploads", "upload", file, name)


class Files(Routes[M]):
    @listing
    def list(self, *, project: Literal["none"] = "none", limit: int | None = None) -> Pages[File]:
        """What is left of deleted projects, newest first."""
        return Pages("/v1/files", "files", {"project": project, "limit": limit})

    @call
    async def get(self, id: str) -> File:
        """What is known of it, without its bytes."""
        return await self._one("file", Request("GET", f"/v1/files/{segment(id)}"))

    @call
    async def delete(self, id: str) -> Deleted:
        """Of a deleted project. `file_in_use`: of any other."""
        return await self._delete(f"/v1/files/{segment(id)}")

    @download
    def content(self, id: str) -> Request:
        """Its bytes, which come while they are read."""
        return Request("GET", f"/v1/files/{segment(id)}/content")


class Keys(Collection[M]):
    _root = "/v1/keys"

    @call
    async def list(self) -> builtins.list[Key]:
        """Those of the workspace that you may see."""
        return await self._one("keys", Request("GET", self._root))

    @call
    async def create(self, body: CreateKey) -> MadeKey:
        """The secret is shown here alone."""
        return await self._json(Request("POST", self._root, body=body))

    @call
    async def rotate(self, id: str, *, overlap_seconds: int | None = None) -> MadeKey:
        """Another secret; the one of before is taken for so long too."""
        return await self._json(Request("POST", self._path(id, "/rotate"), body=given(overlapSeconds=overlap_seconds)))


class Auth(Routes[M]):
    @call
    async def context(self) -> AuthContext:
        """Who the key acts as, where, and what it may."""
        return await self._json(Request("GET", "/v1/auth/context"))


class Models(Routes[M]):
    @call
    async def list(self) -> builtins.list[Model]:
        """Those that a task may name."""
        return await self._one("models", Request("GET", "/v1/models"))


class McpServers(Routes[M]):
    @call
    async def list(self) -> builtins.list[McpServer]:
        """The servers whose tools a task may have."""
        return await self._one("mcpServers", Request("GET", "/v1/mcp-servers"))


class Web(Routes[M]):
    @call
    async def read(self) -> WebAccess | None:
        """Which pages of the web agents may read; None: none."""
        return await self._one("web", Request("GET", "/v1/web"))


class Members(Routes[M]):
    """Who belongs to the workspace. Only owners and admins change it, with a key of all ten scopes."""

    @call
    async def list(self) -> builtins.list[Member]:
        """All of them."""
        return await self._one("members", Request("GET", "/v1/members"))

    @call
    async def add(self, body: AddMember, *, idempotency_key: str | None = None) -> Member:
        """`member_exists`: its role is changed with `update`."""
        return await self._one("member", self._keyed("/v1/members", body, idempotency_key))

    @call
    async def update(self, id: str, body: ChangeMember) -> Member:
        """`last_owner`: the workspace would have no person as owner."""
        return await self._one("member", Request("PATCH", f"/v1/members/{segment(id)}", body=body))

    @call
    async def invite(self, id: str) -> Invitation:
        """A link by which a person who has no key logs in once, within 72 hours. It is shown here alone. `member_has_keys`."""
        return await self._one("invitation", Request("POST", f"/v1/members/{segment(id)}/invitation"))

    @call
    async def remove(self, id: str, *, transfer_to: str | None = None) -> Deleted:
        """`transfer_to`: the member who gets what it owns."""
        return await self._delete(f"/v1/members/{segment(id)}", {"transferTo": transfer_to})


class ServiceAccounts(Collection[M]):
    """Accounts for programs, and their keys: for owners and admins, with a key of all ten scopes."""

    _root = "/v1/service-accounts"

    @call
    async def list(self) -> builtins.list[ServiceAccount]:
        """All of them."""
        return await self._one("serviceAccounts", Request("GET", self._root))

    @call
    async def create(self, body: CreateServiceAccount, *, idempotency_key: str | None = None) -> ServiceAccount:
        """`service_account_exists`: its name is taken."""
        return await self._one("serviceAccount", self._keyed(self._root, body, idempotency_key))

    @call
    async def keys(self, id: str) -> builtins.list[Key]:
        """Those of one account."""
        return await self._one("keys", Request("GET", self._path(id, "/keys")))

    @call
    async def create_key(self, id: str, body: CreateServiceKey) -> MadeKey:
        """The secret is shown here alone."""
        return await self._json(Request("POST", self._path(id, "/keys"), body=body))

    @call
    async def delete_key(self, id: str, key_id: str) -> Deleted:
        """Ends it at once."""
        return await self._delete(self._path(id, f"/keys/{segment(key_id)}"))


class Billing(Routes[M]):
    @call
    async def summary(self) -> BillingSummary:
        """The plan, and what is left of it."""
        return await self._json(Request("GET", "/v1/billing/summary"))

    @call
    async def usage(
        self, *, group_by: str | None = None, from_: str | None = None, to: str | None = None
    ) -> builtins.list[UsageRow]:
        """What a period came to: times or days in `from_` and `to`."""
        query = {"groupBy": group_by, "from": from_, "to": to}
        return await self._one("usage", Request("GET", "/v1/billing/usage", query))

    @call
    async def checkout(self, body: Checkout) -> PaymentPage:
        """The address of a page where the workspace pays, for a browser. 409 `no_payment_provider`."""
        return await self._json(Request("POST", "/v1/billing/checkout", body=body))

    @call
    async def portal(self, body: Portal | None = None) -> PaymentPage:
        """The address of a page where the workspace manages its subscription and finds its invoices. 409 `no_payment_provider`."""
        return await self._json(Request("POST", "/v1/billing/portal", body=body or {}))


class Audit(Routes[M]):
    @listing
    def list(
        self,
        *,
        since: str | None = None,
        until: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        limit: int | None = None,
    ) -> Pages[AuditEntry]:
        """Newest first. `since` and `until` are times, `actor` an id, `action` such as `key.create`."""
        query = {"since": since, "until": until, "actor": actor, "action": action, "limit": limit}
        return Pages("/v1/audit", "entries", query)


class PersonalNotices(Routes[M]):
    """What you are told of your tasks elsewhere."""

    @call
    async def get(self) -> Notices:
        """What is on."""
        return await self._json(Request("GET", "/v1/notices"))

    @call
    async def update(self, body: ChangeNotices) -> Notices:
        """Replaces all of it: what is not given is off."""
        return await self._json(Request("PUT", "/v1/notices", body=body))

    @call
    async def subscribe(self, body: PushSubscription) -> PushState:
        """Adds a browser: its `PushSubscription.toJSON()`."""
        return await self._one("push", Request("POST", "/v1/notices/push", body=body))

    @call
    async def unsubscribe(self, endpoint: str) -> PushState:
        """Takes a browser out."""
        return await self._one("push", Request("DELETE", "/v1/notices/push", {"endpoint": endpoint}))

    @call
    async def test(self, channel: Literal["push", "email", "hook"]) -> int:
        """Gives to how many addresses a test is sent."""
        return await self._one("queued", Request("POST", "/v1/notices/test", body={"channel": channel}))
