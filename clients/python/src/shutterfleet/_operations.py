"""The operations of the service as flows, which both clients run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote
from uuid import uuid4

import httpx

from ._flow import Flow, Pause, Request, RetryPolicy, send
from ._models import Image, ImageDescription
from .errors import ShutterfleetError
from .types import Batch, Screenshot

_WAIT_SECONDS_MAX = 60
"""Longest `wait` of one status request."""


def at(*words: str) -> str:
    """A path of words, each of which may be an id from elsewhere."""
    return "".join(f"/{quote(word, safe='')}" for word in words)


def has_ended(record: Screenshot) -> bool:
    return record["status"] in ("completed", "failed")


def failure_of(record: Screenshot) -> ShutterfleetError:
    """The error of a capture that failed, or that has not ended in time."""
    error = record.get("error")
    code = error["code"] if error else "NOT_READY"
    message = error["message"] if error else f"The capture is still {record['status']}."
    return ShutterfleetError(code, message, screenshot_id=record["id"])


def _image_of(response: httpx.Response, id: str) -> Image:
    return Image(
        id=response.headers.get("x-screenshot-id", id),
        content=response.content,
        content_type=response.headers.get("content-type", ""),
        cached=response.headers.get("x-cache") == "HIT",
    )


@dataclass(frozen=True)
class Operations:
    policy: RetryPolicy

    def send(self, request: Request) -> Flow[httpx.Response]:
        return send(request, self.policy)

    def data(self, request: Request) -> Flow[Any]:
        response = yield from self.send(request)
        return response.json()["data"]

    def page(self, path: str, query: Mapping[str, str | int | None]) -> Flow[tuple[list[Any], str | None]]:
        """The entries of a page, and the cursor of the next one."""
        body = (yield from self.send(Request("GET", path, query))).json()
        return body["data"], body["meta"]["next_cursor"]

    def keyed(self, path: str, body: Mapping[str, Any], key: str | None) -> Request:
        return Request("POST", path, body=body, headers={"idempotency-key": key or str(uuid4())})

    def status(self, id: str, wait: int | None) -> Flow[Screenshot]:
        record: Screenshot = yield from self.data(Request("GET", at("screenshots", id), {"wait": wait}))
        return record

    def wait_for(self, id: str, wait_seconds: float) -> Flow[Screenshot]:
        end = time.monotonic() + wait_seconds
        while True:
            requested = time.monotonic()
            wait = max(0, min(_WAIT_SECONDS_MAX, round(end - requested + 0.5)))
            record = yield from self.status(id, wait)
            if has_ended(record):
                return record
            if time.monotonic() >= end:
                raise failure_of(record)
            # With too many waiting requests the service responds at once.
            if time.monotonic() - requested < 0.5:
                yield Pause(1)

    def _end(self, response: httpx.Response, wait_seconds: float) -> Flow[Screenshot]:
        """The record of a capture that has ended. If the response is a 202, waits for its capture."""
        body = response.json()
        if response.status_code != 202:
            return cast(Screenshot, body["data"])
        return (yield from self.wait_for(body["id"], wait_seconds))

    def capture(self, parameters: Mapping[str, Any], key: str | None, wait_seconds: float) -> Flow[Image]:
        request = self.keyed("/screenshots/capture", {**parameters, "response_type": "image"}, key)
        response = yield from self.send(request)
        if response.status_code == 200:
            return _image_of(response, "")
        record = yield from self._end(response, wait_seconds)
        if record["status"] != "completed":
            raise failure_of(record)
        return (yield from self.image(record["id"]))

    def capture_record(self, parameters: Mapping[str, Any], key: str | None, wait_seconds: float) -> Flow[Screenshot]:
        request = self.keyed("/screenshots/capture", {**parameters, "response_type": "json"}, key)
        response = yield from self.send(request)
        return (yield from self._end(response, wait_seconds))

    def create(self, parameters: Mapping[str, Any], key: str | None) -> Flow[Screenshot]:
        request = self.keyed("/screenshots", {**parameters, "response_type": "json"}, key)
        record: Screenshot = yield from self.data(request)
        return record

    def batch(self, parameters: Mapping[str, Any], key: str | None) -> Flow[Batch]:
        batch: Batch = yield from self.data(self.keyed("/screenshots/batch", parameters, key))
        return batch

    def image(self, id: str) -> Flow[Image]:
        return _image_of((yield from self.send(Request("GET", at("screenshots", id, "image")))), id)

    def file(self, id: str, name: str) -> Flow[Image]:
        return _image_of((yield from self.send(Request("GET", at("screenshots", id, "files", name)))), id)

    def describe_image(self, id: str) -> Flow[ImageDescription]:
        headers = (yield from self.send(Request("HEAD", at("screenshots", id, "image")))).headers
        return ImageDescription(headers.get("content-type", ""), int(headers["content-length"]), headers.get("etag", ""))
