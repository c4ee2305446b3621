"""What a call raises (reference §10, §19)."""

from __future__ import annotations

import builtins
import json
import time
from email.utils import parsedate_to_datetime
from typing import Any, Mapping

_PASSING = (429, 502, 503, 504)
"""Nobody but a proxy says these without a body of the service's form: another try may reach it."""


class MillwrightError(Exception):
    """The service refused the request, or could not carry it out."""

    status: int
    """HTTP's."""
    type: str
    """Such as `invalid_request`; later services may send others."""
    code: str
    """What programs decide by, such as `not_found`; later services may send others."""
    param: str | None
    """The field at fault, such as `attachments[0].uploadId`."""
    retryable: bool
    """Whether the same request may work later."""
    request_id: str | None
    retry_after: float
    """Seconds that the service asks to wait."""

    def __init__(self, status: int, body: object, headers: Mapping[str, str]) -> None:
        said = _error_in(body)
        super().__init__(said.get("message") or f"The answer was HTTP {status}, not one of the service.")
        self.status = status
        self.type = said.get("type") or ("invalid_request" if status < 500 else "internal_error")
        self.code = said.get("code") or f"http_{status}"
        self.param = said.get("param")
        self.retryable = said.get("retryable", status in _PASSING)
        self.request_id = said.get("requestId") or headers.get("x-request-id")
        self.retry_after = _retry_after(headers.get("retry-after"))


class ConnectionError(builtins.ConnectionError):
    """The service could not be reached, or the connection was lost. `__cause__` is what httpx says."""


class TimeoutError(ConnectionError, builtins.TimeoutError):
    """No answer came within `timeout`."""


class WebhookVerificationError(ValueError):
    """The request is not one of the service, or is too old. Answer 400, and do nothing else."""


class ProofError(ValueError):
    """Something does not fit: the proof proves nothing. The message says what."""


def failure(status: int, body: bytes, headers: Mapping[str, str]) -> MillwrightError:
    """The error of an answer."""
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    return MillwrightError(status, said, headers)


def _error_in(body: object) -> dict[str, Any]:
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) and "code" in error else {}


def _retry_after(value: str | None) -> float:
    """Seconds, or a date (RFC 9110 §10.2.3)."""
    if value is None:
        return 0.0
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0
