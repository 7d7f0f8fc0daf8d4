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

t.test('store image: a new address is requested on the subject of the capture, and may be refused', async (t) => {
  const id = '00000000-0000-4000-8000-000000000000'
  const put = { key: 'k', url: 'http://store/k' }
  const asked: unknown[] = []
  const queue = (data: Uint8Array) => ({
    request: async (subject: string, _data: Uint8Array, timeoutMs: number) => {
      asked.push([subject, timeoutMs])
      const header = () => undefined
      return { subject, data, reply: undefined, traceparent: undefined, statusCode: 0, header }
    },
  })
  t.same(await requestAddress(queue(signedCodec.encode({ put })), { pool: 'stealth', id }), put)
  t.equal(await requestAddress(queue(signedCodec.encode({})), { pool: 'stealth', id }), undefined)
  t.same(asked[0], [`sign.stealth.${id}`, 2000])
})

const image = { bytes: Buffer.from('picture'), mimeType: 'image/png' }

/** A store that answers PUTs with these statuses, then with the last one. */
const storeThat = async (t: Test, answers: readonly number[], sign?: (url: string) => Put | undefined) => {
  const seen: { path: string; type: string | undefined; once: string | undefined; body: string }[] = []
  let statuses = answers
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const path = request.url ?? ''
    seen.push({ path, type: request.headers['content-type'], once: request.headers['if-none-match'], body })
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
  const paths = () => seen.map(({ path }) => path)
  return { ...made, seen, paths, upload, answer: (next: readonly number[]) => (statuses = next) }
}

const soon = (withinMs = 20_000) => performance.now() + withinMs

t.test('store image: uploads the bytes once, with their media type', async (t) => {
  const { seen, upload, changes } = await storeThat(t, [200])
  t.equal(await upload().storeBy(soon()), 'k')
  t.strictSame(seen, [{ path: '/k', type: 'image/png', once: '*', body: 'picture' }])
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

t.test('store image: waits between tries double from 0.2 to 2 s', (t) => {
  t.same([1, 2, 3, 4, 5, 2000].map(retryDelayMs), [200, 400, 800, 1600, 2000, 2000])
  t.end()
})

t.test('store image: a refused or used address is replaced by a new one', async (t) => {
  for (const status of [403, 400, 404, 412, 301]) {
    const { paths, upload, changes } = await storeThat(t, [status, 201])
    t.equal(await upload().storeBy(soon()), 'fresh-1')
    t.same(paths(), ['/k', '/fresh-1'])
    t.same(changes, [])
  }
})

t.test(
  'store image: 412 of a new address is no success either, unless an upload to it may have succeeded',
  async (t) => {
    const { paths, upload } = await storeThat(t, [503, 403, 412, 503, 412])
    t.equal(await upload().storeBy(soon()), 'fresh-2')
    t.same(paths(), ['/k', '/k', '/fresh-1', '/fresh-2', '/fresh-2'])
  },
)

t.test(
  'store image: 412 of an address that another run was given means nothing; the image gets a new one',
  async (t) => {
    const { paths, upload } = await storeThat(t, [503, 412, 201])
    t.equal(await upload(false).storeBy(soon()), 'fresh-1')
    t.same(paths(), ['/k', '/k', '/fresh-1'])
  },
)

t.test('store image: without an address one is requested before the first upload', async (t) => {
  const { paths, store } = await storeThat(t, [200])
  t.equal(
    await new ImageUpload(store, { id: 'capture', image, put: undefined, isExclusive: true }).storeBy(soon()),
    'fresh-1',
  )
  t.same(paths(), ['/fresh-1'])
})

t.test('store image: an address that cannot be signed is requested again', async (t) => {
  let asked = 0
  const { paths, upload } = await storeThat(t, [403, 200], (base) => {
    asked += 1
    if (asked === 1) throw new AppError('SERVICE_UNAVAILABLE', { message: 'no gateway' })
    return { key: 'later', url: `${base}/later` }
  })
  t.equal(await upload().storeBy(soon()), 'later')
  t.same(paths(), ['/k', '/later'])
})

t.test('store image: only 413 is the fault of the capture', async (t) => {
  const { seen, upload, changes } = await storeThat(t, [413])
  await t.rejects(upload().storeBy(soon()), { code: 'RENDER_ERROR', publicMessage: /larger than the service stores/ })
  t.equal(seen.length, 1)
  t.same(changes, [])
})

t.test('store image: the second failed try holds the worker, the first stored image releases it', async (t) => {
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
  t.ok(holds.holds().has('store'))
  const { upload: late, seen, holds: held } = await storeThat(t, [200])
  t.equal(await late().storeBy(performance.now()), undefined)
  t.same([seen.length, held.holds().has('store')], [0, true])
})

t.test('store image: a late image is retried while the worker is held, stored, and releases it', async (t) => {
  const { upload, seen, changes, answer } = await storeThat(t, [503])
  const uploading = upload()
  await uploading.storeBy(soon(100))
  const late = uploading.storeLate()
  const before = seen.length
  await eventually(() => seen.length > before + 2)
  answer([200])
  t.equal(await late, 'k')
  t.equal(changes.at(-1), 'released by store')
})

t.test('store image: once another image was stored, a late one is tried only once more', async (t) => {
  for (const [status, key] of [
    [503, undefined],
    [200, 'k'],
  ] as const) {
    const { upload, seen, holds, answer } = await storeThat(t, [503])
    const uploading = upload()
    await uploading.storeBy(soon(100))
    answer([status])
    holds.release('store')
    const before = seen.length
    t.equal(await uploading.storeLate(), key)
    t.equal(seen.length, before + 1)
  }
})

t.test('store image: an image whose capture is no longer open is given up, and holds nobody', async (t) => {
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
    t.same(changes, ['held by store: images cannot be stored: status 403 Forbidden', 'released by store'])
  },
)

t.test('store image: a late image ends with the worker', async (t) => {
  const { upload, stop, holds, seen } = await storeThat(t, [503])
  const uploading = upload()
  await uploading.storeBy(soon(100))
  const late = uploading.storeLate()
  const before = seen.length
  await eventually(() => seen.length > before)
  stop()
  t.equal(await late, undefined)
  t.ok(holds.holds().has('store'))
})
