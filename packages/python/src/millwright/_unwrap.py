"""Webhooks as their receiver sees them: Standard Webhooks 1.0 (reference §18)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypedDict, cast

from .errors import WebhookVerificationError


class WebhookEvent(TypedDict):
    """What the service posts: ids, status and your own metadata, never content."""

    id: str
    """The event's: the same at every attempt."""
    type: str
    """Such as `task.completed`."""
    timestamp: str
    data: dict[str, Any]


def unwrap(
    raw_body: str | bytes,
    headers: Mapping[str, str],
    secrets: str | Iterable[str],
    *,
    tolerance_seconds: float = 300,
) -> WebhookEvent:
    """
    Verifies a request and gives its event.

    `raw_body` as it was received: parsed and written again it has another signature. `headers` of any framework, in whatever case.
    `secrets`: `whsec_…`; several while one is rotated. `tolerance_seconds`: how far the sender's clock may be from this one.

    Raises `WebhookVerificationError` for what is not taken, and `ValueError` for a secret that is none.
    """
    id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    given = _header(headers, "webhook-signature").split(" ")
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(time.time() - int(timestamp)) > tolerance_seconds:
        _refuse("Its timestamp is too far from the clock of this machine.")
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    signed = f"{id}.{timestamp}.".encode() + body
    signatures = [signature for one in given if one.startswith("v1,") and (signature := _bytes_of(one[3:])) is not None]
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        expected = hmac.digest(_key_of(secret), signed, hashlib.sha256)
        if any(hmac.compare_digest(signature, expected) for signature in signatures):
            return _event_of(body)
    _refuse("No signature of it is by one of these secrets.")


def _event_of(body: bytes) -> WebhookEvent:
    try:
        return cast(WebhookEvent, json.loads(body.decode()))
    except ValueError:
        _refuse("Its body is no JSON.")


def _key_of(secret: str) -> bytes:
    key = _bytes_of(secret.removeprefix("whsec_"))
    if not key:
        raise ValueError("A secret of a webhook is `whsec_` and base64.")
    return key


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name) or next((value for key, value in headers.items() if key.lower() == name), None)
    return value if isinstance(value, str) and value else _refuse(f"It has no header {name}.")


def _bytes_of(text: str) -> bytes | None:
    bare = text.rstrip("=")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except ValueError:
        return None


def _refuse(why: str) -> NoReturn:
    raise WebhookVerificationError(f"This request is not taken for a webhook. {why}")
