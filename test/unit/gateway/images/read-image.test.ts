import { createHash } from 'node:crypto'
import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import type { CapturedFile } from '#shared/capture/files.ts'
import type { ByteRange } from '#shared/storage/object-store.ts'
import {
  createBufferedBytes,
  imageHeaders,
  openStored,
  storedFile,
  storedImage,
  type StoredImage,
} from '#gateway/images/read-image.ts'
import { createApp } from '#gateway/app.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { completedCapture, createTestContext, testKey } from '#test/helpers/gateway-context.ts'

const mebibyte = 1024 * 1024
const image = Buffer.alloc(7 * mebibyte, 7)
const capture = {
  ...completedCapture,
  fileSize: image.length,
  sha256: createHash('sha256').update(image).digest('hex'),
}

/** A gateway that may buffer two of the images. */
const start = async (t: Test) => {
  const bufferedImages = createBufferedBytes(15 * mebibyte)
  const context = { ...createTestContext(), bufferedImages }
  context.answers.find = () => capture
  context.answers.object = () => image
  const app = createApp(context)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const headers = { authorization: `Bearer ${testKey}` }
  /** Resolves once the head has arrived; the image is left unread. */
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get(`${url}/v1/screenshots/${capture.id}/image`, { headers, agent: false }, resolve).on('error', reject)
    })
  return { bufferedImages, ask }
}

t.test(
  'read image: buffers no more than the bound for clients that do not read, and serves all of them in full',
  async (t) => {
    const { bufferedImages, ask } = await start(t)
    const answers: IncomingMessage[] = []
    for (let many = 0; many < 5; many += 1) answers.push(await ask())
    t.equal(bufferedImages.count(), 2 * image.length)
    for (const answer of answers) t.ok((await buffer(answer)).equals(image))
    await eventually(() => bufferedImages.count() === 0)
  },
)

t.test('read image: the bound on buffered bytes also holds for simultaneous requests', async (t) => {
  const { bufferedImages, ask } = await start(t)
  const answers = await Promise.all(Array.from({ length: 5 }, ask))
  t.equal(bufferedImages.count(), 2 * image.length)
  for (const answer of answers) answer.destroy()
  await eventually(() => bufferedImages.count() === 0, { what: 'the bytes of disconnected clients are released' })
})

t.test('read image: is saved under the requested name, with the extension of its format', async (t) => {
  const named = (filename?: string) =>
    imageHeaders({ ...completedCapture, options: filename === undefined ? {} : { filename } })['content-disposition']
  t.equal(named(), `inline; filename="${completedCapture.id}.png"`)
  t.equal(named('invoice 42'), 'inline; filename="invoice 42.png"')
  t.equal(named('Home.PNG'), 'inline; filename="Home.PNG"')
  t.equal(named("Größe (1)'"), `inline; filename="Gr__e (1)'.png"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%281%29%27.png`)
})

t.test('read image: an image and the files behind it are read by their ranges of the same object', async (t) => {
  const digest = 'a'.repeat(64)
  const files: CapturedFile[] = [
    { name: 'html', bytes: 10, sha256: digest },
    { name: 'rendition-1', bytes: 20, sha256: digest, format: 'webp', width: 1, height: 1 },
  ]
  const ranges: (ByteRange | undefined)[] = []
  const objects = { get: async (_key: string, range?: ByteRange) => void ranges.push(range) }
  const rangeOf = async (stored: StoredImage | undefined, range?: ByteRange) => {
    if (stored) await openStored({ objects }, stored, range)
    return ranges.pop()
  }
  const alone = storedImage({ ...completedCapture, fileSize: 100 }, new Date())
  t.equal(await rangeOf(alone), undefined, 'the whole object')
  t.strictSame(await rangeOf(alone, { first: 0, last: 9 }), { first: 0, last: 9 })
  const first = storedImage({ ...completedCapture, fileSize: 100, files }, new Date())
  t.strictSame(await rangeOf(first), { first: 0, last: 99 })
  const findFile = (name: string) => first && storedFile(first, files, name)?.stored
  t.strictSame(await rangeOf(findFile('html')), { first: 100, last: 109 })
  t.strictSame(await rangeOf(findFile('rendition-1')), { first: 110, last: 129 })
  t.strictSame(await rangeOf(findFile('rendition-1'), { first: 5, last: 6 }), { first: 115, last: 116 })
  t.equal(findFile('text'), undefined)
})
