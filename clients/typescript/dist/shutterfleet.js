import { lastEvents, readEvents } from './read-events.js';
import { pause } from './send-request.js';
import { ShutterfleetError } from './shutterfleet-error.js';
import { createTransport, queryOf } from './transport.js';
import { Keys } from './keys.js';
import { Members } from './members.js';
import { UploadDestinations } from './upload-destinations.js';
import { Webhooks } from './webhooks.js';
export { ShutterfleetError } from './shutterfleet-error.js';
export { renderLink } from './render-link.js';
export { verifyWebhook } from './verify-webhook.js';
/** Longest `wait` of one status request, in seconds. */
const waitSecondsMax = 60;
const hasEnded = (record) => record.status === 'completed' || record.status === 'failed';
const at = (id, rest = '') => `/screenshots/${encodeURIComponent(id)}${rest}`;
const batchAt = (id, rest = '') => `/screenshots/batch/${encodeURIComponent(id)}${rest}`;
/** The error of a capture that failed, or that has not ended in time. */
const failureOf = ({ id, error, status }) => new ShutterfleetError({
    code: error?.code ?? 'NOT_READY',
    message: error?.message ?? `The capture is still ${status}.`,
    status: undefined,
    screenshotId: id,
});
const imageOf = async (response, id) => ({
    id: response.headers.get('x-screenshot-id') ?? id,
    bytes: new Uint8Array(await response.arrayBuffer()),
    contentType: response.headers.get('content-type') ?? '',
    cached: response.headers.get('x-cache') === 'HIT',
});
/** A client of one account. Every method throws `ShutterfleetError` if the service rejects the request. */
export class Shutterfleet {
    #transport;
    webhooks;
    uploadDestinations;
    keys;
    members;
    /** Throws `TypeError` if `baseUrl` is not an http or https URL, or `apiKey` is missing. */
    constructor({ baseUrl, apiKey, fetch = globalThis.fetch.bind(globalThis), retries = 2, retryWaitSeconds = 60, timeoutMs = 180_000, }) {
        if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
            throw new TypeError(`baseUrl must be an http or https URL, not ${baseUrl}`);
        }
        if (!apiKey)
            throw new TypeError('apiKey is missing');
        this.#transport = createTransport({ baseUrl, apiKey, fetch, retries, retryWaitSeconds, timeoutMs });
        this.webhooks = new Webhooks(this.#transport);
        this.uploadDestinations = new UploadDestinations(this.#transport);
        this.keys = new Keys(this.#transport);
        this.members = new Members(this.#transport);
    }
    #post(path, body, { idempotencyKey = crypto.randomUUID(), signal } = {}) {
        return this.#transport.send(path, { method: 'POST', body, headers: { 'idempotency-key': idempotencyKey }, signal });
    }
    /** The record of a capture that has ended. If the response is a 202, waits for its capture. */
    async #end(response, options) {
        if (response.status !== 202)
            return (await response.json()).data;
        const { id } = (await response.json());
        return this.waitFor(id, options);
    }
    /** Captures and returns the image. Throws with the capture's error code if it fails. */
    async capture(parameters, options) {
        const response = await this.#post('/screenshots/capture', { ...parameters, response_type: 'image' }, options);
        if (response.status === 200)
            return imageOf(response, '');
        const record = await this.#end(response, options);
        if (record.status !== 'completed')
            throw failureOf(record);
        return this.image(record.id, options);
    }
    /** Captures and returns the record of the ended capture, also of a failed one. */
    async captureRecord(parameters, options) {
        const response = await this.#post('/screenshots/capture', { ...parameters, response_type: 'json' }, options);
        return this.#end(response, options);
    }
    /** Creates a capture without waiting for it. */
    async create(parameters, options) {
        const response = await this.#post('/screenshots', { ...parameters, response_type: 'json' }, options);
        return (await response.json()).data;
    }
    /** The current record. `wait`: seconds to wait for the capture to end, at most 60. */
    status(id, { wait, signal } = {}) {
        return this.#transport.data(at(id) + queryOf({ wait }), { signal });
    }
    /** The record once the capture has completed or failed. Throws `NOT_READY` after `waitMs`. */
    async waitFor(id, { waitMs = 180_000, signal } = {}) {
        const end = performance.now() + waitMs;
        for (;;) {
            const leftSeconds = Math.ceil((end - performance.now()) / 1000);
            const requested = performance.now();
            const wait = Math.max(0, Math.min(waitSecondsMax, leftSeconds));
            const record = await this.status(id, { wait, ...(signal && { signal }) });
            if (hasEnded(record))
                return record;
            if (performance.now() >= end)
                throw failureOf(record);
            // With too many waiting requests the service responds at once.
            if (performance.now() - requested < 500)
                await pause(1000, signal);
        }
    }
    async image(id, { signal } = {}) {
        return imageOf(await this.#transport.send(at(id, '/image'), { signal }), id);
    }
    /** An output or a rendition, by its name: `html`, `rendition-1`. */
    async file(id, name, { signal } = {}) {
        return imageOf(await this.#transport.send(at(id, `/files/${encodeURIComponent(name)}`), { signal }), id);
    }
    /** Type, size and ETag of an image without its bytes. */
    async describeImage(id, { signal } = {}) {
        const { headers } = await this.#transport.send(at(id, '/image'), { method: 'HEAD', signal });
        return {
            contentType: headers.get('content-type') ?? '',
            bytes: Number(headers.get('content-length')),
            etag: headers.get('etag') ?? '',
        };
    }
    /** All captures that match, newest first; a page is requested when its first entry is read. */
    list(filter) {
        return this.#transport.pages('/screenshots', filter);
    }
    async batch(parameters, options) {
        const response = await this.#post('/screenshots/batch', parameters, options);
        return (await response.json()).data;
    }
    /** All batches that match, newest first, without their captures. */
    batches(filter) {
        return this.#transport.pages('/screenshots/batch', filter);
    }
    batchStatus(id, { signal } = {}) {
        return this.#transport.data(batchAt(id), { signal });
    }
    async delete(id, { signal } = {}) {
        await this.#transport.send(at(id), { method: 'DELETE', signal });
    }
    /** A link to the image that needs no key. `expiresIn` in minutes, 0 for no expiry. Default: 60. */
    signedUrl(id, { expiresIn, signal } = {}) {
        const body = expiresIn === undefined ? {} : { expires_in: expiresIn };
        return this.#transport.data(at(id, '/signed-url'), { method: 'POST', body, signal });
    }
    account({ signal } = {}) {
        return this.#transport.data('/account', { signal });
    }
    /** The usage of this month, and with `from` or `to` (ISO dates) that of each of up to 100 days in `days`. */
    usage({ from, to, signal } = {}) {
        return this.#transport.data(`/account/usage${queryOf({ from, to })}`, { signal });
    }
    /** Which targets captures of the account may and may not reach. */
    targets({ signal } = {}) {
        return this.#transport.data('/account/targets', { signal });
    }
    /** Replaces both lists of targets, for captures that are accepted from then on. Returns their normal form. */
    replaceTargets(lists, { signal } = {}) {
        return this.#transport.data('/account/targets', { signal, method: 'PUT', body: lists });
    }
    /** What the requests of the account did, newest first. */
    activity(filter) {
        return this.#transport.pages('/account/activity', filter);
    }
    /** What the requests of the account have done since `from`, newest first, in one response. Throws if that breaks off. */
    exportActivity(filter) {
        return this.#transport.lines('/account/activity/export', filter);
    }
    /** Events of a capture up to `result` or `deleted`; reconnects if the connection ends earlier. */
    events(id, { signal } = {}) {
        return this.#events(at(id, '/events'), signal);
    }
    /** Events of a batch up to `result` or `deleted`; reconnects if the connection ends earlier. */
    batchEvents(id, { signal } = {}) {
        return this.#events(batchAt(id, '/events'), signal);
    }
    /** Events of all captures of the account, until it is aborted; it reconnects, and each connection begins with `ready`. */
    accountEvents({ signal } = {}) {
        return this.#events('/events', signal, []);
    }
    #events(path, signal, lastNames = lastEvents) {
        const connect = (lastId) => this.#transport.send(path, {
            signal,
            limitMs: Infinity,
            headers: lastId === undefined ? {} : { 'last-event-id': lastId },
        });
        return readEvents(connect, lastNames, signal);
    }
    /** Deliveries of a capture, to webhooks and to its `webhook_url`, newest first. */
    deliveries(id, options) {
        return this.#transport.pages(at(id, '/deliveries'), options);
    }
    redeliver(id, deliveryId, { signal } = {}) {
        const path = at(id, `/deliveries/${encodeURIComponent(deliveryId)}/redeliver`);
        return this.#transport.data(path, { method: 'POST', signal });
    }
}
