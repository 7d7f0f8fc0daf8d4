"""Retries, errors and streams, without a service."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from conftest import Answer, Answered

from shutterfleet import Shutterfleet, ShutterfleetError, UnreachableError


def refusal(status: int, code: str = "X", retry_after: int | None = 0, **fields: Any) -> Answer:
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    body = {"error": {"code": code, "message": "No.", "status": status, "request_id": "r1", **fields}}
    return lambda _request: httpx.Response(status, json=body, headers=headers)


def record(status: str, **fields: Any) -> Answer:
    return lambda _request: httpx.Response(200, json={"data": {"id": "i", "status": status, **fields}})


def stream(text: str) -> Answer:
    return lambda _request: httpx.Response(200, text=text, headers={"content-type": "text/event-stream"})


def broken(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadError("the connection broke", request=request)


def test_429_and_503_are_retried_with_the_same_key() -> None:
    answered = Answered([refusal(429), refusal(503), record("pending")])
    assert answered.client().create(html="x")["id"] == "i"
    assert len(answered.requests) == 3
    assert len({request.headers["idempotency-key"] for request in answered.requests}) == 1


def test_a_broken_connection_of_an_idempotent_request_is_retried() -> None:
    answered = Answered([broken, record("pending")])
    assert answered.client().create(html="x")["id"] == "i"
    assert len({request.headers["idempotency-key"] for request in answered.requests}) == 1


def test_a_broken_connection_of_another_request_is_not_retried() -> None:
    answered = Answered([broken])
    with pytest.raises(UnreachableError) as raised:
        answered.client().webhooks.create(url="https://x")
    assert len(answered.requests) == 1
    assert isinstance(raised.value, httpx.TransportError)
    assert isinstance(raised.value, ShutterfleetError)
    assert raised.value.code == "UNREACHABLE"
    assert str(raised.value) == "The service at http://here is not reachable: the connection broke"


@pytest.mark.parametrize(
    ("answers", "options"),
    [([429, 429], {"retries": 1}), ([429], {"retry_wait_seconds": -1}), ([422], {})],
    ids=["at most as often as configured", "not if the wait is too long", "not after another error"],
)
def test_retries_are_bounded(answers: list[int], options: dict[str, Any]) -> None:
    answered = Answered([refusal(status) for status in answers])
    with pytest.raises(ShutterfleetError) as caught:
        answered.client(**options).create(html="x")
    assert (caught.value.code, caught.value.request_id, caught.value.retry_after) == ("X", "r1", 0)
    assert len(answered.requests) == len(answers)


def test_a_503_of_a_request_that_is_not_idempotent_is_not_retried() -> None:
    answered = Answered([refusal(503)])
    with pytest.raises(ShutterfleetError):
        answered.client().webhooks.create(url="https://x")
    assert len(answered.requests) == 1


def test_the_message_of_an_error_has_its_first_detail() -> None:
    details = {"width": ["must be at least 320"], "height": ["must be at least 200"]}
    with pytest.raises(ShutterfleetError, match=r"No\. width: must be at least 320") as caught:
        Answered([refusal(422, details=details)]).client().create(html="x", width=1)
    assert caught.value.details == details


def test_a_response_that_is_not_of_the_service_is_unexpected() -> None:
    answered = Answered([lambda _request: httpx.Response(502, text="<h1>Bad gateway</h1>")])
    with pytest.raises(ShutterfleetError) as caught:
        answered.client().usage()
    assert (caught.value.code, caught.value.status) == ("UNEXPECTED_ANSWER", 502)


def test_a_redirect_is_not_followed() -> None:
    answered = Answered([lambda _request: httpx.Response(302, headers={"location": "http://elsewhere/"})])
    with pytest.raises(ShutterfleetError, match="302"):
        answered.client().usage()
    assert len(answered.requests) == 1


@pytest.mark.parametrize("base_url", ["here", "ftp://here", "http://"])
def test_an_unusable_address_is_refused(base_url: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        Shutterfleet(base_url, "sk_live_x")


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(ValueError, match="api_key"):
        Shutterfleet("http://here", "")


def goes_on(_request: httpx.Request) -> httpx.Response:
    return httpx.Response(202, json={"id": "i", "status": "pending"})


def test_a_capture_that_is_still_running_is_polled_until_its_image() -> None:
    headers = {"content-type": "image/png", "x-screenshot-id": "i"}
    image: Answer = lambda _request: httpx.Response(200, content=b"bytes", headers=headers)  # noqa: E731
    answered = Answered([goes_on, record("processing"), record("completed"), image])
    taken = answered.client().capture(html="x")
    assert (taken.id, taken.content, taken.content_type, taken.cached) == ("i", b"bytes", "image/png", False)
    assert [request.url.path for request in answered.requests] == [
        "/v1/screenshots/capture",
        "/v1/screenshots/i",
        "/v1/screenshots/i",
        "/v1/screenshots/i/image",
    ]


def test_a_failed_capture_raises_its_own_code() -> None:
    answered = Answered([goes_on, record("failed", error={"code": "BLOCKED", "message": "b"})])
    with pytest.raises(ShutterfleetError) as caught:
        answered.client().capture(html="x")
    assert (caught.value.code, caught.value.screenshot_id, caught.value.status) == ("BLOCKED", "i", None)


def test_a_stream_that_ends_early_is_resumed_after_the_last_event() -> None:
    answered = Answered(
        [
            stream('retry: 2000\n\nevent: status\nid: pending-3\ndata: {"status":"pending","position":3}\n\n: still here\n\n'),
            stream('event: result\nid: result\ndata: {"id":\ndata: "i"}\n\nevent: status\ndata: {}\n\n'),
        ]
    )
    events = list(answered.client().events("i"))
    assert [(each.event, each.data) for each in events] == [
        ("status", {"status": "pending", "position": 3}),
        ("result", {"id": "i"}),
    ]
    assert answered.requests[1].headers["last-event-id"] == "pending-3"


def test_a_stream_without_events_is_given_up() -> None:
    answered = Answered([stream(": still here\n\n")] * 5)
    with pytest.raises(ConnectionError, match="5 times"):
        list(answered.client().events("i"))


def test_a_stream_that_is_refused_for_a_moment_is_retried() -> None:
    answered = Answered([refusal(429), refusal(503), stream('event: result\ndata: {"id": "i", "status": "failed"}\n\n')])
    assert [event.event for event in answered.client().events("i")] == ["result"]
    assert answered.requests[0].extensions["timeout"]["read"] == 45


def test_text_may_contain_separators_of_lines_other_than_the_line_feed() -> None:
    css = "a\u2028b\u2029c\u0085d\x0be"
    record = json.dumps({"id": "i", "options": {"css": css}}, ensure_ascii=False)
    answered = Answered([stream(f"event: result\ndata: {record}\n\n"), stream(f"{record}\n{record}")])
    assert [event.data["options"]["css"] for event in answered.client().events("i")] == [css]
    assert len(list(answered.client().export_activity(since="2026-01-01T00:00:00Z"))) == 2


def test_a_refused_stream_raises_its_error() -> None:
    with pytest.raises(ShutterfleetError) as caught:
        list(Answered([refusal(404, "NOT_FOUND")]).client().events("i"))
    assert caught.value.code == "NOT_FOUND"
