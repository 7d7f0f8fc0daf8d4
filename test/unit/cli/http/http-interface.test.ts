import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { captureViaHttp } from '#cli/http/http-interface.ts'

type Answer = { status: number; headers?: Record<string, string>; body?: unknown; image?: string }

/** A service that sends its responses in order and records its requests. */
const startService = async (answers: readonly Answer[]) => {
  const requests: { line: string; key: string | undefined; idempotencyKey?: unknown; body: unknown }[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const body: unknown = request.method === 'POST' ? await json(request) : undefined
    const { authorization: key, 'idempotency-key': idempotencyKey } = request.headers
    requests.push({
      line: `${request.method} ${request.url}`,
      key,
      body,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    })
    const { status, headers = {}, body: answer, image } = answers[requests.length - 1] ?? { status: 500 }
    response.writeHead(status, headers)
    response.end(image ?? JSON.stringify(answer ?? {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const at = { baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key', stop: new AbortController().signal }
  return { at, requests }
}

const id = { 'x-screenshot-id': 'abc' }
const record = (status: string, more: object = {}) => ({ status: 200, body: { data: { id: 'abc', status, ...more } } })

t.test('http interface: returns an image at once, then its record', async (t) => {
  const { at, requests } = await startService([{ status: 200, headers: id, image: 'bytes' }, record('completed')])
  const { image, record: found } = await captureViaHttp(at, { url: 'http://x' }, { waitMs: 1000 })
  t.strictSame([image?.toString(), found.status], ['bytes', 'completed'])
  t.strictSame(requests, [
    { line: 'POST /v1/screenshots/capture', key: 'Bearer key', body: { url: 'http://x' } },
    { line: 'GET /v1/screenshots/abc', key: 'Bearer key', body: undefined },
  ])
})

t.test('http interface: polls a capture that continues after the 202', async (t) => {
  const answers = [
    { status: 202, headers: id },
    record('processing'),
    record('completed'),
    { status: 200, image: 'late' },
  ]
  const { at, requests } = await startService(answers)
  t.equal((await captureViaHttp(at, {}, { waitMs: 10_000 })).image?.toString(), 'late')
  t.equal(requests.at(-1)?.line, 'GET /v1/screenshots/abc/image')
})

t.test('http interface: gives up on a capture that takes too long, and reports its state', async (t) => {
  const { at } = await startService([{ status: 202, headers: id }, record('pending')])
  await t.rejects(captureViaHttp(at, {}, { waitMs: 0 }), { message: /abc is still pending/ })
})

t.test('http interface: a failed capture has a record and no image', async (t) => {
  const refused = { status: 422, body: { error: { code: 'BLOCKED', message: 'no', screenshot_id: 'abc' } } }
  const { at } = await startService([refused, record('failed', { error: { code: 'BLOCKED', message: 'no' } })])
  t.match(await captureViaHttp(at, {}, { waitMs: 1000 }), { image: undefined, record: { error: { code: 'BLOCKED' } } })
})

t.test(
  'http interface: a request of which the service does not know whether it was accepted may be repeated',
  async (t) => {
    const error = { code: 'SERVICE_UNAVAILABLE', message: 'later', screenshot_id: 'abc' }
    const { at, requests } = await startService([{ status: 503, headers: { 'retry-after': '2' }, body: { error } }])
    const captured = captureViaHttp(at, {}, { waitMs: 1000, idempotencyKey: 'once' })
    await t.rejects(captured, { message: /later/, retryAfterSeconds: 2 })
    t.match(requests, [{ idempotencyKey: 'once' }])
  },
)

t.test('http interface: a rejected request names the wrong parameter', async (t) => {
  const details = { width: ['must be at least 320'] }
  const { at } = await startService([
    { status: 422, body: { error: { code: 'VALIDATION_ERROR', message: 'm', details } } },
  ])
  await t.rejects(captureViaHttp(at, {}, { waitMs: 1000 }), {
    message: /VALIDATION_ERROR: m: width must be at least 320/,
  })
})

t.test('http interface: reports an unreachable service', async (t) => {
  const { at } = await startService([])
  await t.rejects(captureViaHttp({ ...at, baseUrl: 'http://127.0.0.1:9' }, {}, { waitMs: 1000 }), {
    message: /is unreachable.*status/,
  })
})
