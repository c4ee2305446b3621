"""What is inside of a proof: in-toto Statement v1 with the predicate test-result v0.1 (reference §26)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NoReturn, NotRequired, TypedDict, cast

TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"

PatchState = Literal["matches", "not given", "none"]


class ProofCheck(TypedDict):
    name: str
    phase: Literal["before", "after"]
    round: int
    """How many repairs went before it in this turn."""
    status: Literal["passed", "failed", "timed_out", "error"]
    exitCode: int | None
    durationMs: int
    outputSha256: str
    protectedChanged: list[str]
    """Protected paths that the agent had changed; the check saw them as they were."""


class ProofSubject(TypedDict):
    name: str
    """`changes.patch`, `git:<commit>`, `workdir`."""
    digest: dict[str, str]


class ProofDescriptor(TypedDict):
    """A ResourceDescriptor of in-toto: each check with its command, the repository, the environment, the agent and the model."""

    name: str
    uri: NotRequired[str]
    digest: NotRequired[dict[str, str]]
    content: NotRequired[str]
    mediaType: NotRequired[str]
    annotations: NotRequired[dict[str, Any]]


class ProofAudit(TypedDict):
    seq: int
    hash: str


class ProofFacts(TypedDict):
    task: str
    turn: int
    workspace: str
    finishedAt: str
    checks: list[ProofCheck]
    audit: ProofAudit | None
    """The row of the workspace's audit log that was sealed last."""


class ProofPredicate(TypedDict):
    result: Literal["PASSED", "FAILED"]
    configuration: list[ProofDescriptor]
    passedTests: list[str]
    failedTests: list[str]
    millwright: ProofFacts


class ProofStatement(TypedDict):
    _type: str
    subject: list[ProofSubject]
    predicateType: str
    predicate: ProofPredicate


def statement_in(value: object, refuse: Callable[[str], NoReturn]) -> ProofStatement:
    """What was signed, if it has the form of a proof. Fields that are not known are left alone, as in-toto wants it."""
    statement = _fields(value)
    for name, wanted, what in (("_type", TYPE, "a statement"), ("predicateType", PREDICATE_TYPE, "checks")):
        if statement.get(name) != wanted:
            refuse(f"Its {name} is {_shown(statement.get(name))}, and that of {what} is {wanted}.")
    predicate = _fields(statement.get("predicate"))
    facts = _fields(predicate.get("millwright"))
    whole = (
        _is_list(statement.get("subject"), _is_subject, least=1)
        and predicate.get("result") in ("PASSED", "FAILED")
        and _is_list(predicate.get("configuration"), _is_descriptor)
        and _is_list(predicate.get("passedTests"), _is_text)
        and _is_list(predicate.get("failedTests"), _is_text)
        and _is_text(facts.get("task"))
        and _is_whole(facts.get("turn"))
        and _is_text(facts.get("finishedAt"))
        and _is_list(facts.get("checks"), _is_check, least=1)
    )
    return cast(ProofStatement, value) if whole else refuse("Its statement is none of checks.")


def summary_of(statement: ProofStatement, patch: PatchState) -> str:
    """One line that says what a proof proves."""
    predicate = statement["predicate"]
    facts = predicate["millwright"]
    before = {check["name"] for check in facts["checks"] if check["phase"] == "before" and check["status"] == "failed"}
    required = {
        one["name"]: _fields(one.get("annotations")).get("required") is not False
        for one in reversed(predicate["configuration"])
    }
    passed = [f"{name} (failed before)" if name in before else name for name in predicate["passedTests"]]
    failed = [
        name if required.get(f"check/{name}", True) else f"{name} (not required)" for name in predicate["failedTests"]
    ]
    outcome = "; ".join(f"{', '.join(names)} {verb}" for names, verb in ((passed, "passed"), (failed, "failed")) if names)
    kept = len({path for check in facts["checks"] for path in check["protectedChanged"]})
    paths = "path was" if kept == 1 else "paths were"
    put_back = f" {kept} protected {paths} changed, and put back for the checks." if kept else ""
    subjects = " and ".join(_subject_in_words(subject) for subject in statement["subject"])
    turn = f"Turn {facts['turn']} of task {facts['task']}, ended {facts['finishedAt']}, on {subjects}."
    return f"{predicate['result']}: {outcome}. {turn}{put_back} {_PATCHES[patch]}"


_PATCHES: dict[PatchState, str] = {
    "matches": "The patch that was given is the one that was checked.",
    "not given": "No patch was given, so it is proven of no file of yours.",
    "none": "It is of no patch.",
}


def _subject_in_words(subject: ProofSubject) -> str:
    sha256 = subject["digest"].get("sha256")
    return subject["name"] if sha256 is None else f"{subject['name']} (sha256 {sha256[:16]}…)"


def _fields(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _shown(value: object) -> str:
    return value if isinstance(value, str) else "missing"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_whole(value: object) -> bool:
    """As JSON has it: 1.0 is one too."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


def _is_list(value: object, is_one: Callable[[object], bool], least: int = 0) -> bool:
    return isinstance(value, list) and len(value) >= least and all(is_one(one) for one in value)


def _is_subject(value: object) -> bool:
    fields = _fields(value)
    digests = list(_fields(fields.get("digest")).values())
    return _is_text(fields.get("name")) and len(digests) > 0 and all(_is_text(digest) for digest in digests)


def _is_descriptor(value: object) -> bool:
    """One of `uri`, `digest` and `content` at least."""
    fields = _fields(value)
    return _is_text(fields.get("name")) and any(name in fields for name in ("uri", "digest", "content"))


def _is_check(value: object) -> bool:
    fields = _fields(value)
    texts = all(_is_text(fields.get(name)) for name in ("name", "phase", "status"))
    return texts and _is_whole(fields.get("round")) and _is_list(fields.get("protectedChanged"), _is_text)
