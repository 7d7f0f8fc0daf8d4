"""Compares the methods with the OpenAPI document, from which the types are generated."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Answered

from shutterfleet import AsyncShutterfleet, Shutterfleet

ROOT = Path(__file__).parents[3]
DOCUMENT: Any = json.loads((ROOT / "docs/openapi.json").read_text())
BLOCKS: list[str] = re.findall(r"```python\n(.*?)```", (ROOT / "clients/python/README.md").read_text(), re.S)

CALLS: dict[str, Callable[[Shutterfleet], object]] = {
    "capture_post": lambda shots: shots.capture(html="x"),
    "list": lambda shots: list(shots.list()),
    "create": lambda shots: shots.create(html="x"),
    "batch": lambda shots: shots.batch(urls=[]),
    "batch_list": lambda shots: list(shots.batches()),
    "batch_status": lambda shots: shots.batch_status("1"),
    "status": lambda shots: shots.status("1"),
    "delete": lambda shots: shots.delete("1"),
    "events": lambda shots: list(shots.events("1")),
    "batch_events": lambda shots: list(shots.batch_events("1")),
    "account_events": lambda shots: next(iter(shots.account_events())),
    "image": lambda shots: shots.image("1"),
    "file": lambda shots: shots.file("1", "html"),
    "image_head": lambda shots: shots.describe_image("1"),
    "sign_url": lambda shots: shots.signed_url("1"),
    "account": lambda shots: shots.account(),
    "account_targets": lambda shots: shots.targets(),
    "account_targets_replace": lambda shots: shots.replace_targets(allow=[], deny=[]),
    "activity": lambda shots: list(shots.activity()),
    "activity_export": lambda shots: list(shots.export_activity(since="2026-01-01")),
    "usage": lambda shots: shots.usage(),
    "capture_deliveries": lambda shots: list(shots.deliveries("1")),
    "capture_redeliver": lambda shots: shots.redeliver("1", "2"),
    "key_list": lambda shots: shots.keys.list(),
    "key_create": lambda shots: shots.keys.create(name="Website"),
    "link_secret_rotate": lambda shots: shots.keys.rotate_link_secret("1"),
    "link_create": lambda shots: shots.keys.create_link("1", parameters={}),
    "key_revoke": lambda shots: shots.keys.revoke("1"),
    "member_list": lambda shots: shots.members.list(),
    "webhook_list": lambda shots: shots.webhooks.list(),
    "webhook_create": lambda shots: shots.webhooks.create(url="https://x"),
    "webhook_show": lambda shots: shots.webhooks.get("1"),
    "webhook_change": lambda shots: shots.webhooks.change("1"),
    "webhook_delete": lambda shots: shots.webhooks.delete("1"),
    "webhook_test": lambda shots: shots.webhooks.test("1"),
    "webhook_rotate_secret": lambda shots: shots.webhooks.rotate_secret("1"),
    "webhook_deliveries": lambda shots: list(shots.webhooks.deliveries("1")),
    "upload_destination_list": lambda shots: shots.upload_destinations.list(),
    "upload_destination_create": lambda shots: shots.upload_destinations.create(
        name="archive", endpoint="https://x", bucket="shots", access_key_id="a", secret_access_key="b"
    ),
    "upload_destination_delete": lambda shots: shots.upload_destinations.delete("1"),
    "upload_destination_test": lambda shots: shots.upload_destinations.test("1"),
    "webhook_redeliver": lambda shots: shots.webhooks.redeliver("1", "2"),
}
"""One call of the client for each operation."""

WITHOUT = {
    *("capture_get", "openapi", "docs", "render", "render_head"),
    *("member_add", "member_change", "member_remove", "member_link"),
}
"""Operations without a method: the GET variant of a POST, the documentation, what browsers request, and what keys may not."""

REQUESTS = {
    operation["operationId"]: f"{method.upper()} {path}"
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    if "operationId" in operation and operation["operationId"] not in WITHOUT
}


class RecordedError(Exception):
    pass


def record_only(_request: httpx.Request) -> httpx.Response:
    raise RecordedError


def test_every_operation_has_a_method() -> None:
    assert REQUESTS.keys() == CALLS.keys()


@pytest.mark.parametrize("operation", CALLS)
def test_a_method_sends_the_request_of_its_operation(operation: str) -> None:
    answered = Answered([record_only])
    with pytest.raises(RecordedError):
        CALLS[operation](answered.client())
    [request] = answered.requests
    expected = REQUESTS[operation].replace("{id}", "1").replace("{delivery_id}", "2").replace("{file}", "html")
    assert f"{request.method} {request.url.path}" == expected


def test_an_id_stays_one_word_of_the_path() -> None:
    answered = Answered([record_only])
    with pytest.raises(RecordedError):
        answered.client().status("../account?x=1")
    assert answered.requests[0].url.raw_path == b"/v1/screenshots/..%2Faccount%3Fx%3D1"


def test_both_clients_have_the_same_methods() -> None:
    def names(client: type) -> set[str]:
        return {name for name in vars(client) if not name.startswith("_")}

    assert names(AsyncShutterfleet) - {"aclose"} == names(Shutterfleet) - {"close"}


def test_the_blocks_of_the_readme_compile_and_call_methods_that_exist() -> None:
    assert len(BLOCKS) >= 4
    for block in BLOCKS:
        compile(block, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for name in re.findall(r"\bshots\.(\w+)\(", block):
            assert hasattr(Shutterfleet, name)
