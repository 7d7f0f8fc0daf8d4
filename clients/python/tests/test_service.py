"""The client against a running service: SHUTTERFLEET_URL and SHUTTERFLEET_KEY. It must allow webhooks to loopback."""

from __future__ import annotations

import asyncio
import json
import os
import time
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from hmac import digest

import httpx
import pytest

from shutterfleet import AsyncShutterfleet, Shutterfleet, ShutterfleetError, verify_webhook

URL, KEY = os.environ.get("SHUTTERFLEET_URL", ""), os.environ.get("SHUTTERFLEET_KEY", "")
needs_service = pytest.mark.skipif(URL == "", reason="SHUTTERFLEET_URL is not set")
HTML = "<h1>A page</h1>"
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def shots() -> Iterator[Shutterfleet]:
    with Shutterfleet(URL, KEY) as client:
        yield client


@needs_service
def test_captures_as_an_image_and_as_a_record(shots: Shutterfleet) -> None:
    image = shots.capture(html=HTML, format="webp", width=400, height=300)
    assert (image.content_type, image.cached, image.content[8:12]) == ("image/webp", False, b"WEBP")
    record = shots.capture_record(html=HTML)
    assert (record["status"], record.get("width")) == ("completed", 1280)


@needs_service
def test_creates_waits_and_reads(shots: Shutterfleet) -> None:
    created = shots.create(html=HTML, outputs=["markdown"])
    assert created["status"] == "pending"
    record = shots.wait_for(created["id"])
    assert record["status"] == "completed"
    image = shots.image(created["id"])
    description = shots.describe_image(created["id"])
    assert (description.content_type, description.size) == ("image/png", len(image.content))
    assert b"A page" in shots.file(created["id"], "markdown").content
    signed = shots.signed_url(created["id"], expires_in=5)
    assert httpx.get(signed["url"]).content == image.content
    shots.delete(created["id"])
    with pytest.raises(ShutterfleetError) as caught:
        shots.status(created["id"])
    assert caught.value.code == "NOT_FOUND"


@needs_service
def test_the_same_idempotency_key_returns_the_same_capture(shots: Shutterfleet) -> None:
    first, second = (shots.create(html=HTML, idempotency_key="python") for _ in range(2))
    assert first["id"] == second["id"]


@needs_service
def test_rejections_and_failed_captures_are_errors(shots: Shutterfleet) -> None:
    with pytest.raises(ShutterfleetError, match="width") as refused:
        shots.create(html=HTML, width=1)
    assert (refused.value.code, refused.value.status) == ("VALIDATION_ERROR", 422)
    with pytest.raises(ShutterfleetError) as failed:
        shots.capture(url="http://unknown.invalid/")
    assert failed.value.code == "DNS_FAILED"
    with pytest.raises(ShutterfleetError) as invalid:
        Shutterfleet(URL, "sk_live_no").account()
    assert invalid.value.code == "INVALID_API_KEY"


@needs_service
def test_streams_a_batch_and_lists_its_captures_over_several_pages(shots: Shutterfleet) -> None:
    urls = [f"http://unknown.invalid/{number}" for number in range(3)]
    batch = shots.batch(urls=urls, format="jpeg")
    events = [each.event for each in shots.batch_events(batch["id"])]
    assert (events.count("screenshot"), events[-1]) == (3, "result")
    assert shots.batch_status(batch["id"])["failed"] == 3
    listed = {each["url"] for each in shots.list(status="failed", per_page=2) if each.get("batch_id") == batch["id"]}
    assert listed == set(urls)


@needs_service
def test_manages_webhooks(shots: Shutterfleet) -> None:
    webhook = shots.webhooks.create(url="https://127.0.0.1/in")
    assert shots.webhooks.change(webhook["id"], description="mine")["description"] == "mine"
    assert [each["id"] for each in shots.webhooks.list()] == [webhook["id"]]
    tested = shots.webhooks.test(webhook["id"])
    assert [each["id"] for each in shots.webhooks.deliveries(webhook["id"])] == [tested["id"]]
    assert shots.webhooks.rotate_secret(webhook["id"])["secret"] != webhook["secret"]
    shots.webhooks.delete(webhook["id"])


@needs_service
def test_the_asynchronous_client_captures_several_pages_at_once() -> None:
    async def capture_all() -> list[bytes]:
        async with AsyncShutterfleet(URL, KEY) as shots:
            images = await asyncio.gather(*(shots.capture(html=f"<h1>{number}</h1>") for number in range(3)))
            [last] = [each async for each in shots.events(images[0].id) if each.event == "result"]
            assert last.data["status"] == "completed"
            assert (await shots.usage())["screenshots_used"] >= 3
            assert len((await shots.usage(until="2026-03-01"))["days"]) == 30
            assert [each["status"] async for each in shots.list(per_page=1)][:3] == ["completed"] * 3
            return [image.content[1:4] for image in images]

    assert asyncio.run(capture_all()) == [b"PNG"] * 3


SECRET = f"whsec_{b64encode(b'a secret of thirty-two bytes....').decode()}"


def signed(body: str, age: int = 0) -> dict[str, str]:
    timestamp = str(int(time.time()) - age)
    signature = b64encode(digest(b"a secret of thirty-two bytes....", f"m.{timestamp}.{body}".encode(), sha256)).decode()
    return {"Webhook-Id": "m", "Webhook-Timestamp": timestamp, "Webhook-Signature": f"v1,bm8= v1,{signature}"}


def test_a_delivery_is_verified() -> None:
    body = json.dumps({"event": "webhook.test", "data": {"id": "ä"}, "sent_at": "now"}, ensure_ascii=False)
    assert verify_webhook(SECRET, signed(body), body)["event"] == "webhook.test"
    assert verify_webhook(SECRET, signed(body), body.encode())["data"] == {"id": "ä"}
    for headers, altered, message in [
        (signed(body), body + " ", "does not fit"),
        (signed(body, age=301), body, "too old"),
        ({}, body, "missing"),
    ]:
        with pytest.raises(ValueError, match=message):
            verify_webhook(SECRET, headers, altered)
    with pytest.raises(ValueError, match="whsec_"):
        verify_webhook("another", signed(body), body)
