import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { signedCodec } from '#shared/queue/messages.ts'
import { describeError, ImageUpload, requestAddress, retryDelayMs } from '#worker/delivery/store-image.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createImageStore } from '#test/helpers/image-store.ts'
import type { Put } from '#shared/queue/messages.ts'

t.test('store image: joins the messages of an error and its causes, four at most', async (t) => {
  const nested = (depth: number): Error =>
    depth === 1 ? new Error('1') : new Error(String(depth), { cause: nested(depth - 1) })
  t.equal(describeError(nested(2)), '2: 1')
  t.equal(describeError(nested(9)), '9: 8: 7: 6')
  t.equal(describeError('text'), 'text')
  t.equal(describeError({}), 'unknown error')
})

t.test('store image: requests a new address on the subject of the capture, which may be refused', async (t) => {
  const id = '00000000-0000-4000-8000-000000000000'
  const put = { key: 'k', url: 'http://store/k' }
  const requests: unknown[] = []
  const queue = (data: Uint8Array) => ({
    request: async (subject: string, _data: Uint8Array, timeoutMs: number) => {
      requests.push([subject, timeoutMs])
      const header = () => undefined
      return { subject, data, reply: undefined, traceparent: undefined, statusCode: 0, header }
    },
  })
  t.same(await requestAddress(queue(signedCodec.encode({ put })), { pool: 'stealth', id }), put)
  t.equal(await requestAddress(queue(signedCodec.encode({})), { pool: 'stealth', id }), undefined)
  t.same(requests[0], [`sign.stealth.${id}`, 2000])
})

const image = { bytes: Buffer.from('picture'), mimeType: 'image/png' }

/** A store that answers PUTs with these statuses, then with the last one. */
const storeThat = async (t: Test, answers: readonly number[], sign?: (url: string) => Put | undefined) => {
  const uploads: { path: string; type: string | undefined; once: string | undefined; body: string }[] = []
  let statuses = answers
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const path = request.url ?? ''
    uploads.push({ path, type: request.headers['content-type'], once: request.headers['if-none-match'], body })
    const [status = 200, ...rest] = statuses
    if (rest.length > 0) statuses = rest
    response.writeHead(status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let signed = 0
  const made = createImageStore(async (id) => {
    t.equal(id, 'capture')
    signed += 1
    return sign ? sign(base) : { key: `fresh-${signed}`, url: `${base}/fresh-${signed}` }
  })
  const upload = (isExclusive = true) =>
    new ImageUpload(made.store, { id: 'capture', image, put: { key: 'k', url: `${base}/k` }, isExclusive })
  const paths = () => uploads.map(({ path }) => path)
  return { ...made, base, uploads, paths, upload, answer: (next: readonly number[]) => (statuses = next) }
}

const soon = (withinMs = 20_000) => performance.now() + withinMs

t.test('store image: uploads the bytes once, with their media type', async (t) => {
  const { uploads, upload, changes } = await storeThat(t, [200])
  t.equal(await upload().storeBy(soon()), 'k')
  t.strictSame(uploads, [{ path: '/k', type: 'image/png', once: '*', body: 'picture' }])
  t.same(changes, [])
})

t.test('store image: retries a transient fault; 412 on a retry means that the first upload succeeded', async (t) => {
  for (const status of [503, 507, 500, 408, 429]) {
    const { paths, upload, changes } = await storeThat(t, [status, 412])
    t.equal(await upload().storeBy(soon()), 'k')
    t.same(paths(), ['/k', '/k'])
    t.same(changes, [], 'one lost try holds nothing')
  }
})

t.test('store image: waits between attempts double from 0.2 s to 2 s', (t) => {
  t.same([1, 2, 3, 4, 5, 2000].map(retryDelayMs), [200, 400, 800, 1600, 2000, 2000])
  t.end()
})

t.test('store image: requests a new address when one is refused or already used', async (t) => {
  for (const status of [403, 400, 404, 412, 301]) {
    const { paths, upload, changes } = await storeThat(t, [status, 201])
    t.equal(await upload().storeBy(soon()), 'fresh-1')
    t.same(paths(), ['/k', '/fresh-1'])
    t.same(changes, [])
  }
})

t.test('store image: 412 for a new address is a success only if an upload to it may have succeeded', async (t) => {
  const { paths, upload } = await storeThat(t, [503, 403, 412, 503, 412])
  t.equal(await upload().storeBy(soon()), 'fresh-2')
  t.same(paths(), ['/k', '/k', '/fresh-1', '/fresh-2', '/fresh-2'])
})

t.test('store image: ignores 412 for an address shared with another run, and uploads to a new one', async (t) => {
  const { paths, upload } = await storeThat(t, [503, 412, 201])
  t.equal(await upload(false).storeBy(soon()), 'fresh-1')
  t.same(paths(), ['/k', '/k', '/fresh-1'])
})

t.test('store image: requests an address before the first upload if it has none', async (t) => {
  const { paths, store } = await storeThat(t, [200])
  t.equal(
    await new ImageUpload(store, { id: 'capture', image, put: undefined, isExclusive: true }).storeBy(soon()),
    'fresh-1',
  )
  t.same(paths(), ['/fresh-1'])
})

t.test('store image: requests an address again if it could not be signed', async (t) => {
  let signRequests = 0
  const { paths, upload } = await storeThat(t, [403, 200], (base) => {
    signRequests += 1
    if (signRequests === 1) throw new AppError('SERVICE_UNAVAILABLE', { message: 'no gateway' })
    return { key: 'later', url: `${base}/later` }
  })
  t.equal(await upload().storeBy(soon()), 'later')
  t.same(paths(), ['/k', '/later'])
})

t.test('store image: only 413 fails the capture', async (t) => {
  const { uploads, upload, changes } = await storeThat(t, [413])
  await t.rejects(upload().storeBy(soon()), { code: 'RENDER_ERROR', publicMessage: /larger than the service stores/ })
  t.equal(uploads.length, 1)
  t.same(changes, [])
})

t.test('store image: the second failed attempt holds the worker, the first stored image releases it', async (t) => {
  const { upload, changes } = await storeThat(t, [403, 507, 200])
  t.equal(await upload().storeBy(soon()), 'fresh-1')
  t.same(changes, ['held by store: images cannot be stored: status 507 Insufficient Storage', 'released by store'])
})

t.test('store image: gives up at its deadline, and holds the worker', async (t) => {
  const { upload, holds } = await storeThat(t, [503])
  const uploading = upload()
  const endsAt = soon(500)
  t.equal(await uploading.storeBy(endsAt), undefined)
  t.ok(performance.now() < endsAt + 400, 'no retry delay exceeds the deadline')
  t.equal(uploading.fault, 'status 503 Service Unavailable')
  t.same(uploading.doubtfulKeys, ['k'], 'the store may have it all the same')
  t.ok(holds.holds().has('store'))
  const { upload: late, uploads, holds: held } = await storeThat(t, [200])
  t.equal(await late().storeBy(performance.now()), undefined)
  t.same([uploads.length, held.holds().has('store')], [0, true])
  t.same(late().doubtfulKeys, [])
})

t.test('store image: a late image is retried while the worker is held, stored, and releases it', async (t) => {
  const { upload, uploads, changes, answer } = await storeThat(t, [503])
  const uploading = upload()
  await uploading.storeBy(soon(100))
  const late = uploading.storeLate()
  const before = uploads.length
  await eventually(() => uploads.length > before + 2)
  answer([200])
  t.equal(await late, 'k')
  t.equal(changes.at(-1), 'released by store')
})

t.test('store image: once another image was stored, a late one is retried only once', async (t) => {
  for (const [status, key] of [
    [503, undefined],
    [200, 'k'],
  ] as const) {
    const { upload, uploads, holds, answer } = await storeThat(t, [503])
    const uploading = upload()
    await uploading.storeBy(soon(100))
    answer([status])
    holds.release('store')
    const before = uploads.length
    t.equal(await uploading.storeLate(), key)
    t.equal(uploads.length, before + 1)
  }
})

t.test(
  'store image: a late image does not take the image of another run at its first address for its own',
  async (t) => {
    const { upload, paths, answer } = await storeThat(t, [503])
    const uploading = upload()
    await uploading.storeBy(soon(100))
    answer([412, 200])
    t.equal(await uploading.storeLate(), 'fresh-1')
    t.same(paths().slice(-2), ['/k', '/fresh-1'])
  },
)

t.test('store image: what will not be stored any more holds no worker, whatever failed before', async (t) => {
  const closed = await storeThat(t, [503, 503, 403], () => undefined)
  t.equal(await closed.upload().storeBy(soon(5000)), undefined)
  const large = await storeThat(t, [503, 503, 413])
  await t.rejects(large.upload().storeBy(soon(5000)), { code: 'RENDER_ERROR' })
  for (const { changes } of [closed, large])
    t.match([changes[0], changes.at(-1)], [/^held by store/, 'released by store'])
})

t.test(
  'store image: an image that nobody needs any more does not release the worker that another one holds',
  async (t) => {
    const { store, holds, answer, base } = await storeThat(t, [503])
    const another = { id: 'capture', image, put: { key: 'k', url: `${base}/k` }, isExclusive: true }
    const failing = new ImageUpload(store, another)
    await failing.storeBy(soon(100))
    answer([413])
    await t.rejects(new ImageUpload(store, another).storeBy(soon()), { code: 'RENDER_ERROR' })
    t.ok(holds.holds().has('store'))
    answer([200])
    t.equal(await failing.storeLate(), 'k')
    t.notOk(holds.holds().has('store'))
  },
)

t.test('store image: drops an image whose capture is no longer open, without holding the worker', async (t) => {
  const { upload, changes } = await storeThat(t, [403], () => undefined)
  const uploading = upload()
  t.equal(await uploading.storeBy(soon(5000)), undefined)
  t.same([uploading.isClosed, uploading.fault], [true, 'the capture is no longer open'])
  t.same(changes, [])
})

t.test(
  'store image: a late image whose capture has ended is dropped, and the next capture probes the store',
  async (t) => {
    let isOpen = true
    const { upload, changes } = await storeThat(t, [403], (base) =>
      isOpen ? { key: 'later', url: `${base}/later` } : undefined,
    )
    const uploading = upload()
    t.equal(await uploading.storeBy(soon(1000)), undefined)
    isOpen = false
    t.equal(await uploading.storeLate(), undefined)
    t.equal(uploading.isClosed, true)
    // The last try before the deadline may have been cut off by it, which is another reason.
    t.same(
      [changes[0], changes.at(-1)],
      ['held by store: images cannot be stored: status 403 Forbidden', 'released by store'],
    )
  },
)

t.test('store image: drops a late image when the worker stops', async (t) => {
  const { upload, stop, holds, uploads } = await storeThat(t, [503])
  const uploading = upload()
  await uploading.storeBy(soon(100))
  const late = uploading.storeLate()
  const before = uploads.length
  await eventually(() => uploads.length > before)
  stop()
  t.equal(await late, undefined)
  t.ok(holds.holds().has('store'))
})
