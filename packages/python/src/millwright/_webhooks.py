from __future__ import annotations

import builtins

from ._calls import M, Pages, call, listing
from ._resource import Collection, given, segment
from ._transport import Request
from ._unwrap import unwrap
from .types import ChangeWebhook, CreateWebhook, MadeWebhook, Webhook, WebhookDelivery, WholeWebhookDelivery


class Webhooks(Collection[M]):
    """Addresses that the service posts events to (reference §18)."""

    _root = "/v1/webhooks"
    unwrap = staticmethod(unwrap)

    @call
    async def create(self, body: CreateWebhook) -> MadeWebhook:
        """The secret is shown here and by `rotate_secret` alone."""
        return await self._json(Request("POST", self._root, body=body))

    @call
    async def get(self, id: str) -> Webhook:
        """One by its id."""
        return await self._one("webhook", Request("GET", self._path(id)))

    @call
    async def update(self, id: str, body: ChangeWebhook) -> Webhook:
        """Changes what is given."""
        return await self._one("webhook", Request("PATCH", self._path(id), body=body))

    @listing
    def list(self, *, limit: int | None = None) -> Pages[Webhook]:
        """Newest first."""
        return Pages(self._root, "webhooks", {"limit": limit})

    @call
    async def rotate_secret(self, id: str, *, overlap_seconds: int | None = None) -> MadeWebhook:
        """Until the overlap is over, a day when not given, both secrets sign."""
        return await self._json(Request("POST", self._path(id, "/secret"), body=given(overlapSeconds=overlap_seconds)))

    @call
    async def test(self, id: str) -> WebhookDelivery:
        """Sends `webhook.test`, once."""
        return await self._one("delivery", Request("POST", self._path(id, "/test")))

    @call
    async def recover(self, id: str, *, since: str, types: builtins.list[str] | None = None) -> int:
        """Sends again what was not delivered since then; gives how many events that are."""
        return await self._one("count", Request("POST", self._path(id, "/recover"), body=given(since=since, types=types)))

    @listing
    def deliveries(
        self,
        id: str,
        *,
        status: str | None = None,
        type: str | None = None,
        task_id: str | None = None,
        limit: int | None = None,
    ) -> Pages[WebhookDelivery]:
        """Newest first."""
        query = {"status": status, "type": type, "taskId": task_id, "limit": limit}
        return Pages(self._path(id, "/deliveries"), "deliveries", query)

    @call
    async def delivery(self, id: str, delivery_id: str) -> WholeWebhookDelivery:
        """One with its body and all its attempts."""
        return await self._one("delivery", Request("GET", self._path(id, f"/deliveries/{segment(delivery_id)}")))

    @call
    async def redeliver(self, id: str, delivery_id: str) -> WebhookDelivery:
        """Sends the same event once more, whatever became of it."""
        path = self._path(id, f"/deliveries/{segment(delivery_id)}/redeliver")
        return await self._one("delivery", Request("POST", path))
