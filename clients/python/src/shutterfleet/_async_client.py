"""The asynchronous client. `_client.py` is generated from it by `make docs`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import httpx

from ._events import LAST, RECONNECT_SECONDS, EventStream, Lines
from ._flow import Flow, Pause, Request, RetryPolicy
from ._models import Image, ImageDescription, StreamEvent
from ._operations import Operations, at
from .types import (
    Account,
    ActivityEntry,
    ApiKey,
    ApiKeyParameters,
    ApiKeyWithSecret,
    Batch,
    BatchParameters,
    BatchSummary,
    CaptureParameters,
    Delivery,
    Link,
    LinkParameters,
    LinkSecret,
    Member,
    QueuedDelivery,
    Screenshot,
    SignedUrl,
    TargetLists,
    UploadDestination,
    UploadDestinationParameters,
    Usage,
    Webhook,
    WebhookChange,
    WebhookParameters,
    WebhookWithSecret,
)

T = TypeVar("T")


class AsyncTransport:
    """Runs flows over an `httpx` client."""

    def __init__(self, http: httpx.AsyncClient, root: str, policy: RetryPolicy) -> None:
        self.http = http
        self.root = root
        self.operations = Operations(policy)

    def build(self, request: Request) -> httpx.Request:
        silent = request.silent_seconds
        return self.http.build_request(
            request.method,
            self.root + request.path,
            params={name: value for name, value in request.query.items() if value is not None},
            json=request.body,
            headers=request.headers,
            timeout=httpx.USE_CLIENT_DEFAULT if silent is None else httpx.Timeout(None, connect=10, read=silent),
        )

    async def run(self, flow: Flow[T], *, stream: bool = False) -> T:
        """With `stream` the body of a successful response is still to be read."""
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    step = next(flow)
                    continue
                try:
                    response = await self.http.send(self.build(step), stream=stream)
                    if stream and not response.is_success:
                        await response.aread()
                except httpx.TransportError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(response)
        except StopIteration as end:
            result: T = end.value
            return result

    async def data(self, method: str, path: str, body: Any = None) -> Any:
        return await self.run(self.operations.data(Request(method, path, body=body)))

    async def pages(self, path: str, **query: str | int | None) -> AsyncIterator[Any]:
        """Entries of all pages; a page is requested when its first entry is read."""
        cursor: str | None = None
        while True:
            entries, cursor = await self.run(self.operations.page(path, {**query, "cursor": cursor}))
            for entry in entries:
                yield entry
            if cursor is None:
                return

    async def lines(self, path: str, **query: str | None) -> AsyncIterator[Any]:
        """The JSON of each line of a response, as it arrives."""
        response = await self.run(self.operations.send(Request("GET", path, query=query)), stream=True)
        lines = Lines()
        try:
            async for text in response.aiter_text():
                for line in lines.feed(text):
                    yield json.loads(line)
            for line in lines.end():
                yield json.loads(line)
        finally:
            await response.aclose()

    async def events(self, path: str, last: tuple[str, ...] = LAST) -> AsyncIterator[StreamEvent]:
        """Events up to one of `last`; reconnects if the connection ends earlier."""
        stream = EventStream(path, last)
        while not stream.has_ended:
            lines = Lines()
            try:
                response = await self.run(self.operations.send(stream.request()), stream=True)
                try:
                    if response.status_code == 204:
                        return
                    async for text in response.aiter_text():
                        for line in lines.feed(text):
                            for event in stream.feed(line):
                                yield event
                            if stream.has_ended:
                                return
                finally:
                    await response.aclose()
            except httpx.TransportError:
                pass
            stream.check()
            await asyncio.sleep(RECONNECT_SECONDS)


class AsyncKeys:
    """The API keys of the account."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> list[ApiKey]:
        keys: list[ApiKey] = await self._transport.data("GET", "/keys")
        return keys

    async def create(self, **fields: Unpack[ApiKeyParameters]) -> ApiKeyWithSecret:
        """Creates a key, which is in `key` of this response alone."""
        created: ApiKeyWithSecret = await self._transport.data("POST", "/keys", fields)
        return created

    async def rotate_link_secret(self, id: str, *, previous_valid_seconds: int | None = None) -> LinkSecret:
        """Creates or replaces the link secret of a key; links of the previous one are served for a day by default."""
        fields = {} if previous_valid_seconds is None else {"previous_valid_seconds": previous_valid_seconds}
        secret: LinkSecret = await self._transport.data("POST", at("keys", id, "link-secret"), fields)
        return secret

    async def create_link(self, id: str, **fields: Unpack[LinkParameters]) -> Link:
        """Has the service sign a link that captures on demand; `render_link` signs without a request."""
        link: Link = await self._transport.data("POST", at("keys", id, "links"), fields)
        return link

    async def revoke(self, id: str) -> None:
        await self._transport.run(self._transport.operations.send(Request("DELETE", at("keys", id))))


class AsyncMembers:
    """The members of the account. Owners change them in the console; the service refuses changes by a key."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> list[Member]:
        members: list[Member] = await self._transport.data("GET", "/members")
        return members


class AsyncWebhooks:
    """The webhooks of the account."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> list[Webhook]:
        webhooks: list[Webhook] = await self._transport.data("GET", "/webhooks")
        return webhooks

    async def create(self, **fields: Unpack[WebhookParameters]) -> WebhookWithSecret:
        webhook: WebhookWithSecret = await self._transport.data("POST", "/webhooks", fields)
        return webhook

    async def get(self, id: str) -> Webhook:
        webhook: Webhook = await self._transport.data("GET", at("webhooks", id))
        return webhook

    async def change(self, id: str, **fields: Unpack[WebhookChange]) -> Webhook:
        webhook: Webhook = await self._transport.data("PATCH", at("webhooks", id), fields)
        return webhook

    async def delete(self, id: str) -> None:
        await self._transport.run(self._transport.operations.send(Request("DELETE", at("webhooks", id))))

    async def test(self, id: str) -> QueuedDelivery:
        """Sends a `webhook.test` event; returns the id of its delivery."""
        queued: QueuedDelivery = await self._transport.data("POST", at("webhooks", id, "test"))
        return queued

    async def rotate_secret(self, id: str) -> WebhookWithSecret:
        """Creates a new secret; deliveries are signed with the old one too for 24 hours."""
        webhook: WebhookWithSecret = await self._transport.data("POST", at("webhooks", id, "rotate-secret"))
        return webhook

    def deliveries(self, id: str, *, per_page: int | None = None) -> AsyncIterator[Delivery]:
        """Deliveries, newest first."""
        return self._transport.pages(at("webhooks", id, "deliveries"), per_page=per_page)

    async def redeliver(self, id: str, delivery_id: str) -> QueuedDelivery:
        path = at("webhooks", id, "deliveries", delivery_id, "redeliver")
        queued: QueuedDelivery = await self._transport.data("POST", path)
        return queued


class AsyncUploadDestinations:
    """The upload destinations of the account."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> list[UploadDestination]:
        destinations: list[UploadDestination] = await self._transport.data("GET", "/upload-destinations")
        return destinations

    async def create(self, **fields: Unpack[UploadDestinationParameters]) -> UploadDestination:
        destination: UploadDestination = await self._transport.data("POST", "/upload-destinations", fields)
        return destination

    async def delete(self, id: str) -> None:
        await self._transport.run(self._transport.operations.send(Request("DELETE", at("upload-destinations", id))))

    async def test(self, id: str) -> QueuedDelivery:
        """Uploads a small text, and deletes it; `last_upload` of the destination shows the result."""
        queued: QueuedDelivery = await self._transport.data("POST", at("upload-destinations", id, "test"))
        return queued


class AsyncShutterfleet:
    """A client of one account, to be closed, or used as a context manager.

    Every method raises `ShutterfleetError` if the service rejects the request, and its `UnreachableError`, which is an
    `httpx.TransportError` too, if it cannot be reached. 429 and 503 are retried after the time given by the service, and
    broken connections after a second if the request is idempotent.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retries: int = 2,
        retry_wait_seconds: float = 60,
        timeout_seconds: float = 180,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`base_url`: such as `https://shots.example.com`, without `/v1`.

        `retry_wait_seconds`: longest `Retry-After` that is waited for. `timeout_seconds`: time limit of one attempt; a
        synchronous capture takes at most 150 s, queue wait included. Raises `ValueError` for an unusable URL or an empty key.
        """
        url = httpx.URL(base_url)
        if url.scheme not in ("http", "https") or url.host == "":
            raise ValueError("base_url must be an http or https URL")
        if api_key == "":
            raise ValueError("api_key is empty")
        http = httpx.AsyncClient(
            headers={"authorization": f"Bearer {api_key}"},
            timeout=httpx.Timeout(timeout_seconds, connect=10),
            transport=transport,
        )
        root = f"{str(url).rstrip('/')}/v1"
        self._transport = AsyncTransport(http, root, RetryPolicy(retries, retry_wait_seconds))
        self._run = self._transport.run
        self._operations = self._transport.operations
        self.webhooks = AsyncWebhooks(self._transport)
        self.upload_destinations = AsyncUploadDestinations(self._transport)
        self.keys = AsyncKeys(self._transport)
        self.members = AsyncMembers(self._transport)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def capture(
        self, *, idempotency_key: str | None = None, wait_seconds: float = 180, **parameters: Unpack[CaptureParameters]
    ) -> Image:
        """Captures and returns the image. Raises with the capture's error code if it fails."""
        return await self._run(self._operations.capture(parameters, idempotency_key, wait_seconds))

    async def capture_record(
        self, *, idempotency_key: str | None = None, wait_seconds: float = 180, **parameters: Unpack[CaptureParameters]
    ) -> Screenshot:
        """Captures and returns the record of the ended capture, also of a failed one."""
        return await self._run(self._operations.capture_record(parameters, idempotency_key, wait_seconds))

    async def create(self, *, idempotency_key: str | None = None, **parameters: Unpack[CaptureParameters]) -> Screenshot:
        """Creates a capture without waiting for it."""
        return await self._run(self._operations.create(parameters, idempotency_key))

    async def status(self, id: str, *, wait: int | None = None) -> Screenshot:
        """The current record. `wait`: seconds to wait for the capture to end, at most 60."""
        return await self._run(self._operations.status(id, wait))

    async def wait_for(self, id: str, *, wait_seconds: float = 180) -> Screenshot:
        """The record once the capture has completed or failed. Raises `NOT_READY` after `wait_seconds`."""
        return await self._run(self._operations.wait_for(id, wait_seconds))

    async def image(self, id: str) -> Image:
        return await self._run(self._operations.image(id))

    async def file(self, id: str, name: str) -> Image:
        """An output or a rendition, by its name: `html`, `rendition-1`."""
        return await self._run(self._operations.file(id, name))

    async def describe_image(self, id: str) -> ImageDescription:
        """Type, size and ETag of an image without its bytes."""
        return await self._run(self._operations.describe_image(id))

    def list(
        self,
        *,
        status: str | None = None,
        created_from: str | None = None,
        created_to: str | None = None,
        per_page: int | None = None,
        host: str | None = None,
        url: str | None = None,
        error_code: str | None = None,
        key_id: str | None = None,
        format: str | None = None,
        request_id: str | None = None,
        target_status: int | None = None,
    ) -> AsyncIterator[Screenshot]:
        """All captures that match, newest first, created between two dates or times (ISO 8601)."""
        query = {
            "status": status,
            "from": created_from,
            "to": created_to,
            "per_page": per_page,
            "host": host,
            "url": url,
            "error_code": error_code,
            "key_id": key_id,
            "format": format,
            "request_id": request_id,
            "target_status": target_status,
        }
        return self._transport.pages("/screenshots", **query)

    def batches(self, *, status: str | None = None, per_page: int | None = None) -> AsyncIterator[BatchSummary]:
        """All batches that match, newest first, without their captures."""
        return self._transport.pages("/screenshots/batch", status=status, per_page=per_page)

    async def batch(self, *, idempotency_key: str | None = None, **parameters: Unpack[BatchParameters]) -> Batch:
        return await self._run(self._operations.batch(parameters, idempotency_key))

    async def batch_status(self, id: str) -> Batch:
        batch: Batch = await self._transport.data("GET", at("screenshots", "batch", id))
        return batch

    async def delete(self, id: str) -> None:
        await self._run(self._operations.send(Request("DELETE", at("screenshots", id))))

    async def signed_url(self, id: str, *, expires_in: int | None = None) -> SignedUrl:
        """A link to the image that needs no key. `expires_in` in minutes, 0 for no expiry. Default: 60."""
        body = {} if expires_in is None else {"expires_in": expires_in}
        signed: SignedUrl = await self._transport.data("POST", at("screenshots", id, "signed-url"), body)
        return signed

    async def account(self) -> Account:
        account: Account = await self._transport.data("GET", "/account")
        return account

    async def usage(self, *, since: str | None = None, until: str | None = None) -> Usage:
        """The usage of this month; with one of these dates (ISO 8601) that of each of up to 100 days, too, in `days`."""
        query = {"from": since, "to": until}
        usage: Usage = await self._run(self._operations.data(Request("GET", "/account/usage", query)))
        return usage

    async def targets(self) -> TargetLists:
        """Which targets captures of the account may and may not reach."""
        targets: TargetLists = await self._transport.data("GET", "/account/targets")
        return targets

    async def replace_targets(self, *, allow: Sequence[str], deny: Sequence[str]) -> TargetLists:
        """Replaces both lists of targets, for captures that are accepted from then on. Returns their normal form."""
        targets: TargetLists = await self._transport.data("PUT", "/account/targets", {"allow": allow, "deny": deny})
        return targets

    def activity(
        self,
        *,
        since: str | None = None,
        until: str | None = None,
        key_id: str | None = None,
        operation: str | None = None,
        per_page: int | None = None,
    ) -> AsyncIterator[ActivityEntry]:
        """What the requests of the account did, newest first, between two dates or times (ISO 8601)."""
        query = {"from": since, "to": until, "key_id": key_id, "operation": operation, "per_page": per_page}
        return self._transport.pages("/account/activity", **query)

    def export_activity(
        self,
        *,
        since: str,
        until: str | None = None,
        key_id: str | None = None,
        operation: str | None = None,
    ) -> AsyncIterator[ActivityEntry]:
        """What the requests of the account have done since a date or time (ISO 8601), newest first, in one response."""
        query = {"from": since, "to": until, "key_id": key_id, "operation": operation}
        return self._transport.lines("/account/activity/export", **query)

    def events(self, id: str) -> AsyncIterator[StreamEvent]:
        """Events of a capture up to `result` or `deleted`."""
        return self._transport.events(at("screenshots", id, "events"))

    def batch_events(self, id: str) -> AsyncIterator[StreamEvent]:
        """Events of a batch up to `result` or `deleted`."""
        return self._transport.events(at("screenshots", "batch", id, "events"))

    def account_events(self) -> AsyncIterator[StreamEvent]:
        """Events of all captures of the account, without an end; it reconnects, and each connection begins with `ready`."""
        return self._transport.events("/events", ())

    def deliveries(self, id: str, *, per_page: int | None = None) -> AsyncIterator[Delivery]:
        """Deliveries of a capture, to webhooks and to its `webhook_url`, newest first."""
        return self._transport.pages(at("screenshots", id, "deliveries"), per_page=per_page)

    async def redeliver(self, id: str, delivery_id: str) -> QueuedDelivery:
        path = at("screenshots", id, "deliveries", delivery_id, "redeliver")
        queued: QueuedDelivery = await self._transport.data("POST", path)
        return queued
