"""Webhooks, by the vectors of the SDK (reference §18)."""

from __future__ import annotations

import json
import time
from email.message import Message
from typing import Any

import httpx
import pytest

from conftest import FIXTURES
from millwright import Millwright, WebhookVerificationError, unwrap

VECTORS = json.loads((FIXTURES / "webhooks" / "unwrap.json").read_text("utf-8"))
CASES = VECTORS["cases"]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: float(VECTORS["now"]))


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_decides_by_the_vectors(case: Any) -> None:
    options = {"tolerance_seconds": case["toleranceSeconds"]} if "toleranceSeconds" in case else {}
    if "event" in case:
        assert unwrap(case["body"], case["headers"], case["secrets"], **options) == case["event"]
    else:
        with pytest.raises(WebhookVerificationError) as raised:
            unwrap(case["body"], case["headers"], case["secrets"], **options)
        assert case["refused"] in str(raised.value)


def test_takes_bytes_one_secret_and_the_headers_of_any_framework() -> None:
    case = CASES[0]
    (secret,) = case["secrets"]
    message = Message()
    for name, value in case["headers"].items():
        message[name.title()] = value
    shouted = {name.upper(): value for name, value in case["headers"].items()}
    for headers in (message, shouted, httpx.Headers(case["headers"])):
        assert unwrap(case["body"].encode(), headers, secret) == case["event"]
    client = Millwright(api_key="k")
    assert client.webhooks.unwrap(case["body"], case["headers"], secret) == case["event"]
    client.close()


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_%%%"])
def test_a_secret_that_is_none_is_not_tried(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_") as raised:
        unwrap(CASES[0]["body"], CASES[0]["headers"], secret)
    assert not isinstance(raised.value, WebhookVerificationError)
