from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from .types import Message, MessagePart, TaskEvent


def fold(events: Iterable[TaskEvent]) -> list[Message]:
    """
    The messages that events amount to, as `GET …/messages` lists them: the last form of each, in the order of `createdAt`, then of
    its first event (reference §17).
    """
    # In the order of their first events.
    folded: dict[str, Message] = {}
    for event in events:
        if event["type"] == "message.created" or event["type"] == "message.completed":
            message = event["data"]["message"]
            folded[message["id"]] = message
        elif event["type"] == "message.withdrawn":
            folded.pop(event["data"]["messageId"], None)
        elif event["type"] == "tool.completed":
            known = folded.get(event["data"]["messageId"])
            # The first event of its message may have been hidden.
            if known is not None:
                parts = _with_result(known["parts"], event["data"]["parts"])
                folded[known["id"]] = cast(Message, {**known, "parts": parts})
    return sorted(folded.values(), key=lambda message: message["createdAt"])


def _with_result(parts: list[MessagePart], news: list[MessagePart]) -> list[MessagePart]:
    """A result stands behind its call; what the tool added, at the end."""
    result = next((part for part in news if part["type"] == "tool_result"), None)
    all_parts: list[Any] = []
    for part in parts:
        all_parts.append(part)
        if result is not None and part["type"] == "tool_call" and part["toolCallId"] == cast(Any, result)["toolCallId"]:
            all_parts.append(result)
    return [*all_parts, *(part for part in news if part is not result)]
