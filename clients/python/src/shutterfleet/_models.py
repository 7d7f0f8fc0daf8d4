"""What methods return besides JSON documents, whose types are in `shutterfleet.types`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Image:
    id: str
    """Id of the capture."""
    content: bytes
    content_type: str
    cached: bool
    """Whether the image was served from an earlier capture."""


@dataclass(frozen=True)
class ImageDescription:
    """Type, size and ETag of an image."""

    content_type: str
    size: int
    etag: str


@dataclass(frozen=True)
class StreamEvent:
    """An event of a capture, batch or account. Later versions of the service may add events."""

    event: str
    """
    `status`, `started`, `screenshot` (of a batch), `result`, `deleted` or `unauthorized`;
    of an account `ready`, `accepted`, `started`, `ended`, `changed`, `deleted` or `unauthorized`.
    """
    data: Any
