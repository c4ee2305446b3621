"""Proofs, by the fixtures of the SDK (reference §26)."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from typing import Any

import pytest

from conftest import FIXTURES
from millwright import ConnectionError, ProofError, verify_proof
from millwright import _ed25519
from servers import Answer, Scripted

GOLDEN = json.loads((FIXTURES / "proofs" / "golden.json").read_text("utf-8"))
CASES = json.loads((FIXTURES / "proofs" / "cases.json").read_text("utf-8"))
PROOF, KEYS, PATCH = GOLDEN["proof"], GOLDEN["keys"], GOLDEN["patch"]
KEY = KEYS["keys"][0]


def refusal(*args: Any, **options: Any) -> str:
    with pytest.raises(ProofError) as raised:
        verify_proof(*args, **options)
    return str(raised.value)


def test_a_proof_that_another_program_has_made_verifies_with_its_patch() -> None:
    proven = verify_proof(PROOF, patch=PATCH, keys=KEYS)
    assert (proven.key_id, proven.patch) == (KEY["kid"], "matches")
    assert proven.statement == json.loads(base64.b64decode(PROOF["payload"]))
    assert proven.summary == (
        "PASSED: test (failed before), lint passed. Turn 1 of task 01a2047b-2b2f-71b6-93df-54922585c41e, "
        "ended 2026-11-29T23:00:00.000Z, on changes.patch (sha256 45ccd217914f3398…) and "
        "git:d20ace7968ba43c0219f62d71334c1095bab1602. The patch that was given is the one that was checked."
    )


def test_it_verifies_as_text_and_bytes() -> None:
    proven = verify_proof(json.dumps(PROOF, indent=2), patch=PATCH.encode(), keys=json.dumps(KEYS).encode())
    assert proven.patch == "matches"


def test_it_verifies_in_another_spelling() -> None:
    proven = verify_proof(GOLDEN["otherSpelling"], keys=KEYS)
    assert proven.statement["predicate"]["millwright"]["workspace"] == "mühle"
    assert proven.patch == "not given"
    assert proven.summary.endswith("No patch was given, so it is proven of no file of yours.")


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_it_is_refused_with_a_sentence(case: Any) -> None:
    proof = case["proof"] if not isinstance(case["proof"], list) else json.dumps(case["proof"])
    assert case["refused"] in refusal(proof, keys=KEYS)


def test_it_is_refused_with_a_patch_that_is_another() -> None:
    said = refusal(PROOF, keys=KEYS, patch=f"{PATCH}\n")
    assert "is not the one that was checked: its SHA-256 is " in said and "the proof names 45ccd2" in said


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ("[", "The key set is no JSON."),
        ({}, "The key set has no keys."),
        ({"keys": []}, "by no key of this set."),
        ({"keys": [{**KEY, "use": "enc"}]}, "by no key of this set."),
        ({"keys": [{**KEY, "x": f"B{KEY['x'][1:]}"}]}, "A key of the set is not the one that its kid names."),
        ({"keys": [{**KEY, "x": None}]}, "A key of the set is not the one that its kid names."),
        ({"keys": ["x"]}, "A key of the set is none."),
    ],
)
def test_it_is_refused_with_keys_that_are_none(keys: Any, sentence: str) -> None:
    assert sentence in refusal(PROOF, keys=keys)


@pytest.mark.parametrize("text", ["NaN", "[" * 100_000, "9" * 5000, '{"a": 1e999', "\ufeff{}", b"\xff"])
def test_text_that_is_no_proof_is_refused(text: Any) -> None:
    refusal(text, keys=KEYS)


def test_whose_keys_are_trusted_is_said() -> None:
    for options in ({}, {"keys": KEYS, "origin": "http://a.test"}):
        with pytest.raises(TypeError, match="Whose keys are trusted"):
            verify_proof(PROOF, **options)


def test_a_service_that_has_no_keys(server: Scripted, free_port: int) -> None:
    server.answers = [Answer(502, b""), Answer(200, KEYS)]
    with pytest.raises(ConnectionError, match="jwks.json does not answer with keys: HTTP 502"):
        verify_proof(PROOF, origin=server.url)
    assert verify_proof(PROOF, origin=f"{server.url}/").patch == "not given"
    assert {one.path for one in server.received} == {"/.well-known/millwright.jwks.json"}
    assert {one.headers["cache-control"] for one in server.received} == {"no-cache"}
    with pytest.raises(ConnectionError, match="does not answer with keys"):
        verify_proof(PROOF, origin=f"http://127.0.0.1:{free_port}")


def test_of_many_mutations_none_verifies() -> None:
    numbers = random.Random(1)
    body, signature = base64.b64decode(PROOF["payload"]), base64.b64decode(PROOF["signatures"][0]["sig"])

    def flipped(raw: bytes) -> bytes:
        at = numbers.randrange(len(raw))
        return raw[:at] + bytes([raw[at] ^ (1 << numbers.randrange(8))]) + raw[at + 1 :]

    def signed(sig: bytes) -> Any:
        return {**PROOF, "signatures": [{"keyid": KEY["kid"], "sig": base64.b64encode(sig).decode()}]}

    s = int.from_bytes(signature[32:], "little")
    for n in range(60):
        refusal({**PROOF, "payload": base64.b64encode(flipped(body)).decode()}, keys=KEYS)
        refusal(signed(flipped(signature)), keys=KEYS)
        # The same half of a signature by the order of the group more: the equation holds, and it is another signature.
        if n < 14:
            refusal(signed(signature[:32] + (s + _ed25519.L * (n + 1)).to_bytes(32, "little")), keys=KEYS)
        refusal(PROOF, keys=KEYS, patch=flipped(PATCH.encode()))
        x = base64.urlsafe_b64encode(flipped(base64.urlsafe_b64decode(f"{KEY['x']}="))).decode().rstrip("=")
        refusal(PROOF, keys={"keys": [{**KEY, "x": x}]})
    for size in (0, 32, 63, 65):
        refusal(signed(bytes(size)), keys=KEYS)


# RFC 8032 §7.1.
RFC8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("key", "message", "signature"), RFC8032)
def test_ed25519_is_that_of_rfc_8032(key: str, message: str, signature: str) -> None:
    raw_key, raw_message, raw = (bytes.fromhex(text) for text in (key, message, signature))
    assert _ed25519.verify(raw_key, raw_message, raw)
    assert not _ed25519.verify(raw_key, raw_message + b"\0", raw)
    assert not _ed25519.verify(raw_key[:31], raw_message, raw)
    # A point that is written in another way than the one, or is none.
    assert not _ed25519.verify((_ed25519.P + 1).to_bytes(32, "little"), raw_message, raw)
    assert not _ed25519.verify((2).to_bytes(32, "little"), raw_message, raw)
    assert not _ed25519.verify((1 | 1 << 255).to_bytes(32, "little"), raw_message, raw)


def test_the_hash_that_names_a_patch_is_of_its_bytes() -> None:
    assert hashlib.sha256(PATCH.encode()).hexdigest().startswith("45ccd217914f3398")
