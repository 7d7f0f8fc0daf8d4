import { readEvents } from './read-events.js'
import { createSender } from './send-request.js'
import { ShutterfleetError } from './shutterfleet-error.js'

export { ShutterfleetError } from './shutterfleet-error.js'
export { verifyWebhook } from './verify-webhook.js'

/** Longest that one look at a capture may wait, in seconds. */
const waitSecondsMax = 60

const hasEnded = ({ status }) => status === 'completed' || status === 'failed'

const keyed = ({ idempotencyKey = crypto.randomUUID() } = {}) => ({ 'idempotency-key': idempotencyKey })

const queryOf = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

const at = (id, rest = '') => `/screenshots/${encodeURIComponent(id)}${rest}`

const webhookAt = (id, rest = '') => `/webhooks/${encodeURIComponent(id)}${rest}`

/** A failed capture as an error; one that goes on has no error of its own. */
const failureOf = ({ id, error, status }) =>
  new ShutterfleetError({
    code: error?.code ?? 'NOT_READY',
    message: error?.message ?? `The capture is still ${status}.`,
    status: undefined,
    screenshotId: id,
  })

const imageOf = async (response, id) => ({
  id: response.headers.get('x-screenshot-id') ?? id,
  bytes: new Uint8Array(await response.arrayBuffer()),
  contentType: response.headers.get('content-type') ?? '',
  cached: response.headers.get('x-cache') === 'HIT',
})

/** Goes through pages by their cursors; each is asked for once its first entry is wanted. */
const readPages = async function* readPages(read, filter) {
  let cursor
  do {
    const { data, meta } = await read({ ...filter, cursor })
    yield* data
    cursor = meta.next_cursor ?? undefined
  } while (cursor !== undefined)
}

const createWebhooks = ({ send, data, pages }) => ({
  list: (options) => data('/webhooks', options),
  create: (fields, options) => data('/webhooks', { ...options, method: 'POST', body: fields }),
  get: (id, options) => data(webhookAt(id), options),
  change: (id, fields, options) => data(webhookAt(id), { ...options, method: 'PATCH', body: fields }),
  delete: async (id, options) => void (await send(webhookAt(id), { ...options, method: 'DELETE' })),
  test: async (id, options) => data(webhookAt(id, '/test'), { ...options, method: 'POST' }),
  rotateSecret: (id, options) => data(webhookAt(id, '/rotate-secret'), { ...options, method: 'POST' }),
  deliveries: (id, options) => pages(webhookAt(id, '/deliveries'), options),
  redeliver: (id, deliveryId, options) =>
    data(webhookAt(id, `/deliveries/${encodeURIComponent(deliveryId)}/redeliver`), { ...options, method: 'POST' }),
})

/** A client of one account. Each method is one operation of the interface; README.md shows them. */
export class Shutterfleet {
  #send

  constructor({
    baseUrl,
    apiKey,
    fetch = globalThis.fetch.bind(globalThis),
    retries = 2,
    retryWaitSeconds = 60,
    timeoutMs = 180_000,
  }) {
    if (!/^https?:\/\//.test(baseUrl ?? '')) throw new TypeError('baseUrl must be an http or https URL')
    if (!apiKey) throw new TypeError('apiKey is missing')
    this.#send = createSender({ baseUrl, apiKey, fetch, retries, retryWaitSeconds, timeoutMs })
    this.webhooks = createWebhooks({
      send: this.#send,
      data: (path, options) => this.#data(path, options),
      pages: (path, options) => this.#pages(path, options),
    })
  }

  async #data(path, options) {
    const response = await this.#send(path, options)
    return (await response.json()).data
  }

  #pages(path, { perPage, signal, ...filter } = {}) {
    const read = async (query) => (await this.#send(path + queryOf(query), { signal })).json()
    return readPages(read, { per_page: perPage, ...filter })
  }

  #post(path, body, options) {
    return this.#send(path, { method: 'POST', body, headers: keyed(options), signal: options?.signal })
  }

  /** The capture of an answer that does not wait for its end; it is followed where it goes on. */
  async #end(response, options) {
    const body = await response.json()
    return response.status === 202 ? this.waitFor(body.id, options) : body.data
  }

  async capture(parameters, options) {
    const response = await this.#post('/screenshots/capture', { ...parameters, response_type: 'image' }, options)
    if (response.status === 200) return imageOf(response, '')
    const record = await this.#end(response, options)
    if (record.status !== 'completed') throw failureOf(record)
    return this.image(record.id, options)
  }

  async captureRecord(parameters, options) {
    const response = await this.#post('/screenshots/capture', { ...parameters, response_type: 'json' }, options)
    return this.#end(response, options)
  }

  async create(parameters, options) {
    const response = await this.#post('/screenshots', { ...parameters, response_type: 'json' }, options)
    return (await response.json()).data
  }

  status(id, { wait, signal } = {}) {
    return this.#data(at(id) + queryOf({ wait }), { signal })
  }

  async waitFor(id, { waitMs = 180_000, signal } = {}) {
    const end = performance.now() + waitMs
    for (;;) {
      const leftSeconds = Math.ceil((end - performance.now()) / 1000)
      const asked = performance.now()
      const record = await this.status(id, { wait: Math.max(0, Math.min(waitSecondsMax, leftSeconds)), signal })
      if (hasEnded(record)) return record
      if (performance.now() >= end) throw failureOf(record)
      // The service answers at once where too many wait.
      if (performance.now() - asked < 500) await new Promise((wake) => setTimeout(wake, 1000))
    }
  }

  async image(id, { signal } = {}) {
    return imageOf(await this.#send(at(id, '/image'), { signal }), id)
  }

  async describeImage(id, { signal } = {}) {
    const { headers } = await this.#send(at(id, '/image'), { method: 'HEAD', signal })
    return {
      contentType: headers.get('content-type') ?? '',
      bytes: Number(headers.get('content-length')),
      etag: headers.get('etag') ?? '',
    }
  }

  list(filter) {
    return this.#pages('/screenshots', filter)
  }

  async batch(parameters, options) {
    return (await (await this.#post('/screenshots/batch', parameters, options)).json()).data
  }

  batchStatus(id, { signal } = {}) {
    return this.#data(`/screenshots/batch/${encodeURIComponent(id)}`, { signal })
  }

  async delete(id, { signal } = {}) {
    await this.#send(at(id), { method: 'DELETE', signal })
  }

  signedUrl(id, { expiresIn, signal } = {}) {
    const body = expiresIn === undefined ? {} : { expires_in: expiresIn }
    return this.#data(at(id, '/signed-url'), { method: 'POST', body, signal })
  }

  account({ signal } = {}) {
    return this.#data('/account', { signal })
  }

  usage({ signal } = {}) {
    return this.#data('/account/usage', { signal })
  }

  events(id, { signal } = {}) {
    return this.#events(at(id, '/events'), signal)
  }

  batchEvents(id, { signal } = {}) {
    return this.#events(`/screenshots/batch/${encodeURIComponent(id)}/events`, signal)
  }

  #events(path, signal) {
    const connect = (lastId) =>
      this.#send(path, { signal, limitMs: Infinity, headers: lastId === undefined ? {} : { 'last-event-id': lastId } })
    return readEvents(connect, signal)
  }

  deliveries(id, options) {
    return this.#pages(at(id, '/deliveries'), options)
  }

  redeliver(id, deliveryId, { signal } = {}) {
    const path = at(id, `/deliveries/${encodeURIComponent(deliveryId)}/redeliver`)
    return this.#data(path, { method: 'POST', signal })
  }
}
