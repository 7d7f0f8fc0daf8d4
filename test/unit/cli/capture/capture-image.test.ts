import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { Shutterfleet } from '#client/shutterfleet.js'
import { captureImage } from '#cli/capture/capture-image.ts'
import { describeError } from '#cli/command/describe-error.ts'
import { serviceFetch } from '#cli/http/service-fetch.ts'
import { openClient } from '#cli/open-client.ts'

type Answer = { status: number; headers?: Record<string, string>; body?: unknown; image?: string }

/** A client of a service that sends its responses in order and records its requests. */
const startService = async (answers: readonly Answer[], retries = 0) => {
  const requests: { line: string; key: string | undefined; idempotencyKey: unknown; body: unknown }[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const body: unknown = request.method === 'POST' ? await json(request) : undefined
    const { authorization: key, 'idempotency-key': idempotencyKey } = request.headers
    requests.push({ line: `${request.method} ${request.url}`, key, body, idempotencyKey })
    const { status, headers = {}, body: answer, image } = answers[requests.length - 1] ?? { status: 500 }
    response.writeHead(status, headers)
    response.end(image ?? JSON.stringify(answer ?? {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return { client: await connect(`http://127.0.0.1:${port}`, retries), requests }
}

const connect = (baseUrl: string, retries = 0) => {
  const env = { SHUTTERFLEET_BASE_URL: baseUrl, SHUTTERFLEET_API_KEY: 'key' }
  return openClient({ env, stop: new AbortController().signal }, { flags: {}, operands: [] }, { retries })
}

const record = (status: string, more: object = {}) => ({ status: 200, body: { data: { id: 'abc', status, ...more } } })
const rejected = async (captured: Promise<unknown>) => captured.then(() => '', describeError)

t.test('capture image: captures, then reads the image', async (t) => {
  const { client, requests } = await startService([record('completed'), { status: 200, image: 'bytes' }])
  const { image, record: found } = await captureImage(client, { url: 'http://x' })
  t.strictSame([Buffer.from(image ?? []).toString(), found.status], ['bytes', 'completed'])
  const body = { url: 'http://x', response_type: 'json' }
  t.match(requests, [
    { line: 'POST /v1/screenshots/capture', key: 'Bearer key', body },
    { line: 'GET /v1/screenshots/abc/image', key: 'Bearer key' },
  ])
})

t.test('capture image: waits for a capture that continues after the 202', async (t) => {
  const answers = [{ status: 202, body: { id: 'abc' } }, record('completed'), { status: 200, image: 'late' }]
  const { client, requests } = await startService(answers)
  const { image } = await captureImage(client, {})
  t.equal(Buffer.from(image ?? []).toString(), 'late')
  t.match(requests[1]?.line, /^GET \/v1\/screenshots\/abc\?wait=/)
})

t.test('capture image: a failed capture has a record and no image', async (t) => {
  const { client } = await startService([record('failed', { error: { code: 'BLOCKED', message: 'no' } })])
  t.match(await captureImage(client, {}), { image: undefined, record: { error: { code: 'BLOCKED' } } })
})

t.test('capture image: a retry captures once', async (t) => {
  const busy = { status: 429, headers: { 'retry-after': '0' } }
  const { client, requests } = await startService([busy, record('failed', { error: {} })], 10)
  t.match(await captureImage(client, {}), { record: { status: 'failed' } })
  t.equal(requests[0]?.idempotencyKey, requests[1]?.idempotencyKey)
})

t.test('capture image: the error of a rejected request names every wrong parameter', async (t) => {
  const details = { width: ['must be at least 320'], url: ['is missing'] }
  const error = { code: 'VALIDATION_ERROR', message: 'Wrong.', details }
  const { client } = await startService([{ status: 422, body: { error } }])
  t.equal(
    await rejected(captureImage(client, {})),
    'the service rejected the request: VALIDATION_ERROR: Wrong. width: must be at least 320: url is missing',
  )
})

t.test('capture image: the error of an unreachable service says so', async (t) => {
  t.match(await rejected(captureImage(await connect('http://127.0.0.1:9'), {})), /127.0.0.1:9 is unreachable.*status/)
})

t.test(
  'capture image: a request whose connection fails is repeated, one without a response in time is not',
  async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => (server.closeAllConnections(), server.close()))
    const { port } = server.address() as AddressInfo
    const baseUrl = `http://127.0.0.1:${port}`
    const fetchUntil = serviceFetch(new AbortController().signal)
    let calls = 0
    const client = new Shutterfleet({
      ...{ baseUrl, apiKey: 'key', retries: 5 },
      fetch: async (url, init) => {
        calls += 1
        if (calls === 1) return await fetchUntil('http://127.0.0.1:9', init)
        return await fetchUntil(url, { ...init, signal: AbortSignal.timeout(50) })
      },
    })
    t.match(await rejected(captureImage(client, {})), /is unreachable \(TimeoutError/)
    t.equal(calls, 2)
  },
)
