"""Requests without input or output: generators that both clients run.

A flow yields a `Request` and is sent its response, or has an `httpx.TransportError` thrown into it; it
yields a `Pause` to wait.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from .errors import UnreachableError, read_error

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """A request to a path below `/v1`."""

    method: str
    path: str
    query: Mapping[str, str | int | None] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    silent_seconds: float | None = None
    """Longest silence of a stream, which has no other time limit."""


@dataclass(frozen=True)
class Pause:
    seconds: float


Flow = Generator["Request | Pause", "httpx.Response", T]


@dataclass(frozen=True)
class RetryPolicy:
    retries: int
    wait_seconds_max: float


def _is_idempotent(request: Request) -> bool:
    return request.method in ("GET", "HEAD") or "idempotency-key" in request.headers


def _is_retryable(request: Request, status: int | None) -> bool:
    """A 429 was rejected before it was processed; after a 503 only idempotent requests are retried."""
    return status == 429 or (status == 503 and (request.method != "POST" or _is_idempotent(request)))


def send(request: Request, policy: RetryPolicy) -> Flow[httpx.Response]:
    """Returns a successful response. Raises `ShutterfleetError`, without a response of the last attempt `UnreachableError`."""
    for left in range(policy.retries, -1, -1):
        try:
            response = yield request
        except httpx.TransportError as broken:
            if left == 0 or not _is_idempotent(request):
                raise UnreachableError(broken) from broken
            yield Pause(1)
            continue
        if response.is_success:
            return response
        error = read_error(response)
        wait = 1 if error.retry_after is None else error.retry_after
        if left == 0 or wait > policy.wait_seconds_max or not _is_retryable(request, error.status):
            raise error
        yield Pause(wait)
    raise AssertionError("the last attempt returns or raises")
