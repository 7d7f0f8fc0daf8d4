"""The error that every method raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

Details = Mapping[str, Sequence[str]]


class ShutterfleetError(Exception):
    """An error response of the service, or a failed capture."""

    code: str
    """Stable: see the service's docs/errors.md. `UNEXPECTED_ANSWER` if the response is not one of the service,
    `UNREACHABLE` without one."""
    status: int | None
    """HTTP status; None if the request succeeded and its capture failed later."""
    details: Details
    """Validation errors by parameter, of `VALIDATION_ERROR`."""
    request_id: str | None
    doc_url: str | None
    """Where the error is explained."""
    retry_after: int | None
    """Seconds after which the same request may succeed."""
    screenshot_id: str | None
    """The capture that failed, or may have been accepted."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        details: Details | None = None,
        request_id: str | None = None,
        doc_url: str | None = None,
        retry_after: int | None = None,
        screenshot_id: str | None = None,
    ) -> None:
        super().__init__(_with_first_detail(message, details or {}))
        self.code = code
        self.status = status
        self.details = details or {}
        self.request_id = request_id
        self.doc_url = doc_url
        self.retry_after = retry_after
        self.screenshot_id = screenshot_id


class UnreachableError(ShutterfleetError, httpx.TransportError):
    """No response: the service is not reachable, or did not answer in time."""

    def __init__(self, cause: httpx.TransportError) -> None:
        url = cause.request.url
        reason = str(cause) or type(cause).__name__
        super().__init__("UNREACHABLE", f"The service at {url.scheme}://{url.netloc.decode()} is not reachable: {reason}")
        self.request = cause.request


def _with_first_detail(message: str, details: Details) -> str:
    for parameter, errors in details.items():
        if errors:
            return f"{message} {parameter}: {errors[0]}"
    return message


def _seconds_in(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 9 else None


def read_error(response: httpx.Response) -> ShutterfleetError:
    """Reads an error response. One without the service's envelope, such as a proxy's page, becomes `UNEXPECTED_ANSWER`."""
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    error: Any = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        error = {}
    retry_after = _seconds_in(response.headers.get("retry-after"))
    return ShutterfleetError(
        error.get("code", "UNEXPECTED_ANSWER"),
        error.get("message", f"The response has status {response.status_code} and no error in the service's format."),
        status=response.status_code,
        details=error.get("details"),
        request_id=error.get("request_id", response.headers.get("x-request-id")),
        doc_url=error.get("doc_url"),
        retry_after=error.get("retry_after") if retry_after is None else retry_after,
        screenshot_id=error.get("screenshot_id"),
    )
