import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { createFilesStore } from '#shared/storage/files-store.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { createObjectsServer } from '#gateway/http/objects-endpoint.ts'
import { eventually } from '#test/helpers/eventually.ts'

const id = '22222222-2222-4222-8222-222222222222'
const image = Buffer.from('an image')

const start = async (t: Test, objectBytesMax = 1000, diskBytes = 0) => {
  const folder = await mkdtemp(join(tmpdir(), 'objects-'))
  if (diskBytes > 0) execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', folder])
  let now = new Date()
  let filesUrl = ''
  const files = createFilesStore({
    folder,
    get filesUrl() {
      return filesUrl
    },
    signingKey: Buffer.alloc(32, 1).toString('base64'),
    now: () => now,
  })
  const statuses: number[] = []
  const server = createObjectsServer({
    files,
    objectBytesMax,
    events: { uploaded: (status) => statuses.push(status), connectionRefused: () => {} },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  filesUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
    if (diskBytes > 0) execFileSync('umount', [folder])
    await rm(folder, { recursive: true, force: true })
  })
  const put = async (url: string, body: Buffer | ReadableStream = image) =>
    (await fetch(url, { method: 'PUT', body, duplex: 'half' })).status
  const storedPaths = async () =>
    (await readdir(folder, { recursive: true })).filter((path) => /[0-9a-f]{32}/.test(path))
  return { files, folder, put, storedPaths, statuses, later: (ms: number) => (now = new Date(now.getTime() + ms)) }
}

t.test('objects endpoint: stores a PUT to a signed address, once', async (t) => {
  const { files, put } = await start(t)
  const key = newObjectKey(id, new Date())
  const url = await files.signPut(key, 60)
  t.equal(await put(url), 201)
  const found = await files.get(key)
  t.same(found && (await buffer(found.body)), image)
  t.equal(await put(url, Buffer.from('another')), 412)
  const again = await files.get(key)
  t.same(again && (await buffer(again.body)), image, 'the first stays')
})

t.test('objects endpoint: rejects an address that is unsigned, for another object or expired', async (t) => {
  const { files, put, storedPaths, later } = await start(t)
  const url = await files.signPut(newObjectKey(id, new Date()), 60)
  const other = new URL(url)
  other.pathname = `/objects/${newObjectKey(id, new Date())}`
  const longer = new URL(url)
  longer.searchParams.set('expires', '99999999999')
  for (const bad of [url.split('?')[0] ?? '', other.href, longer.href, `${url.slice(0, -1)}x`])
    t.equal(await put(bad), 403, bad)
  later(61_000)
  t.equal(await put(url), 403, 'too late')
  t.same(await storedPaths(), [])
})

t.test('objects endpoint: serves PUT of objects only', async (t) => {
  const { files } = await start(t)
  const url = await files.signPut(newObjectKey(id, new Date()), 60)
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) t.equal((await fetch(url, { method })).status, 405, method)
  for (const path of ['/', '/objects', '/objectsx/y', '/v1/screenshots'])
    t.equal((await fetch(new URL(path, url), { method: 'PUT' })).status, 404, path)
  t.equal((await fetch(new URL('/objects/../../etc/passwd', url), { method: 'PUT' })).status, 404)
  t.equal((await fetch(new URL('/objects/%2e%2e%2fetc', url), { method: 'PUT' })).status, 403)
})

t.test('objects endpoint: a too large upload leaves no file, with or without Content-Length', async (t) => {
  const { files, put, storedPaths } = await start(t, 1000)
  const url = await files.signPut(newObjectKey(id, new Date()), 60)
  t.equal(await put(url, Buffer.alloc(1001)), 413)
  const chunks = new ReadableStream({
    pull: (controller) => {
      controller.enqueue(Buffer.alloc(600))
    },
  })
  await put(url, chunks).catch(() => 413)
  await eventually(async () => (await storedPaths()).length === 0)
  t.equal(await put(url, Buffer.alloc(1000)), 201)
})

t.test('objects endpoint: an aborted upload leaves no file', async (t) => {
  const { files, put, storedPaths, statuses } = await start(t)
  const url = await files.signPut(newObjectKey(id, new Date()), 60)
  const upload = request(url, { method: 'PUT', headers: { 'content-length': '100' } })
  upload.on('error', () => {})
  upload.write('half')
  await eventually(async () => (await storedPaths()).some((path) => path.endsWith('.part')))
  upload.destroy()
  await eventually(async () => statuses.length > 0 && (await storedPaths()).length === 0)
  t.same(statuses, [400])
  t.equal(await put(url), 201)
})

const notRoot = process.getuid?.() !== 0 && 'mounts need root'
const mebibyte = 1024 * 1024

t.test('objects endpoint: an upload to a full disk is 507 and leaves no file', { skip: notRoot }, async (t) => {
  const { files, folder, put, storedPaths, statuses } = await start(t, 4 * mebibyte, 2 * mebibyte)
  const url = await files.signPut(newObjectKey(id, new Date()), 60)
  t.equal(await put(url.replace(/.$/, 'x')), 403)
  await writeFile(join(folder, 'other'), Buffer.alloc(1.9 * mebibyte))
  t.equal(await put(url, Buffer.alloc(mebibyte / 4)), 507)
  // The connection breaks while the client still sends.
  await put(url, Buffer.alloc(3 * mebibyte)).catch(() => {})
  await eventually(() => statuses.length === 3)
  t.same(statuses, [403, 507, 507])
  t.same(await storedPaths(), [])
  await rm(join(folder, 'other'))
  t.equal(await put(url), 201)
})

t.test('objects endpoint: an upload that cannot be written for another reason is 503', async (t) => {
  const { files, folder, put } = await start(t)
  await writeFile(join(folder, 'uploads'), 'not a folder')
  t.equal(await put(await files.signPut(newObjectKey(id, new Date()), 60)), 503)
})
