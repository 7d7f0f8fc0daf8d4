"""Compares the links that the client signs with the vectors of all implementations."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from shutterfleet import render_link

VECTORS: Any = json.loads((Path(__file__).parents[3] / "test/fixtures/link-vectors.json").read_text())


@pytest.mark.parametrize("vector", VECTORS["links"])
def test_a_link_is_signed_as_the_service_verifies_it(vector: Any) -> None:
    parameters = dict(vector["parameters"])
    key_id = parameters.pop("key_id")
    expires = parameters.pop("expires", None)
    placeholder = parameters.pop("placeholder", None) == "true"
    link = render_link(
        "https://shots.example/",
        key_id,
        VECTORS["secret"],
        expires=None if expires is None else datetime.fromtimestamp(int(expires), UTC),
        placeholder=placeholder,
        **parameters,
    )
    assert link == f"https://shots.example/v1/render?{vector['query']}"


def test_values_are_those_of_a_capture() -> None:
    link = render_link(
        "https://shots.example", "1", VECTORS["secret"], url="https://x.example/", full_page=True, hide_selectors=[".a"]
    )
    values = dict(parse_qsl(urlsplit(link).query))
    assert values["full_page"] == "true"
    assert values["hide_selectors"] == '[".a"]'


def test_another_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="lsk_"):
        render_link("https://shots.example", "1", "sk_live_x", url="https://x.example/")
