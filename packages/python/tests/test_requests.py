"""Requests, made and made again, and what they raise (reference §10, §19)."""

from __future__ import annotations

import builtins
import email.utils
import io
import json
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import millwright
from millwright import ConnectionError, MillwrightError, TimeoutError
from servers import Answer, Scripted, refusal

PROJECT = Answer(201, {"project": {"id": "p-1"}})


def test_sends_json_with_the_key_and_gives_what_is_inside_of_the_envelope(told: Any, server: Scripted) -> None:
    server.answers = [PROJECT]
    assert told.projects.create({"name": "Mühle"}) == {"id": "p-1"}
    (request,) = server.received
    assert (request.method, request.path, json.loads(request.body)) == ("POST", "/v1/projects", {"name": "Mühle"})
    assert request.headers["authorization"] == "Bearer k"
    assert request.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(lost=True),
        Answer(cut=True),
        refusal(429, "rate_limit_exceeded", retryable=True),
        refusal(409, "idempotency_in_progress", retryable=True),
        refusal(500, "internal_error", retryable=True),
        refusal(503, "unavailable", retryable=True),
        Answer(502, b"<html>Bad Gateway</html>"),
    ],
    ids=["lost", "cut", "429", "in progress", "500", "503", "a proxy's 502"],
)
def test_a_keyed_request_is_made_again_under_the_same_key(told: Any, server: Scripted, answer: Answer) -> None:
    server.answers = [answer, answer, PROJECT]
    assert told.projects.create({"name": "Once"}) == {"id": "p-1"}
    first, *others = server.keys
    assert first is not None and others == [first, first]
    # Half of 0.5 s · 2ⁿ at least, and all of it at most.
    assert [low <= pause <= 2 * low for low, pause in zip((0.25, 0.5), told.pauses, strict=True)] == [True, True]


def test_each_call_has_a_key_of_its_own_or_the_one_that_is_given(told: Any, server: Scripted) -> None:
    server.answers = [PROJECT]
    told.projects.create({"name": "a"})
    told.projects.create({"name": "a"})
    told.projects.create({"name": "a"}, idempotency_key="mine")
    first, second, third = server.keys
    assert first != second and third == "mine"


def test_waits_as_long_as_the_service_asks(told: Any, server: Scripted) -> None:
    later = email.utils.formatdate(time.time() + 90, usegmt=True)
    busy = [refusal(429, "rate_limit_exceeded", retryable=True, Retry_After=after) for after in ("17", later, "soon")]
    server.answers = [*busy, Answer(200, {"models": []})]
    assert told.models.list() == []
    seconds, date, own = told.pauses
    assert seconds == 17.0
    assert 30 < date <= 90
    assert 1.0 <= own <= 2.0


def test_gives_up_after_as_many_tries_as_it_has(told: Any, server: Scripted) -> None:
    server.answers = [refusal(503, "unavailable", retryable=True)]
    with pytest.raises(MillwrightError) as raised:
        told.models.list()
    assert (raised.value.status, len(server.received)) == (503, 5)
    assert all(pause <= 8 for pause in told.pauses)


@pytest.mark.parametrize(
    ("answer", "tries"),
    [
        (Answer(lost=True), 1),
        (refusal(500, "internal_error", retryable=True), 1),
        (refusal(429, "rate_limit_exceeded", retryable=True), 2),
        (refusal(503, "unavailable", retryable=True), 2),
        (refusal(503, "storage_full", retryable=False), 1),
    ],
    ids=["lost", "500", "429", "503", "503 that stays"],
)
def test_what_may_have_worked_is_made_again_only_where_that_is_safe(
    told: Any, server: Scripted, answer: Answer, tries: int
) -> None:
    server.answers = [answer, Answer(200, {"project": {}})]
    try:
        told.projects.update("p-1", {"name": "b"})
    except (ConnectionError, MillwrightError):
        pass
    assert len(server.received) == tries


def test_a_request_that_is_at_fault_is_not_made_again(told: Any, server: Scripted) -> None:
    server.answers = [refusal(400, "invalid_field", retryable=False)]
    with pytest.raises(MillwrightError):
        told.models.list()
    assert len(server.received) == 1


def test_cancel_is_made_again_without_a_key(told: Any, server: Scripted) -> None:
    server.answers = [Answer(lost=True), Answer(200, {"task": {"id": "t"}})]
    assert told.tasks.cancel("t") == {"id": "t"}
    assert server.keys == [None, None]


def test_a_delete_whose_answer_is_lost_has_worked_when_it_then_finds_nothing(told: Any, server: Scripted) -> None:
    server.answers = [Answer(lost=True), refusal(404, "not_found", retryable=False)]
    assert told.projects.delete("p-1") == {"deleted": True, "id": "p-1"}
    with pytest.raises(MillwrightError) as raised:
        told.projects.delete("p-1")
    assert raised.value.code == "not_found"


def test_says_what_is_wrong_by_the_code_of_its_error(told: Any, server: Scripted) -> None:
    error = {
        "type": "invalid_request",
        "code": "invalid_upload",
        "message": "It is gone.",
        "param": "attachments[0].uploadId",
        "requestId": "r-7",
        "retryable": False,
    }
    server.answers = [Answer(400, {"error": error})]
    with pytest.raises(MillwrightError, match="It is gone.") as raised:
        told.tasks.create({"content": "x"})
    said = raised.value
    assert (said.status, said.type, said.code) == (400, "invalid_request", "invalid_upload")
    assert (said.param, said.request_id, said.retryable) == ("attachments[0].uploadId", "r-7", False)


def test_says_it_of_what_is_no_answer_of_the_service(told: Any, server: Scripted) -> None:
    server.answers = [Answer(404, b"<html>", {"X-Request-Id": "r-8"})]
    with pytest.raises(MillwrightError, match="HTTP 404, not one of the service") as raised:
        told.models.list()
    assert (raised.value.type, raised.value.code, raised.value.request_id) == ("invalid_request", "http_404", "r-8")


def test_nobody_answers(new_client: Any, free_port: int) -> None:
    client = new_client(api_key="k", base_url=f"http://127.0.0.1:{free_port}", max_retries=0)
    with pytest.raises(ConnectionError, match="cannot be reached") as raised:
        client.models.list()
    assert isinstance(raised.value, builtins.ConnectionError)
    assert isinstance(raised.value.__cause__, httpx.RequestError)


def test_no_answer_comes_in_time(new_client: Any, server: Scripted) -> None:
    over = threading.Event()
    server.answers = [Answer(after=over.wait)]
    client = new_client(api_key="k", base_url=server.url, max_retries=1, timeout=0.05)
    try:
        with pytest.raises(TimeoutError, match=r"within 0\.05 s") as raised:
            client.models.list()
    finally:
        over.set()
    assert isinstance(raised.value, (ConnectionError, builtins.TimeoutError))
    assert len(server.received) == 2


def test_asks_only_for_what_is_given(told: Any, server: Scripted) -> None:
    server.answers = [Answer(200, {"tasks": [], "nextCursor": None})]
    told.tasks.list(status=["queued", "running"], metadata={"ticket": "MILL 7"}, limit=3).page()
    told.tasks.list().page()
    first, second = (httpx.URL(one.path).params for one in server.received)
    assert dict(first) == {"status": "queued,running", "metadata.ticket": "MILL 7", "limit": "3"}
    assert dict(second) == {}


def test_makes_one_segment_of_an_id(told: Any, server: Scripted) -> None:
    told.models  # A resource is there before it is asked.
    server.answers = [Answer(200, {"task": {}})]
    told.tasks.get("a/../b?c#d")
    assert server.received[0].path == "/v1/tasks/a%2F..%2Fb%3Fc%23d"
    for id in ("", ".", "..", None):
        with pytest.raises(ValueError, match="is no id"):
            told.tasks.get(id)
    assert len(server.received) == 1


@pytest.mark.parametrize("kind", ["path", "bytes", "open"])
def test_an_upload_is_whole_in_each_try(told: Any, server: Scripted, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "namen ü.txt"
    path.write_bytes(b"b\na\n" * 1000)
    file = {"path": path, "bytes": path.read_bytes(), "open": io.BytesIO(path.read_bytes())}[kind]
    server.answers = [refusal(503, "unavailable", retryable=True), Answer(201, {"upload": {"id": "u"}})]
    name = None if kind == "path" else "namen ü.txt"
    assert told.uploads.create(file, name=name) == {"id": "u"}
    for request in server.received:
        assert request.headers["content-type"].startswith("multipart/form-data")
        assert 'filename="namen ü.txt"'.encode() in request.body
        assert path.read_bytes() in request.body


def test_an_upload_that_cannot_be_read_is_not_sent(told: Any, server: Scripted, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        told.uploads.create(tmp_path / "gone")
    with pytest.raises(TypeError, match="open for reading bytes"):
        told.uploads.create(io.StringIO("text"))
    assert server.received == []


def test_a_download_that_is_cut_raises_and_its_file_is_not_written_over(
    told: Any, server: Scripted, tmp_path: Path
) -> None:
    server.answers = [Answer(200, b"half", cut=True)]
    with pytest.raises(ConnectionError, match="in the middle"):
        told.files.content("f").read()
    there = tmp_path / "there"
    there.write_text("mine")
    server.answers = [Answer(200, b"all")]
    with pytest.raises(FileExistsError):
        told.files.content("f").save(there)
    assert there.read_text() == "mine"
    told.files.content("f").save(there, overwrite=True)
    assert there.read_text() == "all"
    with told.files.content("f") as content:
        assert content.headers["content-length"] == "3"
        assert list(content) == [b"all"]


def test_walks_through_pages_of_a_list_while_it_is_read(told: Any, server: Scripted) -> None:
    pages = [{"projects": [1, 2], "nextCursor": "c"}, {"projects": [3], "nextCursor": None}]
    server.answers = [Answer(200, page) for page in pages]
    assert list(told.projects.list(limit=2)) == [1, 2, 3]
    assert [one.path for one in server.received] == ["/v1/projects?limit=2", "/v1/projects?limit=2&cursor=c"]
    server.answers = [Answer(200, {**pages[0], "partial": True})]
    assert told.repositories.list is not None
    page = told.projects.list().page("d")
    assert (page.items, page.next_cursor, page.partial) == ([1, 2], "c", True)


def test_is_told_where_and_as_whom(new_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MILLWRIGHT_API_KEY", raising=False)
    monkeypatch.delenv("MILLWRIGHT_URL", raising=False)
    with pytest.raises(ValueError, match="MILLWRIGHT_API_KEY"):
        new_client()
    assert new_client(api_key="k").base_url == "http://127.0.0.1:3000"
    for url in ("nowhere", "ftp://a.test", "http://"):
        with pytest.raises(ValueError, match="is no URL"):
            new_client(api_key="k", base_url=url)
    for options in ({"timeout": 0}, {"max_retries": -1}):
        with pytest.raises(ValueError, match="max_retries"):
            new_client(api_key="k", **options)
    monkeypatch.setenv("MILLWRIGHT_API_KEY", "k")
    monkeypatch.setenv("MILLWRIGHT_URL", "https://a.test/millwright/")
    assert new_client().base_url == "https://a.test/millwright"


def test_every_name_that_is_public_is_there() -> None:
    assert [name for name in millwright.__all__ if not hasattr(millwright, name)] == []
    assert [name for name in millwright.types.__all__ if not hasattr(millwright.types, name)] == []
