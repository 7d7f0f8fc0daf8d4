"""Verification of webhook deliveries."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from typing import Any

_TOLERANCE_SECONDS = 300
"""Maximum age of a delivery, and maximum difference between the clocks of sender and receiver."""
_SIGNATURES_MAX = 10


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes | str) -> dict[str, Any]:
    """Returns the event of a delivery (Standard Webhooks), which must be at most five minutes old.

    `body` is the raw body, before any parsing. Raises `ValueError` if `secret` is not a webhook secret, or the delivery is
    forged, altered or too old.
    """
    if not re.fullmatch(r"whsec_[A-Za-z0-9+/]+=*", secret):
        raise ValueError("the secret must be the text that begins with whsec_")
    found = {name.lower(): value for name, value in headers.items()}
    timestamp = found.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise ValueError("webhook-timestamp is missing")
    if abs(time.time() - int(timestamp)) > _TOLERANCE_SECONDS:
        raise ValueError("webhook-timestamp is too old")
    raw = body.encode() if isinstance(body, str) else body
    signed = f"{found.get('webhook-id', '')}.{timestamp}.".encode() + raw
    expected = hmac.digest(_key_of(secret), signed, hashlib.sha256)
    for each in found.get("webhook-signature", "").split(" ")[:_SIGNATURES_MAX]:
        version, _, signature = each.partition(",")
        if version == "v1" and _is_equal(signature, expected):
            event: dict[str, Any] = json.loads(raw)
            return event
    raise ValueError("the signature does not fit")


def _key_of(secret: str) -> bytes:
    text = secret.removeprefix("whsec_").rstrip("=")
    return base64.b64decode(text + "=" * (-len(text) % 4))


def _is_equal(signature: str, expected: bytes) -> bool:
    try:
        return hmac.compare_digest(base64.b64decode(signature, validate=True), expected)
    except (binascii.Error, ValueError):
        return False
