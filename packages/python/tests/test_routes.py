"""Each method is a route of the document of the service, and each route has a method."""

from __future__ import annotations

import inspect
import re
from typing import Any

import httpx
import pytest

from millwright import MillwrightError
from millwright._calls import Resource, call, download, listing
from servers import Answer, Scripted, refusal

WITHOUT = {
    "GET /v1/rate-limits",
    "GET /v1/tasks/{}/events",
    "GET /v1/events",
}
"""Those that have no method, or one that follows: `events`, `history`, `wait` and `run` are tried on their own."""
# `rehearse` makes nothing, so its POST needs no key.
GIVEN = {"file": b"x", "zip": b"x", "body": {}, "version": 3}


def methods(client: Any) -> list[tuple[str, Any]]:
    """Those of each resource that are one request."""
    inner = getattr(client, "_inner", client)
    resources = {name: one for name, one in vars(inner).items() if isinstance(one, Resource)}
    found = []
    for name, resource in sorted(resources.items()):
        for method, kind in inspect.getmembers(type(resource), lambda one: isinstance(one, (call, download, listing))):
            if f"{name}.{method}" not in ("tasks.wait", "tasks.run"):
                found.append((f"{name}.{method}", getattr(getattr(client, name), method)))
    return found


def parameters(method: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(getattr(method, "_inner", method)).parameters.values())


@pytest.fixture
def refusing(told: Any, server: Scripted) -> Any:
    server.answers = [refusal(400, "invalid_field", retryable=False)]
    return told


def test_each_method_is_a_route_with_these_parameters(refusing: Any, server: Scripted, service: dict[str, str]) -> None:
    paths = httpx.get(f"{service['base_url']}/openapi.json").json()["paths"]
    routes = {f"{verb.upper()} {re.sub('{[^}]*}', '{}', path)}": route for path, of in paths.items() for verb, route in of.items()}
    wrong, used = [], set(WITHOUT)
    for name, method in methods(refusing):
        server.received.clear()
        arguments = parameters(method)
        needed = [GIVEN.get(one.name, "an-id") for one in arguments if one.default is one.empty and one.kind != one.KEYWORD_ONLY]
        named = {one.name: "x" for one in arguments if one.kind == one.KEYWORD_ONLY}
        if "metadata" in named:
            del named["metadata"]
        with pytest.raises(MillwrightError):
            answer = method(*needed, **named)
            answer.page()
        (request,) = server.received
        path, _, query = request.path.partition("?")
        route = f"{request.method} {re.sub('/(an-id|3)(?=/|$)', '/{}', path)}"
        used.add(route)
        if route not in routes:
            wrong.append(f"{name}: there is no {route}")
            continue
        known = {one["name"] for one in routes[route].get("parameters", []) if one["in"] == "query"}
        wrong += [f"{name}: {one} is no parameter of {route}" for one in httpx.QueryParams(query) if one not in known]
        takes_key = any(one["name"] == "Idempotency-Key" for one in routes[route].get("parameters", []))
        if name != "automations.rehearse" and takes_key != ("idempotency-key" in request.headers):
            wrong.append(f"{name}: {route} {'takes' if takes_key else 'takes no'} Idempotency-Key")
    assert wrong == []
    of_clients = {route for route in routes if re.match("[A-Z]+ /v1/", route)}
    assert sorted(of_clients - used) == []


def test_each_method_says_what_it_is_for(refusing: Any) -> None:
    assert [name for name, method in methods(refusing) if not inspect.getdoc(getattr(method, "_inner", method))] == []
    assert len(methods(refusing)) > 100
