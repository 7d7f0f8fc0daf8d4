import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import {
  completedCapture,
  createTestContext,
  pendingCapture,
  testImage,
  testKey,
} from '#test/helpers/gateway-context.ts'

const path = '/v1/screenshots/capture?url=https%3A%2F%2Fexample.com%2F'

const start = (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const capture = () => app.inject({ method: 'GET', url: path, headers: { authorization: `Bearer ${testKey}` } })
  return { context, app, capture }
}

const prefetch = (objectKey: string, bytes: Buffer | undefined) => ({
  waitForChange: async () => {},
  wake: () => {},
  prefetch: () => ({ objectKey, bytes: Promise.resolve(bytes) }),
  takeSlot: () => true,
  [Symbol.dispose]: () => {},
})

t.test('capture: returns the image of a completed capture with its metadata in headers', async (t) => {
  const { context, capture } = start(t)
  context.answers.find = () => completedCapture
  const answer = await capture()
  t.equal(answer.statusCode, 200)
  t.same(answer.rawPayload, testImage)
  t.match(answer.headers, {
    'content-type': 'image/png',
    'content-length': String(testImage.length),
    'content-disposition': `inline; filename="${completedCapture.id}.png"`,
    etag: `"${completedCapture.sha256}"`,
    'x-screenshot-id': completedCapture.id,
    'x-cache': 'MISS',
    'x-target-status': '200',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-ratelimit-limit': '40',
  })
  t.match(context.calls.accepted, [{ lane: 'interactive' }])
})

const startBoth = (t: Test) => {
  const { context, app } = start(t)
  context.answers.find = () => completedCapture
  const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' }
  const byQuery = (query: string) => app.inject({ url: `${path}&${query}`, headers })
  const byBoth = async (query: string, body: object) => {
    await byQuery(encodeURI(query))
    const payload = JSON.stringify({ url: 'https://example.com/', ...body })
    await app.inject({ method: 'POST', url: '/api/v1/screenshots/capture', headers, payload })
  }
  return { context, byQuery, byBoth }
}

// Contract: GET parameters
t.test('capture: query and body parameters are equivalent', async (t) => {
  const { context, byBoth } = startBoth(t)
  const parameters = { full_page: true, delay: 1, width: 400 }
  await byBoth('full_page=1&delay=1&width=400', parameters)
  const [first, second] = context.calls.accepted
  t.match(second?.options, parameters)
  t.same(first?.options, second?.options)
  t.equal(first?.budgetMs, second?.budgetMs)
})

// Contract: GET parameters
t.test('capture: lists, objects and flags of the query equal those of the body, in every spelling', async (t) => {
  const { context, byBoth } = startBoth(t)
  const hidden = { hide_selectors: ['.a', '.b'] }
  const place = { geolocation: { latitude: 1.5, longitude: -2 } }
  const flags = { retina: true, block_ads: true, stealth: false, dark_mode: false }
  for (const [query, body] of [
    ['hide_selectors=.a&hide_selectors=.b', hidden],
    ['hide_selectors[]=.a&hide_selectors[]=.b', hidden],
    ['hide_selectors=.a,.b', hidden],
    ['hide_selectors=[".a",".b"]', hidden],
    ['geolocation[latitude]=1.5&geolocation[longitude]=-2', place],
    ['geolocation={"latitude":1.5,"longitude":-2}', place],
    ['retina=true&block_ads=1&stealth=false&dark_mode=0', flags],
  ] as const) {
    await byBoth(query, body)
    // Parameters that no worker supports yet are validated and gated like others, and rejected last.
    const judged = [...context.calls.tried.splice(0), ...context.calls.accepted.splice(0)]
    const [one, other] = judged.map(({ options, features }) => ({ options, features }))
    t.match(other, { options: body })
    t.same(one, other, query)
  }
})

// Contract: GET parameters
t.test('capture: numbers and flags of the query have one form, and no parameter is dropped', async (t) => {
  const { byQuery } = startBoth(t)
  for (const query of ['width=1e3', 'width=0x400', 'width=%2B400', 'full_page=yes', 'full_page=TRUE', 'typo=1']) {
    const answer = await byQuery(query)
    const { details } = answer.json<{ error: { details: object } }>().error
    t.same([answer.statusCode, Object.keys(details)], [422, [query.split('=')[0]]], query)
  }
})

t.test('capture: sends the committed object, whatever was read before the commit', async (t) => {
  const { context, capture } = start(t)
  context.answers.find = () => completedCapture
  const key = completedCapture.objectKey ?? ''
  let reads = 0
  context.answers.object = () => {
    reads += 1
    return testImage
  }
  context.answers.waiter = prefetch(key, testImage)
  t.same([(await capture()).rawPayload, reads], [testImage, 0], 'the head start is used')
  context.answers.waiter = prefetch(`${key.slice(0, -1)}1`, Buffer.from('a loser'))
  t.same([(await capture()).rawPayload, reads], [testImage, 1], 'another object is not used')
  context.answers.waiter = prefetch(key, Buffer.from('forged'))
  t.same([(await capture()).rawPayload, reads], [testImage, 2], 'other bytes are not used')
})

// Contract: Synchronous capture that fails (a known departure: image bytes cannot carry a record)
t.test('capture: a failed capture returns its error code and its id', async (t) => {
  const { context, capture } = start(t)
  for (const [code, status] of [
    ['TIMEOUT', 422],
    ['DNS_FAILED', 422],
    ['CONNECTION_FAILED', 422],
    ['BLOCKED', 422],
    ['INVALID_URL', 422],
    ['RENDER_ERROR', 500],
    ['JOB_FAILED', 500],
  ] as const) {
    context.answers.find = () => ({ ...pendingCapture, status: 'failed', error: { code, message: `because ${code}` } })
    const answer = await capture()
    const { error } = answer.json<{ error: object }>()
    t.equal(answer.statusCode, status, code)
    t.same(error, {
      code,
      message: `because ${code}`,
      status,
      request_id: answer.headers['x-request-id'],
      doc_url: `https://shots.example/v1/docs/errors#${code}`,
      screenshot_id: pendingCapture.id,
    })
    t.equal(answer.headers['x-screenshot-id'], pendingCapture.id)
  }
})

// Contract: A synchronous capture that waits
t.test('capture: waits for a synchronous capture for its own budget plus the queue allowance', async (t) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const bounds: number[] = []
  context.answers.waiter = {
    ...prefetch('', undefined),
    waitForChange: async (ms: number) => {
      bounds.push(ms)
    },
  }
  context.answers.find = () => completedCapture
  for (const [query, budgetMs] of [
    ['', 50_000],
    ['&timeout=5', 25_000],
    ['&timeout=60&delay=10', 90_000],
  ] as const) {
    // All but 100 ms of the bound: the rest shows in the first wait, which is at most a second.
    Object.assign(context, { queueAllowanceMs: 100 - budgetMs })
    await app.inject({ url: path + query, headers: { authorization: `Bearer ${testKey}` } })
  }
  t.same(bounds, [100, 100, 100])
})

// Contract: A synchronous capture that waits
t.test('capture: a capture that exceeds the wait continues, and the 202 carries its address', async (t) => {
  const context = { ...createTestContext(), queueAllowanceMs: -50_000 }
  const app = createApp(context)
  t.teardown(() => app.close())
  const answer = await app.inject({ url: path, headers: { authorization: `Bearer ${testKey}` } })
  t.equal(answer.statusCode, 202)
  const id = context.calls.accepted[0]?.id
  t.same(answer.json(), { id, status: 'pending', url: 'https://example.com/', created_at: pendingCapture.createdAt })
  t.equal(answer.headers.location, `https://shots.example/v1/screenshots/${id}`)
  t.same([answer.headers['retry-after'], answer.headers['x-screenshot-id']], ['2', id])
})

t.test('capture: returns 202 without waiting if all waiters are taken', async (t) => {
  const { context, capture } = start(t)
  context.answers.waiter = { ...context.answers.waiter, takeSlot: () => false }
  t.equal((await capture()).statusCode, 202)
  t.equal(context.calls.accepted.length, 1)
})

t.test('capture: returns 404 if the capture is deleted meanwhile', async (t) => {
  const { context, capture } = start(t)
  context.answers.find = () => undefined
  t.equal((await capture()).statusCode, 404)
})

t.test('capture: never sends an image that differs from the reported one', async (t) => {
  const { context, capture } = start(t)
  context.answers.find = () => completedCapture
  for (const bytes of [undefined, Buffer.alloc(testImage.length), Buffer.concat([testImage, testImage])]) {
    context.answers.object = () => bytes
    const answer = await capture()
    t.match([answer.statusCode, answer.json()], [410, { error: { code: 'EXPIRED' } }])
  }
})
