"""Signing of links that capture on demand."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import datetime
from typing import Any
from urllib.parse import quote


def render_link(
    base_url: str,
    key_id: str,
    secret: str,
    *,
    expires: datetime | None = None,
    placeholder: bool = False,
    **parameters: Any,
) -> str:
    """A link to an image that is captured when it is viewed, for `<img>`, e-mail and Open Graph tags; signed without a request.

    `key_id` is the id of an API key, `secret` its link secret, which `keys.rotate_link_secret` returned. `parameters` are those
    of a capture, without credentials. From `expires` on the link is refused; with `placeholder` it shows a grey image while the
    first capture is made. Raises `ValueError` if `secret` is not a link secret.
    """
    if not secret.startswith("lsk_"):
        raise ValueError("the secret must be the text that begins with lsk_")
    signed: dict[str, Any] = {**parameters, "key_id": key_id}
    if expires is not None:
        signed["expires"] = int(expires.timestamp())
    if placeholder:
        signed["placeholder"] = True
    pairs = (f"{_encode(name)}={_encode(_text_of(value))}" for name, value in signed.items() if value is not None)
    canonical = "&".join(sorted(pairs))
    signature = hmac.digest(secret.encode(), canonical.encode(), hashlib.sha256).hex()
    return f"{base_url.rstrip('/')}/v1/render?{canonical}&signature={signature}"


def _encode(text: str) -> str:
    """Percent-encodes by RFC 3986."""
    return quote(text, safe="")


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
