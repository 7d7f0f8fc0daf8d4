import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import { createTestContext, pendingCapture, testCaller, testKey } from '#test/helpers/gateway-context.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

const path = '/v1/screenshots/batch'
const urls = ['https://example.com/a', 'https://example.com/b', 'https://example.com/a']

const start = (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' }
  const post = (body: unknown, more: object = {}) =>
    app.inject({ method: 'POST', url: path, headers: { ...headers, ...more }, payload: JSON.stringify(body) })
  const get = (id: string) => app.inject({ url: `${path}/${id}`, headers })
  return { context, post, get }
}

// Contract: Batch response
t.test('create: accepts one capture for each URL of a batch, in input order, and returns immediately', async (t) => {
  const { context, post } = start(t)
  const answer = await post({ urls, width: 400, webhook_url: 'https://a.example.com/?t=s3cr3t' })
  const [batch] = context.calls.batches
  t.equal(answer.statusCode, 202)
  t.same(answer.json(), {
    data: {
      ...{ id: batch?.id, status: 'pending', total: 3, pending: 3, processing: 0, completed: 0, failed: 0 },
      created_at: pendingCapture.createdAt,
      screenshots: urls.map((url, index) => ({
        ...{ index, id: batch?.members[index]?.id, status: 'pending', url },
        options: { width: 400, height: 800, format: 'png', webhook_url: 'https://a.example.com/?***' },
        created_at: pendingCapture.createdAt,
      })),
    },
  })
  t.equal(answer.headers.location, `https://shots.example${path}/${batch?.id}`)
  t.match(batch, { lane: 'bulk', features: ['webhooks', 'batch'] })
  t.notMatch(batch?.webhookUrl, 's3cr3t', 'it is sealed')
  t.equal(testRecords.openUrl(batch?.webhookUrl ?? ''), 'https://a.example.com/?t=s3cr3t')
  t.equal(new Set(batch?.members.map(({ id }) => id)).size, 3, 'two equal URLs are two captures')
  t.same(
    context.calls.published,
    batch?.members.map(({ id }) => id),
  )
})

t.test('create: batches of all keys of an account share its bound on waits for its lock', async (t) => {
  const { context, post } = start(t)
  const callers: string[] = []
  const run = <T>(caller: string, statement: () => Promise<T>) => {
    callers.push(caller)
    return statement()
  }
  Object.assign(context, { lockWaits: { run } })
  await post({ urls })
  await post({ urls }, { authorization: `Bearer ${testKey.slice(0, -1)}3` })
  t.same(callers, [testCaller.accountId, testCaller.accountId])
})

t.test('create: leaves members that were not admitted to the relay', async (t) => {
  const { context, post } = start(t)
  context.answers.acceptBatch = ({ members }) => ({
    ...{ ok: true, caller: testCaller, createdAt: 'then', admitted: false },
    admittedIds: members.slice(0, 1).map(({ id }) => id),
  })
  await post({ urls })
  t.same([context.calls.published.length, context.calls.relayWakeups], [1, 1])
})

// Contract: Validation
// Contract: Batch request
// Contract: Batch source
t.test('create: reports all faults at once, those of an entry under its index, and accepts nothing', async (t) => {
  const { context, post } = start(t)
  const details = async (body: unknown) => {
    const answer = await post(body)
    t.equal(answer.statusCode, 422)
    return answer.json<{ error: { details: Record<string, string[]> } }>().error.details
  }
  const mixed = {
    urls: [urls[0], 'http://127.0.0.1/', urls[1], 7, ''],
    width: 1,
    nonsense: true,
    response_type: 'image',
  }
  t.same(Object.keys(await details(mixed)).toSorted(), [
    'nonsense',
    'response_type',
    'urls.1',
    'urls.3',
    'urls.4',
    'width',
  ])
  for (const wrong of [undefined, [], 'https://example.com/', Array.from({ length: 101 }, () => urls[0]), {}]) {
    t.same(Object.keys(await details({ urls: wrong, height: 1 })).toSorted(), ['height', 'urls'])
  }
  t.same(Object.keys(await details({ urls, url: urls[0], html: '<p>', markdown: '#' })).toSorted(), [
    'html',
    'markdown',
    'url',
  ])
  t.same(
    Object.keys(await details({ cookies: [{ name: 'a', value: 'b' }] })),
    ['urls'],
    'without a host there is no cookie fault',
  )
  t.same(await details([]), { body: ['must be a JSON object'] })
  t.same(context.calls.batches, [])
  t.equal((await post({ urls: Array.from({ length: 100 }, () => urls[0]) })).statusCode, 202)
})

t.test('create: requires the batch feature, and checks last for features that this installation lacks', async (t) => {
  const { context, post } = start(t)
  const answer = await post({ urls, stealth: true })
  t.match([answer.statusCode, answer.json()], [422, { error: { details: { stealth: [/has no full Chromium/] } } }])
  t.match(context.calls.tried, [{ features: ['batch', 'stealth'] }])
  const caller = testCaller
  context.answers.acceptBatch = () => ({ ok: false, code: 'FEATURE_NOT_AVAILABLE', grounds: ['batch'], caller })
  const gated = await post({ urls })
  t.match([gated.statusCode, gated.json()], [403, { error: { message: /batch/ } }])
})

t.test('create: members of a batch with a cache_ttl share captures by their own URL', async (t) => {
  const { context, post } = start(t)
  await post({ urls, cache_ttl: 60 })
  await post({ urls })
  const [shared, plain] = context.calls.batches
  const keys = shared?.members.map(({ cacheKey }) => cacheKey?.toString('hex')) ?? []
  t.same([shared?.cacheSeconds, keys[0] === keys[2], keys[0] === keys[1]], [60, true, false])
  t.same([plain?.cacheSeconds, plain?.members[0]?.cacheKey], [undefined, undefined])
})

const found = {
  id: '33333333-3333-4333-8333-333333333333',
  status: 'pending',
  ...{ total: 4, pending: 4, processing: 0, completed: 0, failed: 0, created_at: 'then' },
  screenshots: [{ index: 2, id: 'x', status: 'pending', url: urls[0]!, options: { width: 1 }, created_at: 'then' }],
} as const

// Contract: Batch status
// Contract: Batch response
t.test('create: the status of a batch is current; an unknown id returns 404', async (t) => {
  const { context, get } = start(t)
  context.answers.findBatch = (id) => (id === found.id ? found : undefined)
  t.same((await get(found.id)).json(), { data: found })
  for (const id of ['nonsense', '44444444-4444-4444-8444-444444444444']) {
    const answer = await get(id)
    t.match([answer.statusCode, answer.json()], [404, { error: { code: 'NOT_FOUND' } }])
  }
})

t.test('create: a repeated request returns the first batch in its current state', async (t) => {
  const { context, post } = start(t)
  context.answers.acceptBatch = () => ({
    ...{ ok: true, caller: testCaller, createdAt: 'then', admitted: false, replayOf: found.id },
  })
  context.answers.findBatch = (id) =>
    id === found.id ? { ...found, status: 'completed', pending: 0, completed: 4 } : undefined
  const answer = await post({ urls }, { 'idempotency-key': 'k' })
  t.match(
    [answer.statusCode, answer.headers['idempotent-replayed'], answer.json()],
    [202, 'true', { data: { id: found.id, status: 'completed' } }],
  )
  t.match(context.calls.batches, [{ idempotency: { key: 'k' } }])
  t.same([context.calls.published, context.calls.relayWakeups], [[], 0])
})

t.test('create: validates and seals a batch only for a valid key, however small its body', async (t) => {
  const { context, post } = start(t)
  context.answers.check = () => ({ ok: false, code: 'INVALID_API_KEY' })
  t.equal((await post({ urls })).statusCode, 401)
  t.same([context.calls.checks, context.calls.batches], [1, []])
})
