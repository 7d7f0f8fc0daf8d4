import { createHash } from 'node:crypto'
import sharp from 'sharp'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { startSystem } from '#test/helpers/system.ts'

const pages = await startPages()
const system = await startSystem(['--workers-max', '1', '--allow-target', pages.host])
t.teardown(async () => {
  await system.stop()
  await pages[Symbol.asyncDispose]()
})

type File = {
  readonly name?: string
  readonly url: string
  readonly mime_type: string
  readonly file_size: number
  readonly width?: number
  readonly height?: number
}
type Recorded = {
  readonly id: string
  readonly status: string
  readonly file_size: number
  readonly image_url: string
  readonly outputs?: readonly File[]
  readonly renditions?: readonly File[]
}

const request = {
  url: `${pages.url}/plain`,
  outputs: ['text', 'html'],
  renditions: [{ format: 'webp', resize_width: 320 }, { format: 'jpeg' }],
}

const ended = async (id: string): Promise<Recorded> => {
  await eventually(async () => /completed|failed/.test((await system.record(id)).status), { withinMs: 60_000 })
  return ((await (await system.request(`/v1/screenshots/${id}`)).json()) as { data: Recorded }).data
}
const download = async (url: string, headers = {}) => {
  const response = await system.request(new URL(url).pathname, { headers })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}
const sha256Hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

t.test('capture files: the record lists what was requested, each with an address of its own', async (t) => {
  const record = await ended(await system.create(request))
  t.match(record, {
    status: 'completed',
    outputs: [
      { name: 'text', mime_type: 'text/plain; charset=utf-8' },
      { name: 'html', mime_type: 'text/html; charset=utf-8' },
    ],
    renditions: [
      { mime_type: 'image/webp', width: 320, height: 200 },
      { mime_type: 'image/jpeg', width: 1280, height: 800 },
    ],
  })
  const { outputs = [], renditions = [] } = record
  for (const file of [...outputs, ...renditions]) {
    const { response, bytes } = await download(file.url)
    t.equal(response.status, 200)
    t.equal(response.headers.get('content-type'), file.mime_type)
    t.equal(response.headers.get('etag'), `"${sha256Hex(bytes)}"`)
    t.match(
      response.headers.get('content-disposition'),
      new RegExp(`^attachment; filename="${record.id}-[a-z0-9-]+\\.[a-z]+"$`),
    )
    t.match(response.headers.get('content-security-policy'), /sandbox/)
    t.equal(bytes.length, file.file_size)
    if (file.width !== undefined) t.match(await sharp(bytes).metadata(), { width: file.width, height: file.height })
  }
  t.match(String((await download(outputs[0]!.url)).bytes), /^Plain/)
  const { response: image, bytes } = await download(record.image_url)
  t.equal(image.headers.get('content-type'), 'image/png')
  t.equal(bytes.length, record.file_size, 'the image alone')
  t.match(await sharp(bytes).metadata(), { width: 1280, height: 800, format: 'png' })
  const last = await system.request(`/v1/screenshots/${record.id}/image`, { headers: { range: 'bytes=-20' } })
  t.strictSame(Buffer.from(await last.arrayBuffer()), bytes.subarray(-20), 'a range is one of the image')
})

t.test(
  'capture files: a copy that is current is not sent again, and names that were not requested are unknown',
  async (t) => {
    const { id, outputs = [] } = await ended(await system.create(request))
    const { response } = await download(outputs[0]!.url)
    const etag = response.headers.get('etag') ?? ''
    t.equal((await download(outputs[0]!.url, { 'if-none-match': etag })).response.status, 304)
    for (const name of ['mhtml', 'rendition-3', 'image', '..%2fimage']) {
      t.equal((await system.request(`/v1/screenshots/${id}/files/${name}`)).status, 404, name)
    }
  },
)

t.test('capture files: a capture that waits for its end returns the image alone', async (t) => {
  const response = await system.post('/v1/screenshots/capture', request)
  const bytes = Buffer.from(await response.arrayBuffer())
  const record = await ended(response.headers.get('x-screenshot-id') ?? '')
  t.equal(bytes.length, record.file_size)
  t.equal(response.headers.get('etag'), `"${sha256Hex(bytes)}"`)
})

t.test('capture files: a shared result has the same files, until the last of its captures is deleted', async (t) => {
  const cached = { ...request, cache_ttl: 600 }
  const first = await ended(await system.create(cached))
  const second = await ended(await system.create(cached))
  t.match(second, { cached: true })
  const contents = await Promise.all(
    [first, second].map(async ({ outputs = [] }) => (await download(outputs[1]!.url)).bytes),
  )
  t.strictSame(contents[0], contents[1])
  t.equal((await system.request(`/v1/screenshots/${first.id}`, { method: 'DELETE' })).status, 204)
  t.equal((await download(first.outputs![1]!.url)).response.status, 404)
  t.equal((await download(second.outputs![1]!.url)).response.status, 200)
})
