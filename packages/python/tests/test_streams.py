"""Streams as they are written, followed and folded (reference §17, §19)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from millwright import MillwrightError, fold
from millwright._frames import Reader, Sent
from servers import Answer, Scripted, refusal

STREAM = {"Content-Type": "text/event-stream"}


def frame(data: dict[str, Any], id: str | None = None) -> str:
    return ("" if id is None else f"id: {id}\n") + f"data: {json.dumps(data)}\n\n"


def event(seq: int) -> str:
    return frame({"type": "task.updated", "seq": seq, "data": {}}, str(seq))


def stream(*frames: str) -> Answer:
    return Answer(200, "".join(frames).encode(), STREAM)


TEXT = "retry: 1500\n\nid: 1\r\ndata: {\"a\":\r\ndata:  \"ü\u2028\"}\r\n\r\n: comment\n\nid: 2\rdata: x\r\revent: e\nid\ndata\n\ndata: never ended\n".encode()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_reads_messages_wherever_their_bytes_are_cut(size: int) -> None:
    reader = Reader()
    read = [sent for at in range(0, len(TEXT), size) for sent in reader.feed(TEXT[at : at + size])]
    assert read == [Sent("1", '{"a":\n "ü\u2028"}'), Sent("2", "x"), Sent("", "")]
    assert reader.retry == 1.5


def test_ends_with_final_alone(told: Any, server: Scripted) -> None:
    server.answers = [
        stream(event(1), frame({"type": "stream.end", "reason": "shutdown"})),
        stream(event(1), event(2), frame({"type": "stream.end", "reason": "slow"})),
        stream(event(3), frame({"type": "stream.end", "reason": "final"})),
    ]
    # One that was told already is not told again.
    assert [one["seq"] for one in told.tasks.events("t")] == [1, 2, 3]
    assert [one.path.partition("after=")[2] for one in server.received] == ["0", "1", "2"]
    assert {one.headers["accept"] for one in server.received} == {"text/event-stream"}


@pytest.mark.parametrize(("reason", "status"), [("gone", 404), ("unauthorized", 401)])
def test_raises_where_nothing_more_can_come(told: Any, server: Scripted, reason: str, status: int) -> None:
    server.answers = [stream(event(1), frame({"type": "stream.end", "reason": reason}))]
    with pytest.raises(MillwrightError) as raised:
        list(told.tasks.events("t"))
    assert (raised.value.status, len(server.received)) == (status, 1)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_raises_what_stays_as_it_is(told: Any, server: Scripted, status: int) -> None:
    server.answers = [refusal(status, "x", retryable=False)]
    with pytest.raises(MillwrightError) as raised:
        list(told.events())
    assert (raised.value.status, len(server.received)) == (status, 1)


def test_waits_longer_and_longer_until_an_event_comes(told: Any, server: Scripted) -> None:
    busy = refusal(429, "too_many_streams", retryable=True, Retry_After="50")
    end = frame({"type": "stream.end", "reason": "final"})
    server.answers = [*[Answer(lost=True)] * 6, busy, stream(event(1)), Answer(lost=True), stream(end)]
    assert len(list(told.tasks.events("t"))) == 1
    *grown, asked, again, after = told.pauses
    for pause, whole in zip(grown, (1, 2, 4, 8, 16, 30), strict=True):
        assert whole / 2 <= pause <= whole
    assert asked == 50.0
    assert again <= 1 and after <= 2


def test_the_service_says_how_long_to_wait_at_least(told: Any, server: Scripted) -> None:
    server.answers = [stream("retry: 3000\n\n", event(1)), stream(frame({"type": "stream.end", "reason": "final"}))]
    list(told.tasks.events("t"))
    assert 1.5 <= told.pauses[0] <= 3


def test_deltas_are_told_between_the_events_and_only_where_they_are_wanted(told: Any, server: Scripted) -> None:
    delta = {"type": "message.delta", "messageId": "m", "index": 0, "part": "text", "offset": 0, "delta": "Hel"}
    ready = {"type": "stream.ready", "position": "0", "latest": 4, "task": {"id": "t", "status": "running"}}
    server.answers = [stream(frame(ready, "0"), frame(delta), event(1), frame({"type": "stream.end", "reason": "final"}))]
    told_of: list[Any] = []
    events = told.tasks.events("t", on_delta=told_of.append, on_ready=lambda task, latest: told_of.append((task["id"], latest)))
    for one in events:
        told_of.append(one["seq"])
    assert told_of == [("t", 4), delta, 1]
    assert "deltas=true" in server.received[0].path
    assert [one["type"] for one in told.tasks.events("t", types=["task.*", "x"])] == ["task.updated"]
    assert server.received[1].path.endswith("types=task.%2A%2Cx&after=0")
    with pytest.raises(TypeError, match="is a list"):
        list(told.tasks.events("t", types="task.*"))


def test_leaving_a_loop_lets_go_of_the_connection(told: Any, server: Scripted) -> None:
    server.answers = [stream(*(event(seq) for seq in range(1, 9)))]
    events = told.tasks.events("t")
    assert next(events)["seq"] == 1
    events.close()
    assert next(events, None) is None


def message(id: str, created_at: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"id": id, "createdAt": created_at, "parts": list(parts)}


def test_folds_events_to_messages() -> None:
    first, call = {"type": "tool_call", "toolCallId": "a"}, {"type": "tool_call", "toolCallId": "b"}
    result = {"type": "tool_result", "toolCallId": "a", "output": 1}
    added = {"type": "file", "fileId": "f"}
    events: Any = [
        {"type": "message.created", "seq": 1, "data": {"message": message("later", "2026-01-02", first, call)}},
        {"type": "message.created", "seq": 2, "data": {"message": message("same", "2026-01-02")}},
        {"type": "message.created", "seq": 3, "data": {"message": message("sooner", "2026-01-01")}},
        {"type": "message.created", "seq": 4, "data": {"message": message("withdrawn", "2026-01-01")}},
        {"type": "tool.completed", "seq": 5, "data": {"messageId": "later", "parts": [result, added]}},
        {"type": "tool.completed", "seq": 6, "data": {"messageId": "hidden", "parts": [result]}},
        {"type": "message.withdrawn", "seq": 7, "data": {"messageId": "withdrawn"}},
        {"type": "task.of_a_later_service", "seq": 8, "data": {}},
    ]
    before = json.dumps(events)
    folded: Any = fold(events)
    assert [one["id"] for one in folded] == ["sooner", "later", "same"]
    assert folded[1]["parts"] == [first, result, call, added]
    # What it was given stays as it is.
    assert json.dumps(events) == before
    whole = {"type": "message.completed", "seq": 9, "data": {"message": message("later", "2026-01-02", call)}}
    assert fold([*events, whole])[1] == message("later", "2026-01-02", call)  # type: ignore[comparison-overlap]

