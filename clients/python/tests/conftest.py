from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
import pytest

from shutterfleet import Shutterfleet

Answer = Callable[[httpx.Request], httpx.Response]


@dataclass
class Answered:
    """A client whose requests get the responses of a list in order, and its requests."""

    answers: list[Answer]
    requests: list[httpx.Request] = field(default_factory=list)

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self.answers[len(self.requests) - 1](request)

    def client(self, *, retries: int = 2, retry_wait_seconds: float = 60) -> Shutterfleet:
        return Shutterfleet(
            "http://here/",
            "sk_live_x",
            retries=retries,
            retry_wait_seconds=retry_wait_seconds,
            transport=httpx.MockTransport(self.handle),
        )


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutterfleet._client.time.sleep", lambda _seconds: None)
