"""Client of Shutterfleet, a self-hosted screenshot capture service."""

from ._async_client import AsyncShutterfleet
from ._client import Shutterfleet
from ._models import Image, ImageDescription, StreamEvent
from ._webhook import verify_webhook
from .errors import ShutterfleetError

__all__ = [
    "AsyncShutterfleet",
    "Image",
    "ImageDescription",
    "Shutterfleet",
    "ShutterfleetError",
    "StreamEvent",
    "verify_webhook",
]
