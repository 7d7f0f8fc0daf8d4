import { lastEvents, readEvents } from './read-events.ts'
import { pause } from './send-request.ts'
import { ShutterfleetError } from './shutterfleet-error.ts'
import { createTransport, queryOf, type Transport } from './transport.ts'
import type {
  AccountEvent,
  ActivityExport,
  ActivityFilter,
  BatchEvent,
  CallOptions,
  CaptureEvent,
  ClientOptions,
  CreateParameters,
  EndedScreenshot,
  Image,
  KeyedOptions,
  BatchFilter,
  ListFilter,
  PageOptions,
  WaitedParameters,
  WaitOptions,
} from './options.ts'
import { Keys } from './keys.ts'
import { Members } from './members.ts'
import { UploadDestinations } from './upload-destinations.ts'
import { Webhooks } from './webhooks.ts'
import type { BatchParameters } from './requests.ts'
import type {
  Account,
  ActivityEntry,
  Batch,
  BatchSummary,
  Delivery,
  Screenshot,
  SignedUrl,
  TargetLists,
  Usage,
  QueuedDelivery,
} from './responses.ts'

export { ShutterfleetError } from './shutterfleet-error.ts'
export type * from './options.ts'
export { renderLink } from './render-link.ts'
export type { LinkCaptureParameters, LinkOptions } from './render-link.ts'
export { verifyWebhook } from './verify-webhook.ts'
export type * from './requests.ts'
export type * from './screenshot-options.ts'
export type * from './responses.ts'

/** Longest `wait` of one status request, in seconds. */
const waitSecondsMax = 60

const hasEnded = (record: Screenshot): record is EndedScreenshot =>
  record.status === 'completed' || record.status === 'failed'

const at = (id: string, rest = '') => `/screenshots/${encodeURIComponent(id)}${rest}`

const batchAt = (id: string, rest = '') => `/screenshots/batch/${encodeURIComponent(id)}${rest}`

/** The error of a capture that failed, or that has not ended in time. */
const failureOf = ({ id, error, status }: Screenshot) =>
  new ShutterfleetError({
    code: error?.code ?? 'NOT_READY',
    message: error?.message ?? `The capture is still ${status}.`,
    status: undefined,
    screenshotId: id,
  })

const imageOf = async (response: Response, id: string): Promise<Image> => ({
  id: response.headers.get('x-screenshot-id') ?? id,
  bytes: new Uint8Array(await response.arrayBuffer()),
  contentType: response.headers.get('content-type') ?? '',
  cached: response.headers.get('x-cache') === 'HIT',
})

/** A client of one account. Every method throws `ShutterfleetError` if the service rejects the request. */
export class Shutterfleet {
  readonly #transport: Transport
  readonly webhooks: Webhooks
  readonly uploadDestinations: UploadDestinations
  readonly keys: Keys
  readonly members: Members

  /** Throws `TypeError` if `baseUrl` is not an http or https URL, or `apiKey` is missing. */
  constructor({
    baseUrl,
    apiKey,
    fetch = globalThis.fetch.bind(globalThis),
    retries = 2,
    retryWaitSeconds = 60,
    timeoutMs = 180_000,
  }: ClientOptions) {
    if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
      throw new TypeError(`baseUrl must be an http or https URL, not ${baseUrl}`)
    }
    if (!apiKey) throw new TypeError('apiKey is missing')
    this.#transport = createTransport({ baseUrl, apiKey, fetch, retries, retryWaitSeconds, timeoutMs })
    this.webhooks = new Webhooks(this.#transport)
    this.uploadDestinations = new UploadDestinations(this.#transport)
    this.keys = new Keys(this.#transport)
    this.members = new Members(this.#transport)
  }

  #post(path: string, body: unknown, { idempotencyKey = crypto.randomUUID(), signal }: KeyedOptions = {}) {
    return this.#transport.send(path, { method: 'POST', body, headers: { 'idempotency-key': idempotencyKey }, signal })
  }

  /** The record of a capture that has ended. If the response is a 202, waits for its capture. */
  async #end(response: Response, options?: WaitOptions): Promise<EndedScreenshot> {
    if (response.status !== 202) return ((await response.json()) as { data: EndedScreenshot }).data
    const { id } = (await response.json()) as { id: string }
    return this.waitFor(id, options)
  }

  /** Captures and returns the image. Throws with the capture's error code if it fails. */
  async capture(parameters: WaitedParameters, options?: KeyedOptions & WaitOptions): Promise<Image> {
    const response = await this.#post('/screenshots/capture', { ...parameters, response_type: 'image' }, options)
    if (response.status === 200) return imageOf(response, '')
    const record = await this.#end(response, options)
    if (record.status !== 'completed') throw failureOf(record)
    return this.image(record.id, options)
  }

  /** Captures and returns the record of the ended capture, also of a failed one. */
  async captureRecord(parameters: WaitedParameters, options?: KeyedOptions & WaitOptions): Promise<EndedScreenshot> {
    const response = await this.#post('/screenshots/capture', { ...parameters, response_type: 'json' }, options)
    return this.#end(response, options)
  }

  /** Creates a capture without waiting for it. */
  async create(parameters: CreateParameters, options?: KeyedOptions): Promise<Screenshot> {
    const response = await this.#post('/screenshots', { ...parameters, response_type: 'json' }, options)
    return ((await response.json()) as { data: Screenshot }).data
  }

  /** The current record. `wait`: seconds to wait for the capture to end, at most 60. */
  status(id: string, { wait, signal }: CallOptions & { wait?: number } = {}): Promise<Screenshot> {
    return this.#transport.data(at(id) + queryOf({ wait }), { signal })
  }

  /** The record once the capture has completed or failed. Throws `NOT_READY` after `waitMs`. */
  async waitFor(id: string, { waitMs = 180_000, signal }: WaitOptions = {}): Promise<EndedScreenshot> {
    const end = performance.now() + waitMs
    for (;;) {
      const leftSeconds = Math.ceil((end - performance.now()) / 1000)
      const requested = performance.now()
      const wait = Math.max(0, Math.min(waitSecondsMax, leftSeconds))
      const record = await this.status(id, { wait, ...(signal && { signal }) })
      if (hasEnded(record)) return record
      if (performance.now() >= end) throw failureOf(record)
      // With too many waiting requests the service responds at once.
      if (performance.now() - requested < 500) await pause(1000, signal)
    }
  }

  async image(id: string, { signal }: CallOptions = {}): Promise<Image> {
    return imageOf(await this.#transport.send(at(id, '/image'), { signal }), id)
  }

  /** An output or a rendition, by its name: `html`, `rendition-1`. */
  async file(id: string, name: string, { signal }: CallOptions = {}): Promise<Image> {
    return imageOf(await this.#transport.send(at(id, `/files/${encodeURIComponent(name)}`), { signal }), id)
  }

  /** Type, size and ETag of an image without its bytes. */
  async describeImage(
    id: string,
    { signal }: CallOptions = {},
  ): Promise<{ contentType: string; bytes: number; etag: string }> {
    const { headers } = await this.#transport.send(at(id, '/image'), { method: 'HEAD', signal })
    return {
      contentType: headers.get('content-type') ?? '',
      bytes: Number(headers.get('content-length')),
      etag: headers.get('etag') ?? '',
    }
  }

  /** All captures that match, newest first; a page is requested when its first entry is read. */
  list(filter?: ListFilter): AsyncGenerator<Screenshot, void> {
    return this.#transport.pages('/screenshots', filter)
  }

  async batch(parameters: BatchParameters, options?: KeyedOptions): Promise<Batch> {
    const response = await this.#post('/screenshots/batch', parameters, options)
    return ((await response.json()) as { data: Batch }).data
  }

  /** All batches that match, newest first, without their captures. */
  batches(filter?: BatchFilter): AsyncGenerator<BatchSummary, void> {
    return this.#transport.pages('/screenshots/batch', filter)
  }

  batchStatus(id: string, { signal }: CallOptions = {}): Promise<Batch> {
    return this.#transport.data(batchAt(id), { signal })
  }

  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.send(at(id), { method: 'DELETE', signal })
  }

  /** A link to the image that needs no key. `expiresIn` in minutes, 0 for no expiry. Default: 60. */
  signedUrl(
    id: string,
    { expiresIn, signal }: CallOptions & { /** Minutes. */ expiresIn?: number } = {},
  ): Promise<SignedUrl> {
    const body = expiresIn === undefined ? {} : { expires_in: expiresIn }
    return this.#transport.data(at(id, '/signed-url'), { method: 'POST', body, signal })
  }

  account({ signal }: CallOptions = {}): Promise<Account> {
    return this.#transport.data('/account', { signal })
  }

  /** The usage of this month, and with `from` or `to` (ISO dates) that of each of up to 100 days in `days`. */
  usage({ from, to, signal }: CallOptions & { from?: string; to?: string } = {}): Promise<Usage> {
    return this.#transport.data(`/account/usage${queryOf({ from, to })}`, { signal })
  }

  /** Which targets captures of the account may and may not reach. */
  targets({ signal }: CallOptions = {}): Promise<TargetLists> {
    return this.#transport.data('/account/targets', { signal })
  }

  /** Replaces both lists of targets, for captures that are accepted from then on. Returns their normal form. */
  replaceTargets(lists: TargetLists, { signal }: CallOptions = {}): Promise<TargetLists> {
    return this.#transport.data('/account/targets', { signal, method: 'PUT', body: lists })
  }

  /** What the requests of the account did, newest first. */
  activity(filter?: ActivityFilter): AsyncGenerator<ActivityEntry, void> {
    return this.#transport.pages('/account/activity', filter)
  }

  /** What the requests of the account have done since `from`, newest first, in one response. Throws if that breaks off. */
  exportActivity(filter: ActivityExport): AsyncGenerator<ActivityEntry, void> {
    return this.#transport.lines('/account/activity/export', filter)
  }

  /** Events of a capture up to `result` or `deleted`; reconnects if the connection ends earlier. */
  events(id: string, { signal }: CallOptions = {}): AsyncGenerator<CaptureEvent, void> {
    return this.#events(at(id, '/events'), signal) as AsyncGenerator<CaptureEvent, void>
  }

  /** Events of a batch up to `result` or `deleted`; reconnects if the connection ends earlier. */
  batchEvents(id: string, { signal }: CallOptions = {}): AsyncGenerator<BatchEvent, void> {
    return this.#events(batchAt(id, '/events'), signal) as AsyncGenerator<BatchEvent, void>
  }

  /** Events of all captures of the account, until it is aborted; it reconnects, and each connection begins with `ready`. */
  accountEvents({ signal }: CallOptions = {}): AsyncGenerator<AccountEvent, void> {
    return this.#events('/events', signal, []) as AsyncGenerator<AccountEvent, void>
  }

  #events(path: string, signal: AbortSignal | undefined, lastNames = lastEvents) {
    const connect = (lastId: string | undefined) =>
      this.#transport.send(path, {
        signal,
        limitMs: Infinity,
        headers: lastId === undefined ? {} : { 'last-event-id': lastId },
      })
    return readEvents(connect, lastNames, signal)
  }

  /** Deliveries of a capture, to webhooks and to its `webhook_url`, newest first. */
  deliveries(id: string, options?: PageOptions): AsyncGenerator<Delivery, void> {
    return this.#transport.pages(at(id, '/deliveries'), options)
  }

  redeliver(id: string, deliveryId: string, { signal }: CallOptions = {}): Promise<QueuedDelivery> {
    const path = at(id, `/deliveries/${encodeURIComponent(deliveryId)}/redeliver`)
    return this.#transport.data(path, { method: 'POST', signal })
  }
}
