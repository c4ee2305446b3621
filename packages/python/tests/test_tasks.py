"""Work with a service (reference §17, §19)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import without_pauses
from millwright import Millwright, MillwrightError, ProofError, fold, is_final, verify_proof
from millwright._follow import TIMES
from servers import Cutting
from tasks import NAMES, SORT, first_option, runbook

LONG = runbook(*(f"echo {n}; sleep 0.05" for n in range(8)))


def test_runs_a_task_to_its_end(client: Any, tmp_path: Path) -> None:
    upload = client.uploads.create(NAMES)
    events: list[Any] = []
    body = {"content": SORT, "attachments": [{"uploadId": upload["id"]}]}
    task = client.tasks.run(body, on_event=events.append, on_question=first_option)
    assert task["status"] == "completed"
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert list(client.tasks.history(task["id"])) == events
    settled = list(client.tasks.history(task["id"], after=2, types=["interaction.*"]))
    assert [event["type"] for event in settled] == ["interaction.created", "interaction.settled"]
    messages = list(client.tasks.messages(task["id"]))
    assert fold(events) == messages
    assert [messages[0]["role"], {message["role"] for message in messages[1:]}] == ["user", {"assistant"}]
    (published,) = (file for file in client.tasks.files(task["id"]) if file["origin"] == "task")
    assert sorted(NAMES.read_text().split()) == client.files.content(published["id"]).text().split()
    client.tasks.files_archive(task["id"]).save(tmp_path / "files.zip")
    assert (tmp_path / "files.zip").read_bytes().startswith(b"PK")


def test_sends_and_reads_files_as_they_are(client: Any) -> None:
    content = bytes(range(256)) * 1000
    project = client.projects.create({"name": "Files"})
    file = client.projects.add_file(project["id"], content, name="ü & 1.bin")
    assert (file["name"], file["size"]) == ("ü & 1.bin", len(content))
    with client.files.content(file["id"]) as read:
        assert b"".join(read) == content
    assert [one["id"] for one in client.projects.files(project["id"])] == [file["id"]]
    assert client.projects.remove_file(project["id"], file["id"]) == {"deleted": True, "id": file["id"]}


def test_walks_through_a_list_over_all_its_pages_or_gives_one(client: Any) -> None:
    for name in ("one", "two", "three"):
        client.projects.create({"name": name})
    projects = client.projects.list(limit=2)
    assert [project["name"] for project in projects][:3] == ["three", "two", "one"]
    page = projects.page()
    assert [project["name"] for project in page.items] == ["three", "two"]
    assert projects.page(page.next_cursor).items[0]["name"] == "one"
    with pytest.raises(MillwrightError) as raised:
        projects.page("no cursor")
    assert raised.value.code == "invalid_cursor"


def test_the_same_key_makes_the_same_thing_only_once(client: Any) -> None:
    once = client.projects.create({"name": "Once"}, idempotency_key="a-key-of-a-test")
    assert client.projects.create({"name": "Once"}, idempotency_key="a-key-of-a-test") == once
    with pytest.raises(MillwrightError) as raised:
        client.projects.create({"name": "Twice"}, idempotency_key="a-key-of-a-test")
    assert (raised.value.status, raised.value.code) == (409, "idempotency_key_reused")


def test_says_what_is_wrong_by_the_code_of_its_error(client: Any, new_client: Any, service: dict[str, str]) -> None:
    with pytest.raises(MillwrightError) as raised:
        client.tasks.get("x")
    said = raised.value
    assert (said.status, said.type, said.code, said.param, said.retryable) == (404, "not_found", "not_found", None, False)
    with pytest.raises(MillwrightError) as raised:
        client.tasks.create({"content": "x", "attachments": [{"uploadId": "x"}]})
    assert (raised.value.code, raised.value.param) == ("invalid_upload", "attachments[0].uploadId")
    with pytest.raises(MillwrightError) as raised:
        new_client(base_url=service["base_url"], api_key="x").models.list()
    assert (raised.value.status, raised.value.code) == (401, "invalid_credential")


def test_asks_the_other_resources(client: Any) -> None:
    context = client.auth.context()
    assert [member["id"] for member in client.members.list()] == [context["user"]["id"]]
    assert "runbook" in [model["id"] for model in client.models.list()]
    assert client.web.read() is None
    assert client.mcp_servers.list() == []
    assert client.billing.summary()["plan"]
    assert [key["id"] for key in client.keys.list()] != []
    assert {entry["action"] for entry in client.audit.list(action="project.create", limit=5)} <= {"project.create"}
    assert "github" in [integration["slug"] for integration in client.integrations.list()]
    body = {"name": "A", "content": "x", "triggerEvent": "github.push", "filter": "ref == 'main'"}
    made = client.integrations.connect("github", {"scope": "workspace"})
    rehearsal = client.automations.rehearse(body, sample_payload={"ref": "main"})
    assert (rehearsal["wouldRun"], rehearsal["automation"]["id"]) == (True, None)
    assert list(client.automations.list()) == []
    client.integrations.disconnect("github", made["connection"]["id"])
    webhook = client.webhooks.create({"url": "https://hooks.example.com/x", "types": ["task.*"]})
    assert webhook["secret"] != client.webhooks.rotate_secret(webhook["webhook"]["id"])["secret"]
    assert [one["id"] for one in client.webhooks.list()] == [webhook["webhook"]["id"]]
    assert list(client.webhooks.deliveries(webhook["webhook"]["id"])) == []
    assert client.webhooks.delete(webhook["webhook"]["id"])["deleted"]


def test_makes_a_service_account_with_a_key_that_works_and_ends_both(client: Any, new_client: Any) -> None:
    robot = client.service_accounts.create({"name": "Robot"})
    made = client.service_accounts.create_key(robot["id"], {"name": "ci", "scopes": ["tasks:read"]})
    other = new_client(base_url=client.base_url, api_key=made["secret"])
    assert other.auth.context()["user"]["id"] == robot["id"]
    assert [key["id"] for key in client.service_accounts.keys(robot["id"])] == [made["key"]["id"]]
    client.service_accounts.delete_key(robot["id"], made["key"]["id"])
    with pytest.raises(MillwrightError) as raised:
        other.auth.context()
    assert raised.value.status == 401
    assert client.service_accounts.delete(robot["id"]) == {"deleted": True, "id": robot["id"]}


def test_the_task_of_an_earlier_turn_is_not_its_end(client: Any) -> None:
    task = client.tasks.run({"content": runbook("echo first")})
    client.tasks.send(task["id"], {"content": runbook("echo second")})
    assert "second" in client.tasks.wait(task["id"])["result"]["text"]
    assert client.tasks.wait(task["id"], after="latest")["status"] == "completed"


def test_what_a_callback_raises_ends_the_following_and_not_the_task(client: Any) -> None:
    def leave(*_: Any) -> None:
        raise KeyError("left")

    task = client.tasks.create({"content": SORT, "attachments": [{"uploadId": client.uploads.create(NAMES)["id"]}]})
    with pytest.raises(KeyError, match="left"):
        client.tasks.wait(task["id"], on_question=leave)
    with pytest.raises(KeyError, match="left"):
        client.tasks.wait(task["id"], on_event=leave)
    assert client.tasks.get(task["id"])["status"] == "awaiting_input"
    client.tasks.cancel(task["id"])
    assert client.tasks.wait(task["id"])["status"] == "cancelled"


def test_raises_for_a_task_that_is_gone(client: Any, new_client: Any, service: dict[str, str]) -> None:
    task = client.tasks.run({"content": runbook("echo a")})
    events = client.tasks.events(task["id"])
    next(events)
    new_client(**service).tasks.delete(task["id"])
    with pytest.raises(MillwrightError) as raised:
        for _ in events:
            pass
    assert (raised.value.status, raised.value.code) == (404, "not_found")
    with pytest.raises(MillwrightError) as raised:
        client.tasks.wait(task["id"])
    assert raised.value.status == 404


def test_follows_the_workspace_from_a_position_on(client: Any) -> None:
    task = client.tasks.run({"content": runbook("echo a")})
    ready: list[str] = []
    seen = []
    for event in client.events(after="0", types=["task.completed"], on_ready=lambda: ready.append("ready")):
        seen.append(event)
        if event["taskId"] == task["id"]:
            break
    assert ready == ["ready"]
    assert {event["type"] for event in seen} == {"task.completed"}
    assert len({event["id"] for event in seen}) == len(seen)


@pytest.fixture(scope="module")
def long_task(service: dict[str, str]) -> str:
    """One that is over."""
    with Millwright(**service) as mw:
        return mw.tasks.run({"content": LONG})["id"]


def test_a_stream_that_is_cut_50_times_loses_nothing_and_repeats_nothing(
    client: Any, new_client: Any, service: dict[str, str], long_task: str
) -> None:
    whole = list(client.tasks.history(long_task))
    messages = list(client.tasks.messages(long_task))
    with Cutting(service["base_url"], cuts=50) as relay:
        following = without_pauses(new_client(base_url=relay.url, api_key=service["api_key"]))
        while relay.left > 0:
            seen = []
            for event in following.tasks.events(long_task):
                seen.append(event)
                if len(seen) == len(whole):
                    break
            assert seen == whole
            assert fold(seen) == messages
        assert relay.streams >= 50


def test_a_task_is_followed_while_its_stream_is_cut_again_and_again(
    client: Any, new_client: Any, service: dict[str, str]
) -> None:
    with Cutting(service["base_url"], cuts=50) as relay:
        following = without_pauses(new_client(base_url=relay.url, api_key=service["api_key"]))
        events: list[Any] = []
        deltas: list[Any] = []
        task = following.tasks.run({"content": LONG}, on_event=events.append, on_delta=deltas.append)
        assert relay.left < 45
    assert task["status"] == "completed"
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events == list(client.tasks.history(task["id"]))[: len(events)]
    assert is_final(events[-1]["data"]["status"])
    assert fold(events) == list(client.tasks.messages(task["id"]))


def test_where_nothing_comes_through_a_stream_it_asks_again_and_again(
    new_client: Any, service: dict[str, str], monkeypatch: pytest.MonkeyPatch, short_times: None
) -> None:
    monkeypatch.setattr(TIMES, "silence", 0.2)
    monkeypatch.setattr(TIMES, "poll", 1)
    with Cutting(service["base_url"], mute=True) as relay:
        client = new_client(base_url=relay.url, api_key=service["api_key"])
        events: list[Any] = []
        task = client.tasks.run({"content": runbook("echo a")}, on_event=events.append)
        assert (task["status"], relay.streams) == ("completed", 2)
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


@pytest.fixture(scope="module")
def checked(service: dict[str, str]) -> str:
    """A task whose checks have run."""
    checks = [{"name": "there", "command": "true"}, {"name": "not-there", "command": "false", "required": False}]
    with Millwright(**service) as mw:
        return mw.tasks.run({"content": runbook("echo a"), "checks": checks})["id"]


def test_verifies_a_proof_of_the_service(client: Any, service: dict[str, str], checked: str) -> None:
    proof = client.tasks.proof(checked)
    proven = client.verify_proof(proof)
    assert proven.statement["predicate"]["passedTests"] == ["there"]
    assert proven.statement["predicate"]["millwright"]["task"] == checked
    assert verify_proof(proof, origin=f"{service['base_url']}/") == proven
    assert client.verify_proof(json.dumps(proof)) == proven
    with pytest.raises(ProofError, match="does not hold"):
        client.verify_proof({**proof, "payload": proof["payload"].replace("A", "B", 1)})
