import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import { bufferBytesMax } from '#gateway/images/read-image.ts'
import {
  completedCapture,
  createTestContext,
  pendingCapture,
  testImage,
  testKey,
} from '#test/helpers/gateway-context.ts'

const path = `/v1/screenshots/${completedCapture.id}/image`
const etag = `"${completedCapture.sha256}"`

const start = (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const ask = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url: path, headers: { authorization: `Bearer ${testKey}`, ...headers } })
  return { context, ask }
}

t.test('image: returns the whole image with its headers', async (t) => {
  const { ask } = start(t)
  const answer = await ask()
  t.equal(answer.statusCode, 200)
  t.same(answer.rawPayload, testImage)
  t.match(answer.headers, {
    etag,
    'accept-ranges': 'bytes',
    'content-type': 'image/png',
    'cache-control': 'private, no-cache',
  })
})

// Contract: Image response
t.test('image: HEAD returns the same headers without the image', async (t) => {
  const { context, ask } = start(t)
  const answer = await ask({}, 'HEAD')
  t.same([answer.statusCode, answer.rawPayload.length], [200, 0])
  t.match(answer.headers, { etag, 'content-length': String(testImage.length), 'content-type': 'image/png' })
  for (const bytes of [undefined, testImage.subarray(1)]) {
    context.answers.object = () => bytes
    t.equal((await ask({}, 'HEAD')).statusCode, 410, 'a missing or different object: as with GET')
  }
})

// Contract: Image response
// Contract: Success statuses
t.test('image: returns a part for a range', async (t) => {
  const { ask } = start(t)
  const last = testImage.length - 1
  for (const [range, from, to] of [
    ['bytes=0-3', 0, 3],
    ['bytes=5-', 5, last],
    ['bytes=-4', last - 3, last],
    ['bytes=2-9999', 2, last],
    [`bytes=2-${'9'.repeat(400)}`, 2, last],
    [`bytes=-${'9'.repeat(20)}`, 0, last],
  ] as const) {
    const answer = await ask({ range })
    t.equal(answer.statusCode, 206, range)
    t.same(answer.rawPayload, testImage.subarray(from, to + 1))
    t.equal(answer.headers['content-range'], `bytes ${from}-${to}/${testImage.length}`)
    t.equal(answer.headers['content-length'], String(to - from + 1))
  }
  for (const range of ['bytes=1-0', 'bytes=a-b', 'items=0-1', 'bytes=0-1,3-4'])
    t.equal((await ask({ range })).statusCode, 200, range)
  for (const range of ['bytes=9999-', 'bytes=-0', `bytes=${'9'.repeat(20)}-`, `bytes=${'9'.repeat(400)}-`]) {
    const answer = await ask({ range })
    t.same([answer.statusCode, answer.headers['content-range']], [416, `bytes */${testImage.length}`], range)
  }
  t.equal((await ask({ range: 'bytes=0-3', 'if-range': '"other"' })).statusCode, 200)
  t.equal((await ask({ range: 'bytes=0-3', 'if-range': etag })).statusCode, 206)
})

// Contract: Image response
// Contract: Success statuses
t.test('image: returns 304 if the client has the image', async (t) => {
  const { ask } = start(t)
  for (const ifNoneMatch of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const answer = await ask({ 'if-none-match': ifNoneMatch })
    t.same([answer.statusCode, answer.rawPayload.length, answer.headers['etag']], [304, 0, etag], ifNoneMatch)
  }
  t.equal((await ask({ 'if-none-match': '"other"' })).statusCode, 200)
})

// Contract: Image of a failed capture
// Contract: After retention
t.test('image: a pending or failed capture is NOT_READY, an expired or missing image is EXPIRED', async (t) => {
  const { context, ask } = start(t)
  const codeFor = async (capture: typeof pendingCapture) => {
    context.answers.find = () => capture
    const answer = await ask()
    return [answer.statusCode, answer.json<{ error: { code: string; message: string } }>().error]
  }
  t.match(await codeFor(pendingCapture), [404, { code: 'NOT_READY' }])
  t.match(await codeFor({ ...pendingCapture, status: 'processing' }), [404, { code: 'NOT_READY' }])
  const error = { code: 'DNS_FAILED', message: 'no such name' } as const
  t.match(await codeFor({ ...pendingCapture, status: 'failed', error }), [
    404,
    { code: 'NOT_READY', message: /DNS_FAILED no such name/ },
  ])
  t.match(await codeFor({ ...completedCapture, expiresAt: '2026-06-01T12:34:55.999999Z' }), [410, { code: 'EXPIRED' }])
  t.match(await codeFor({ ...completedCapture, objectKey: null }), [410, { code: 'EXPIRED' }])
  context.answers.object = () => undefined
  t.match(await codeFor(completedCapture), [410, { code: 'EXPIRED' }])
})

t.test('image: streams a large image, and aborts if it differs from the reported one', async (t) => {
  const { context, ask } = start(t)
  const large = Buffer.alloc(bufferBytesMax + 1, 7)
  const sha256 = createHash('sha256').update(large).digest('hex')
  context.answers.find = () => ({ ...completedCapture, fileSize: large.length, sha256 })
  context.answers.object = () => large
  const answer = await ask()
  t.equal(answer.statusCode, 200)
  t.ok(answer.rawPayload.equals(large))
  context.answers.object = () => Buffer.alloc(large.length, 8)
  const broken = await ask().catch(() => undefined)
  t.ok((broken?.rawPayload.length ?? 0) < large.length, 'the end of the image is never sent')
})
