import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { newObjectKey } from '#shared/storage/objects.ts'
import { RenewedKeys } from '#shared/storage/s3-keys.ts'
import { createS3Store } from '#shared/storage/s3-store.ts'
import { eventually } from '#test/helpers/eventually.ts'

const key = newObjectKey('0d9f6c1e-0000-4000-8000-000000000001', new Date('2026-11-20T06:00:00Z'))
const bounds = { callMs: 400, idleMs: 200 }

/** A store whose requests are handled by `answer`. */
const startStore = async (t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void) => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return createS3Store(`http://K:S@127.0.0.1:${port}/images`, undefined, bounds)
}

t.test('s3 store: every call to a store that never responds times out', async (t) => {
  const store = await startStore(t, () => {})
  const unavailable = { code: 'SERVICE_UNAVAILABLE', message: /no response for \d+ ms/ }
  await Promise.all([
    t.rejects(store.get(key), unavailable),
    t.rejects(store.get(key, { first: 0, last: 1 }), unavailable),
    t.rejects(store.delete([key]), unavailable),
    t.rejects(store.put(key, Buffer.from('x'), 'image/png'), unavailable),
    t.rejects(Array.fromAsync(store.list('captures/')), unavailable),
  ])
})

t.test('s3 store: a call whose response never ends times out, although bytes keep arriving', async (t) => {
  const store = await startStore(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' })
    const timer = setInterval(() => response.write(' '), 20)
    response.once('close', () => clearInterval(timer))
  })
  await Promise.all([t.rejects(store.delete([key])), t.rejects(Array.fromAsync(store.list('captures/')))])
})

t.test('s3 store: a call to a busy store is retried once, without warnings', async (t) => {
  const warned = t.capture(console, 'warn')
  let busy = 1
  const store = await startStore(t, (_request, response) => {
    busy -= 1
    response.writeHead(busy >= 0 ? 503 : 404).end()
  })
  t.equal(await store.get(key), undefined)
  t.equal(busy, -1)
  const calls: readonly (() => Promise<unknown>)[] = [
    () => store.get(key),
    () => store.put(key, Buffer.from('x'), 'image/png'),
    () => store.delete([key]),
  ]
  for (const call of calls) {
    busy = 2
    await t.rejects(call(), { code: 'SERVICE_UNAVAILABLE', message: /503/ })
    t.equal(busy, 0)
  }
  t.same(warned(), [])
})

t.test('s3 store: reports the objects that the store did not delete despite status 200', async (t) => {
  const other = key.replace(/.$/, 'x')
  const errors = [key, other].map((each) => `<Error><Key>${each}</Key><Code>AccessDenied</Code></Error>`)
  let listedErrors = errors
  const store = await startStore(t, (_request, response) => {
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(`<DeleteResult>${listedErrors.join('')}</DeleteResult>`)
  })
  t.same(
    await store.delete([key, other]),
    [key, other].map((each) => ({ key: each, reason: 'AccessDenied' })),
  )
  listedErrors = errors.slice(0, 1)
  t.same(await store.delete([key, other]), [{ key, reason: 'AccessDenied' }])
  listedErrors = []
  t.same(await store.delete([key, other]), [])
  listedErrors = ['<Error><Code>SlowDown</Code></Error>']
  await t.rejects(store.delete([key]), { code: 'SERVICE_UNAVAILABLE', message: /SlowDown/ }, 'an error without a key')
})

const head = { 'content-length': '20000000', 'last-modified': new Date(0).toUTCString(), etag: '"0"' }

t.test('s3 store: the body of a stalled download fails', async (t) => {
  const store = await startStore(t, (request, response) => {
    response.writeHead(200, head)
    if (request.method === 'HEAD') response.end()
    else response.write(Buffer.alloc(1000))
  })
  const found = await store.get(key)
  t.equal(found?.bytes, 20_000_000)
  await t.rejects(buffer(found?.body ?? Readable.from([])), { message: /no response for 200 ms/ })
})

t.test('s3 store: a slow reader does not time out', async (t) => {
  let quiet = 0
  const store = await startStore(t, (request, response) => {
    response.writeHead(200, head)
    if (request.method === 'HEAD') return void response.end()
    response.end(Buffer.alloc(20_000_000))
    // The timeout of the server's socket shows that no bytes were sent for that long.
    response.setTimeout(3 * bounds.idleMs, () => (quiet += 1))
  })
  const found = await store.get(key)
  await eventually(() => quiet > 0)
  t.equal((await buffer(found?.body ?? Readable.from([]))).length, 20_000_000)
})

t.test('s3 store: a listing goes on with other keys once the store refuses those it began with', async (t) => {
  const requests: string[] = []
  const server = createServer(({ url = '', headers }, response) => {
    const [, id = ''] = /Credential=(\w+)/.exec(String(headers.authorization)) ?? []
    const token = new URL(url, 'http://s3').searchParams.get('continuation-token') ?? ''
    requests.push(`${id} ${token}`)
    if (token !== '' && id === 'old') {
      response.writeHead(403).end('<Error><Code>ExpiredToken</Code></Error>')
      return
    }
    const more = token === '' && '<IsTruncated>true</IsTruncated><NextContinuationToken>two</NextContinuationToken>'
    response.end(
      `<ListBucketResult>${more || ''}<Contents><Key>captures/${token || 'one'}</Key><Size>1</Size></Contents></ListBucketResult>`,
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  let accessKey = 'old'
  const source = async () => ({ keys: { accessKey, secretKey: 'S' } })
  const store = createS3Store(`http://127.0.0.1:${port}/images`, () => new RenewedKeys({ source }))
  const listed: string[] = []
  for await (const each of store.list('captures/')) {
    listed.push(each)
    accessKey = 'new'
  }
  t.strictSame(listed, ['captures/one', 'captures/two'])
  t.strictSame(requests, ['old ', 'old two', 'new two'])
})
