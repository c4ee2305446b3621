"""Proofs: what the checks of a task said, signed by the service (reference §26). Nothing of it needs the service but its keys."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import httpx

from . import _ed25519
from ._statement import PatchState, ProofStatement, statement_in, summary_of
from .errors import ConnectionError, ProofError

PAYLOAD_TYPE = "application/vnd.in-toto+json"
KEYS_PATH = "/.well-known/millwright.jwks.json"

Json = Mapping[str, Any] | str | bytes
"""An object of JSON, or its text."""


@dataclass(frozen=True, slots=True)
class Proven:
    """What a proof says. That may be FAILED: look at `statement["predicate"]["result"]`."""

    statement: ProofStatement
    key_id: str
    """The key that has signed it."""
    patch: PatchState
    """Whether the patch that was given is the one that was checked; `not given` says nothing of any patch."""
    summary: str
    """What was proven, in words."""


def verify_proof(
    proof: Json, *, patch: str | bytes | None = None, keys: Json | None = None, origin: str | None = None
) -> Proven:
    """
    Verifies a proof and gives what it says.

    `proof`: the envelope, or its text: what is in `proof.json`. `patch`: the bytes of `changes.patch`. Whose keys are trusted: `keys`, a
    set that you have kept, as `/.well-known/millwright.jwks.json` answers it; or `origin`, where the service is that is asked for its own.

    Raises `ProofError` where anything does not fit, and `ConnectionError` where the keys cannot be had.
    """
    if (keys is None) == (origin is None):
        raise TypeError("Whose keys are trusted? Give `keys`, or `origin`.")
    payload_type, payload, signatures = _envelope_in(_object_of(proof, "The proof", "The proof is no DSSE envelope."))
    known = _keys_in(keys if keys is not None else _keys_of(origin or ""))
    # What is verified are these bytes, and no others are read below.
    key_id = _signed_by(_pre_auth_encoding(payload_type, payload), signatures, known)
    if payload_type != PAYLOAD_TYPE:
        _refuse(f"Its payloadType is {payload_type}, and that of a statement is {PAYLOAD_TYPE}.")
    statement = statement_in(_parsed(payload, "Its payload"), _refuse)
    compared = _compared(statement, patch)
    return Proven(statement, key_id, compared, summary_of(statement, compared))


def _pre_auth_encoding(type: str, body: bytes) -> bytes:
    """Of DSSE 1.0.2."""
    name = type.encode("utf-8", "surrogatepass")
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(body), body)


def _envelope_in(envelope: dict[str, Any]) -> tuple[str, bytes, list[tuple[str, bytes]]]:
    """Fields that it does not know are left alone, as DSSE wants it."""
    payload_type, signatures = envelope.get("payloadType"), envelope.get("signatures")
    if not isinstance(payload_type, str):
        _refuse("Its envelope has no payloadType.")
    if not isinstance(signatures, list) or not signatures:
        _refuse("Its envelope has no signature.")
    payload = _bytes_of(envelope.get("payload"))
    if payload is None:
        _refuse("Its payload is no Base64.")
    return payload_type, payload, [_signature_in(one) for one in signatures]


def _signature_in(value: object) -> tuple[str, bytes]:
    fields = _object_in(value, "A signature of it is none.")
    signature, key_id = _bytes_of(fields.get("sig")), fields.get("keyid")
    if signature is None:
        _refuse("A signature of it is no Base64.")
    return key_id if isinstance(key_id, str) else "", signature


def _signed_by(signed: bytes, signatures: list[tuple[str, bytes]], keys: dict[str, bytes]) -> str:
    """The key of a signature that holds. Others are passed over: the service's own always names its key."""
    named = [(key_id, signature) for key_id, signature in signatures if key_id in keys]
    for key_id, signature in named:
        if _ed25519.verify(keys[key_id], signed, signature):
            return key_id
    if named:
        _refuse("Its signature does not hold: it was changed, or signed by somebody else.")
    _refuse("It is signed by no key of this set.")


def _keys_in(given: Json) -> dict[str, bytes]:
    """Those of a JWK Set (RFC 7517) that proofs are signed with, by their names. Keys of other kinds are left alone."""
    keys = _object_of(given, "The key set", "The key set is none.").get("keys")
    if not isinstance(keys, list):
        _refuse("The key set has no keys.")
    found = {}
    for one in keys:
        key = _object_in(one, "A key of the set is none.")
        if [key.get(name) for name in ("kty", "crv", "use", "alg")] != ["OKP", "Ed25519", "sig", "EdDSA"]:
            continue
        key_id, raw = key.get("kid"), _bytes_of(key.get("x"))
        if raw is None or len(raw) != 32 or key_id != _thumbprint_of(key["x"]):
            _refuse("A key of the set is not the one that its kid names.")
        found[key_id] = raw
    return found


def _thumbprint_of(x: str) -> str:
    """RFC 7638, with the members that RFC 8037 names."""
    members = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": x}, separators=(",", ":"))
    return base64.urlsafe_b64encode(hashlib.sha256(members.encode()).digest()).rstrip(b"=").decode()


def _keys_of(origin: str) -> bytes:
    url = origin.rstrip("/") + KEYS_PATH
    try:
        # A key that has signed just now may be newer than what a cache has.
        response = httpx.get(url, headers={"cache-control": "no-cache"}, timeout=30)
    except (httpx.RequestError, httpx.InvalidURL) as error:
        raise ConnectionError(f"{url} does not answer with keys: {error}") from error
    if not response.is_success:
        raise ConnectionError(f"{url} does not answer with keys: HTTP {response.status_code}")
    return response.content


def _compared(statement: ProofStatement, patch: str | bytes | None) -> PatchState:
    subjects = [one for one in statement["subject"] if one["name"] == "changes.patch"]
    named = subjects[0]["digest"].get("sha256") if subjects else None
    if patch is None:
        return "none" if named is None else "not given"
    if named is None:
        _refuse("It is of no patch, and one was given.")
    given = hashlib.sha256(patch.encode() if isinstance(patch, str) else patch).hexdigest()
    if given == named:
        return "matches"
    _refuse(
        "The patch that was given is not the one that was checked: "
        f"its SHA-256 is {given}, and the proof names {named}."
    )


def _bytes_of(text: object) -> bytes | None:
    """Of Base64 in the standard alphabet or that of URLs (RFC 4648), but only as it is written of them: None for anything else."""
    if not isinstance(text, str) or not re.fullmatch("([A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}", text):
        return None
    standard = text.replace("-", "+").replace("_", "/")
    bare = standard.rstrip("=")
    if len(bare) % 4 == 1 or ("=" in standard and len(standard) % 4):
        return None
    raw = base64.b64decode(bare + "=" * (-len(bare) % 4))
    # Its last character may have bits that mean nothing.
    return raw if base64.b64encode(raw).decode().rstrip("=") == bare else None


def _parsed(text: str | bytes, what: str) -> Any:
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
    except ValueError:
        _refuse(f"{what} is no text.")
    try:
        return json.loads(decoded, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        _refuse(f"{what} is no JSON.")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON.")


def _object_of(given: Json, what: str, otherwise: str) -> dict[str, Any]:
    return _object_in(_parsed(given, what) if isinstance(given, (str, bytes)) else given, otherwise)


def _object_in(value: object, otherwise: str) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    _refuse(otherwise)


def _refuse(why: str) -> NoReturn:
    raise ProofError(f"This proof proves nothing. {why}")
