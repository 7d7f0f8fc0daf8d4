import { connect, createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { newObjectKey } from '#shared/storage/objects.ts'
import { createS3Store, readS3Url } from '#shared/storage/s3-store.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { storeImage } from '#test/helpers/image-store.ts'
import { onRealServer, startS3 } from '#test/helpers/s3.ts'

const id = '0d9f6c1e-0000-4000-8000-000000000001'
/** Statuses of a rejected signature; MinIO responds with 400 if a signed header is absent. */
const rejected = [400, 403]
const newKey = () => newObjectKey(id, new Date('2026-11-20T06:00:00Z'))
const server = await startS3()
t.teardown(() => server[Symbol.asyncDispose]())
const store = createS3Store(server.url)

const read = async (key: string, range?: { first: number; last: number }) => {
  const found = await store.get(key, range)
  return found && { bytes: found.bytes, text: (await buffer(found.body)).toString() }
}

t.test('s3 store: a signed URL allows a PUT of that object only', async (t) => {
  const key = newKey()
  const address = await store.signPut(key, 60)
  const put = async (url: string, headers: Record<string, string> = { 'if-none-match': '*' }) =>
    (await fetch(url, { method: 'PUT', body: 'an image', headers })).status
  t.ok(rejected.includes(await put(address, {})), 'without If-None-Match, which prevents overwriting')
  t.equal(await put(`${address}&if-none-match=*`, {}), 403, 'If-None-Match as a parameter')
  t.equal(await put(address, { 'if-none-match': '"0"' }), 403)
  t.equal(await put(address), 200)
  t.strictSame(await read(key), { bytes: 8, text: 'an image' })
  t.equal(await put(address.replace(key, newKey())), 403, 'another key')
  t.equal(await put(address.replace(/Signature=./, (end) => (end.endsWith('0') ? 'Signature=1' : 'Signature=0'))), 403)
})

t.test(
  's3 store: a signed URL does not overwrite an existing object',
  { skip: !onRealServer && 'the small server overwrites' },
  async (t) => {
    const key = newKey()
    const url = await store.signPut(key, 60)
    const put = (text: string) =>
      storeImage({ key, url }, { bytes: Buffer.from(text), mimeType: 'image/png' }, performance.now() + 20_000)
    await put('first')
    await t.rejects(put('second'), { message: /no longer open/ })
    t.strictSame(await read(key), { bytes: 5, text: 'first' })
  },
)

t.test('s3 store: an upload whose response is lost is retried and stores one object', async (t) => {
  let answers = 0
  const { port } = new URL(server.url)
  await using losing = await listening(
    createServer((near) => {
      const far = connect(Number(port), '127.0.0.1')
      near.pipe(far).on('error', () => near.destroy())
      // The first response is lost with its connection.
      far.on('data', (bytes) => ((answers += 1) === 1 ? near.destroy() : near.write(bytes)))
      near.once('close', () => far.destroy())
    }),
  )
  const key = newKey()
  const url = await createS3Store(server.url.replace(`:${port}/`, `:${losing.port}/`)).signPut(key, 60)
  const image = { bytes: Buffer.from('an image'), mimeType: 'image/png' }
  await storeImage({ key, url }, image, performance.now() + 20_000)
  t.ok(answers > 1)
  t.strictSame(await read(key), { bytes: 8, text: 'an image' })
})

t.test('s3 store: reads whole objects and ranges, and returns undefined for a missing object', async (t) => {
  const key = newKey()
  await store.put(key, Buffer.from('0123456789'), 'image/png')
  t.strictSame(await read(key), { bytes: 10, text: '0123456789' })
  t.strictSame(await read(key, { first: 2, last: 4 }), { bytes: 3, text: '234' })
  t.strictSame(await read(key, { first: 8, last: 99 }), { bytes: 2, text: '89' })
  t.equal(await read(key, { first: 10, last: 99 }), undefined, 'beyond its end')
  t.equal(await read(newKey()), undefined)
})

t.test('s3 store: lists a prefix, and deletes existing and missing objects', async (t) => {
  const [one, two] = [newKey(), newKey()]
  await store.put(one, Buffer.from('1'), 'image/png')
  await store.put(two, Buffer.from('2'), 'image/png')
  t.ok((await Array.fromAsync(store.list('captures/2026-11-20T06/'))).includes(one))
  await store.delete([one, two, newKey()])
  t.equal(await read(one), undefined)
  t.notOk((await Array.fromAsync(store.list('captures/'))).includes(two))
})

t.test('s3 store: lists keys after a given key, and a list may be aborted', async (t) => {
  const hour = new Date('2030-01-01T00:00:00Z')
  const keys = [1, 2, 3].map(() => newObjectKey(id, hour)).toSorted()
  for (const key of keys) await store.put(key, Buffer.from('1'), 'image/png')
  t.same(await Array.fromAsync(store.list('captures/2030-01-01T00/', keys[0])), keys.slice(1))
  for await (const key of store.list('captures/')) {
    t.ok(key)
    break
  }
  await store.delete(keys)
  const away = createS3Store('http://K:S@127.0.0.1:1/images')
  await t.rejects(Array.fromAsync(away.list('captures/')), { code: 'SERVICE_UNAVAILABLE' })
})

t.test('s3 store: an unreachable store and a wrong secret are SERVICE_UNAVAILABLE', async (t) => {
  const away = createS3Store('http://K:S@127.0.0.1:1/images')
  await t.rejects(away.get(newKey()), { code: 'SERVICE_UNAVAILABLE' })
  const stranger = createS3Store(Object.assign(new URL(server.url), { password: 'wrong' }).href)
  await t.rejects(stranger.put(newKey(), Buffer.from('x'), 'image/png'), { code: 'SERVICE_UNAVAILABLE' })
})

t.test('s3 store: a store URL without key, secret or bucket is rejected with the name of the setting', async (t) => {
  const url = 'https://k:s%2F1@s3.example.com/images'
  t.match(readS3Url(url), { port: 443, keys: { secretKey: 's/1' }, region: 'us-east-1' })
  t.match(readS3Url('https://s3.example.com/images?region=RegionOne'), { region: 'RegionOne' })
  // The region is a part of the host of STS.
  for (const region of ['evil.example%2Fx%3F', 'evil.example%23', 'a%40b', 'eu.west', '']) {
    const bad = `https://s3.example.com/images?region=${region}`
    t.throws(() => createS3Store(bad), { code: 'CONFIGURATION', publicMessage: /S3_URL must have a region/ }, bad)
  }
  for (const bad of ['http://127.0.0.1/images', 'http://k:s@127.0.0.1/', 'http://k@127.0.0.1/images']) {
    t.throws(() => createS3Store(bad), { code: 'CONFIGURATION', publicMessage: /SHUTTERFLEET_S3_URL/ }, bad)
  }
})
