"""
The client of a Millwright service (reference §19): `Millwright`, and `AsyncMillwright` for asyncio.

    from millwright import Millwright

    with Millwright() as client:
        task = client.tasks.run({"content": "Sort attachments/names.txt."})
        print(task["status"])

What is sent and answered are dictionaries of JSON, as the reference names their fields; `millwright.types` has their types.
"""

from . import types as types
from ._calls import AsyncListing, Listing, Page
from ._client import AsyncMillwright, Millwright
from ._content import AsyncContent, Content
from ._fold import fold
from ._proofs import Proven, verify_proof
from ._statement import ProofCheck, ProofStatement
from ._unwrap import WebhookEvent, unwrap
from .errors import ConnectionError, MillwrightError, ProofError, TimeoutError, WebhookVerificationError
from .types import is_final

__all__ = [
    "AsyncContent",
    "AsyncListing",
    "AsyncMillwright",
    "ConnectionError",
    "Content",
    "Listing",
    "Millwright",
    "MillwrightError",
    "Page",
    "ProofCheck",
    "ProofError",
    "ProofStatement",
    "Proven",
    "TimeoutError",
    "WebhookEvent",
    "WebhookVerificationError",
    "fold",
    "is_final",
    "types",
    "unwrap",
    "verify_proof",
]
