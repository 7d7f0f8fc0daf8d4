"""Client of Shutterfleet, a self-hosted screenshot capture service."""

from ._async_client import AsyncShutterfleet
from ._client import Shutterfleet
from ._models import Image, ImageDescription, StreamEvent
from ._render_link import render_link
from ._webhook import verify_webhook
from .errors import ShutterfleetError, UnreachableError

__all__ = [
    "AsyncShutterfleet",
    "Image",
    "ImageDescription",
    "Shutterfleet",
    "ShutterfleetError",
    "StreamEvent",
    "UnreachableError",
    "render_link",
    "verify_webhook",
]
