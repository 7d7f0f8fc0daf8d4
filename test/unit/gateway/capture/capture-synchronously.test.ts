import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import {
  completedCapture,
  createTestContext,
  pendingCapture,
  testCaller,
  testImage,
  testKey,
} from '#test/helpers/gateway-context.ts'

const url = 'https://example.com/'
const failedCapture = { ...pendingCapture, status: 'failed', error: { code: 'TIMEOUT', message: 'late' } } as const

const start = (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const post = (path: string, parameters: object, headers: object = {}) =>
    app.inject({
      method: 'POST',
      url: path,
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', ...headers },
      payload: JSON.stringify({ url, ...parameters }),
    })
  const accepts = (more: object) => {
    context.answers.accept = () => ({ ok: true, caller: testCaller, createdAt: 'then', admitted: false, ...more })
  }
  return { context, app, post, accepts }
}

const capturePath = '/v1/screenshots/capture'
const createPath = '/v1/screenshots'

// Contract: `response_type=json` on capture
t.test('capture synchronously: response_type=json returns the final record, completed or failed', async (t) => {
  const { context, app, post } = start(t)
  context.answers.find = () => completedCapture
  const done = await post(capturePath, { response_type: 'json' })
  t.match(
    [done.statusCode, done.json()],
    [200, { data: { id: completedCapture.id, status: 'completed', cached: false } }],
  )
  t.match(done.headers, { 'x-screenshot-id': completedCapture.id, 'x-cache': 'MISS' })
  const get = await app.inject({
    url: `${capturePath}?url=${encodeURIComponent(url)}&response_type=json`,
    headers: { authorization: `Bearer ${testKey}` },
  })
  t.same([get.statusCode, get.json()], [200, done.json()])
  context.answers.find = () => failedCapture
  const failed = await post(capturePath, { response_type: 'json' })
  t.match(
    [failed.statusCode, failed.json()],
    [200, { data: { status: 'failed', error: { code: 'TIMEOUT', message: 'late' } } }],
  )
  t.equal(failed.headers['x-usage-remaining'], '100', 'its charge is released')
})

// Contract: `response_type=image` on create
t.test('capture synchronously: response_type=image makes a create synchronous', async (t) => {
  const { context, post } = start(t)
  context.answers.find = () => completedCapture
  const answer = await post(createPath, { response_type: 'image' })
  t.same([answer.statusCode, answer.rawPayload], [200, testImage])
  t.match(context.calls.accepted, [{ lane: 'interactive' }])
  context.answers.find = () => failedCapture
  const failed = await post(createPath, { response_type: 'image' })
  t.match([failed.statusCode, failed.json()], [422, { error: { code: 'TIMEOUT' } }])
})

// Contract: `response_type=image` on create
t.test(
  'capture synchronously: with a webhook every operation returns immediately; a capture operation echoes its full address',
  async (t) => {
    const { context, app, post } = start(t)
    const webhook = 'HTTPS://hooks.example.com:443/in?token=s3cr3t'
    const flat = { status: 'pending', url, webhook_url: webhook, created_at: pendingCapture.createdAt }
    for (const response of ['image', 'json'] as const) {
      const captured = await post(capturePath, { webhook_url: webhook, response_type: response })
      const { id } = context.calls.accepted.at(-1)!
      t.same([captured.statusCode, captured.json()], [202, { id, ...flat }])
      const created = await post(createPath, { webhook_url: webhook, response_type: response })
      t.match([created.statusCode, created.json()], [202, { data: { status: 'pending', url } }])
      t.notMatch(created.payload, 's3cr3t', 'the record masks it')
    }
    const query = new URLSearchParams({ url, webhook_url: webhook }).toString()
    const got = await app.inject({ url: `${capturePath}?${query}`, headers: { authorization: `Bearer ${testKey}` } })
    t.match([got.statusCode, got.json()], [202, flat])
    for (const { webhookUrl, lane, features, options } of context.calls.accepted) {
      t.same(
        [webhookUrl, lane, features, options['webhook_url']],
        ['https://hooks.example.com/in?token=s3cr3t', 'normal', ['webhooks'], 'https://hooks.example.com/in?***'],
      )
    }
  },
)

t.test(
  'capture synchronously: returns a cached result immediately as a hit, without publishing or waiting',
  async (t) => {
    const { context, post, accepts } = start(t)
    accepts({ shared: 'hit' })
    context.answers.waiter = { ...context.answers.waiter, takeSlot: () => false }
    context.answers.find = () => ({ ...completedCapture, cached: true })
    const image = await post(capturePath, { cache_ttl: 60 })
    t.match([image.statusCode, image.headers['x-cache'], image.rawPayload], [200, 'HIT', testImage])
    const record = await post(capturePath, { cache_ttl: 60, response_type: 'json' })
    t.match([record.statusCode, record.headers['x-cache'], record.json()], [200, 'HIT', { data: { cached: true } }])
    const created = await post(createPath, { cache_ttl: 60 })
    t.match(
      [created.statusCode, created.headers['x-cache'], created.json()],
      [202, 'HIT', { data: { status: 'pending' } }],
    )
    t.same([context.calls.published, context.calls.relayWakeups], [[], 0])
  },
)

t.test(
  'capture synchronously: a follower waits for the end of the capture it shares, and sees its charge released',
  async (t) => {
    const { context, post, accepts } = start(t)
    accepts({ shared: 'follows' })
    context.answers.find = () => failedCapture
    const answer = await post(capturePath, { cache_ttl: 60 })
    t.match([answer.statusCode, answer.headers['x-usage-remaining']], [422, '100'])
    t.same([context.calls.published, context.calls.relayWakeups], [[], 0])
  },
)

t.test(
  'capture synchronously: shares only captures with a cache_ttl, keyed by all parameters that affect the image',
  async (t) => {
    const { context, post } = start(t)
    await post(createPath, {})
    await post(createPath, { cache_ttl: 0 })
    await post(createPath, { cache_ttl: 60 })
    await post(createPath, { cache_ttl: 90, width: 1280, webhook_url: 'https://a.example.com/', response_type: 'json' })
    await post(createPath, { cache_ttl: 60, width: 1281 })
    const [none, zero, one, same, other] = context.calls.accepted.map(({ sharing }) => sharing)
    t.same([none, zero], [undefined, undefined])
    t.same([one?.seconds, same?.seconds, one?.key], [60, 90, same?.key])
    t.notSame(other?.key, one?.key)
  },
)

t.test(
  'capture synchronously: a repeated request returns its capture in its current state, marked as replayed',
  async (t) => {
    const { context, post, accepts } = start(t)
    accepts({ replayOf: completedCapture.id })
    const key = { 'idempotency-key': 'order-1' }
    const begins: string[] = []
    const { begin } = context.waiters
    Object.assign(context.waiters, {
      begin: (capture: Parameters<typeof begin>[0]) => {
        begins.push(capture.id)
        return begin(capture)
      },
    })
    const created = await post(createPath, {}, key)
    t.match(
      [created.statusCode, created.json()],
      [202, { data: { id: completedCapture.id, status: 'completed', created_at: completedCapture.createdAt } }],
    )
    t.match(created.headers, { 'idempotent-replayed': 'true', 'x-screenshot-id': completedCapture.id })

    const image = await post(capturePath, {}, key)
    t.match([image.statusCode, image.headers['idempotent-replayed'], image.rawPayload], [200, 'true', testImage])
    const reads = [{ ...pendingCapture, id: completedCapture.id }, completedCapture]
    context.answers.find = () => reads.shift()
    t.equal((await post(capturePath, {}, key)).statusCode, 200, 'it waits for the running capture')
    t.equal(begins.at(-1), completedCapture.id)

    accepts({ replayOf: completedCapture.id })
    context.answers.find = () => undefined
    const gone = await post(createPath, {}, key)
    t.equal(gone.statusCode, 404)
    t.same([context.calls.published, context.calls.relayWakeups], [[], 0])
    accepts({})
    t.notOk('idempotent-replayed' in (await post(createPath, {}, key)).headers)
  },
)

t.test(
  'capture synchronously: a repeated request shows the release of a charge only if the capture ended during the request',
  async (t) => {
    const { context, post, accepts } = start(t)
    accepts({ replayOf: failedCapture.id })
    const key = { 'idempotency-key': 'order-1' }
    const reads = [pendingCapture, pendingCapture, failedCapture]
    context.answers.find = () => reads.shift()
    const waited = await post(capturePath, {}, key)
    t.match([waited.statusCode, waited.headers['x-usage-remaining']], [422, '100'])
    context.answers.find = () => failedCapture
    const late = await post(capturePath, {}, key)
    t.match([late.statusCode, late.headers['x-usage-remaining']], [422, '99'])
  },
)

// Contract: After retention
t.test(
  'capture synchronously: a repeated request for an image returns 410 after the retention has passed',
  async (t) => {
    const { context, post, accepts } = start(t)
    accepts({ replayOf: completedCapture.id })
    const key = { 'idempotency-key': 'order-1' }
    context.answers.find = () => ({ ...completedCapture, expiresAt: '2026-06-01T12:34:55.999999Z' })
    const image = await post(capturePath, {}, key)
    t.match([image.statusCode, image.json()], [410, { error: { code: 'EXPIRED' } }])
    const record = await post(capturePath, { response_type: 'json' }, key)
    t.match([record.statusCode, record.json()], [200, { data: { status: 'completed' } }])
  },
)

t.test(
  'capture synchronously: requests with one key match only if operation and body are identical to the byte',
  async (t) => {
    const { context, post, app } = start(t)
    const key = { 'idempotency-key': 'k' }
    await post(createPath, {}, key)
    await post(createPath, {}, key)
    await post(createPath, { width: 400 }, key)
    context.answers.find = () => completedCapture
    await post(capturePath, {}, key)
    const hashes = context.calls.accepted.map(({ idempotency }) => idempotency?.requestSha256.toString('hex'))
    t.equal(hashes[0], hashes[1])
    t.equal(new Set(hashes).size, 3)
    await app.inject({
      url: `${capturePath}?url=${encodeURIComponent(url)}`,
      headers: { authorization: `Bearer ${testKey}`, ...key },
    })
    t.equal(context.calls.accepted.at(-1)?.idempotency, undefined, 'a GET ignores the key')
  },
)

t.test(
  'capture synchronously: a key is 1 to 255 visible ASCII characters, and its fault is reported with all others',
  async (t) => {
    const { context, post } = start(t)
    for (const key of ['', 'a b', 'é', 'a'.repeat(256), 'one, two']) {
      const answer = await post(createPath, { width: 1 }, { 'idempotency-key': key })
      t.match(
        [answer.statusCode, answer.json()],
        [422, { error: { code: 'VALIDATION_ERROR', details: { 'Idempotency-Key': [/1 to 255/], width: Array } } }],
        key,
      )
    }
    for (const key of ['!', '~'.repeat(255)])
      t.equal((await post(createPath, {}, { 'idempotency-key': key })).statusCode, 202)
    context.answers.accept = () => ({ ok: false, code: 'IDEMPOTENCY_MISMATCH', caller: testCaller })
    const other = await post(createPath, {}, { 'idempotency-key': 'k' })
    t.match([other.statusCode, other.json()], [422, { error: { code: 'IDEMPOTENCY_MISMATCH', status: 422 } }])
  },
)
