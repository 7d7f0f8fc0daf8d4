import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { openDatabase } from '#shared/db/connection.ts'
import { isCaptureObjectKey } from '#shared/storage/objects.ts'
import { createS3Store } from '#shared/storage/s3-store.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startMinio } from '#test/helpers/minio.ts'
import { workerTargets } from '#test/helpers/monitored-system.ts'
import { onMinio, startS3 } from '#test/helpers/s3.ts'
import { startSystem, type System, type TestRecord } from '#test/helpers/system.ts'

// Captures of a whole system that stores images in a bucket; `make test-s3` runs them on MinIO.

const endMs = 60_000
const start = (url: string, env: Readonly<Record<string, string>> = {}) =>
  startSystem(['--workers-max', '1'], { env: { ...env, SHUTTERFLEET_S3_URL: url } })

const server = await startS3()
const objects = createS3Store(server.url)
const system = await start(server.url)
const database = openDatabase({ url: (await system.readLocal()).database_url, poolMax: 1 })
t.teardown(async () => {
  await database[Symbol.asyncDispose]()
  await system.stop()
  await server[Symbol.asyncDispose]()
})

let pages = 0
/** A page with a unique image. */
const newPage = () => ({ html: `<h1>Page ${(pages += 1)}</h1>` })
/** Random pixels, so that the image takes megabytes. */
const noise = `<canvas width=2400 height=1600></canvas><script>const c = document.querySelector('canvas').getContext('2d')
  const i = c.createImageData(2400, 1600); i.data.forEach((_, n) => { i.data[n] = n % 4 === 3 ? 255 : Math.random() * 256 })
  c.putImageData(i, 0, 0)</script>`

const ended = async (target: System, id: string): Promise<TestRecord> => {
  let record: TestRecord | undefined
  const isOver = async () => {
    record = await target.record(id)
    return ['completed', 'failed'].includes(record.status)
  }
  await eventually(isOver, { withinMs: endMs })
  return record!
}

const complete = async (target: System, parameters: Record<string, unknown> = newPage()): Promise<string> => {
  const id = await target.create(parameters)
  const { status, error } = await ended(target, id)
  if (status !== 'completed') throw new Error(JSON.stringify(error))
  return id
}

const keysOf = async (id: string, store = objects): Promise<string[]> =>
  (await Array.fromAsync(store.list('captures/'))).filter((key) => isCaptureObjectKey(id, key))

const requestImage = (target: System, id: string, range?: string) =>
  target.request(`/v1/screenshots/${id}/image`, { headers: range === undefined ? {} : { range } })

const workerMetrics = async (target: System): Promise<string> => {
  const [host] = await workerTargets(target)
  return host === undefined ? '' : (await fetch(`http://${host}/metrics`)).text()
}

/** Waits until the start of a capture is recorded. */
const untilProcessing = (target: System, id: string) =>
  eventually(async () => (await target.record(id)).status === 'processing', { withinMs: endMs, what: 'processing' })

/** Creates a capture and waits until its worker is held because of the store. */
const createHeld = async (target: System): Promise<string> => {
  const id = await target.create({ ...newPage(), timeout: 5 })
  const isHeld = async () => /^shutterfleet_worker_held\{.*cause="store".*\} 1$/m.test(await workerMetrics(target))
  await eventually(isHeld, { withinMs: endMs, what: 'held by the store' })
  await untilProcessing(target, id)
  return id
}

const assertUnavailable = async (t: Test, target: System, id: string) => {
  const answer = await requestImage(target, id)
  t.match([answer.status, await answer.json()], [503, { error: { code: 'SERVICE_UNAVAILABLE' } }])
}

t.test('s3 captures: a download, a range and a signed link return the bytes of the bucket', async (t) => {
  for (const page of [newPage(), { html: noise, full_page: true }]) {
    const id = await complete(system, page)
    const [key = '', ...others] = await keysOf(id)
    t.same(others, [])
    const found = await objects.get(key)
    const stored = await buffer(found!.body)
    const whole = await requestImage(system, id)
    t.same([whole.status, whole.headers.get('content-type')], [200, 'image/png'])
    t.ok(stored.equals(await whole.bytes()), `${stored.length} bytes`)
    const part = await requestImage(system, id, 'bytes=100-1099')
    t.same([part.status, Buffer.from(await part.bytes())], [206, stored.subarray(100, 1100)])
    const signed = await system.post(`/v1/screenshots/${id}/signed-url`, {})
    const { data } = (await signed.json()) as { data: { url: string } }
    t.ok(stored.equals(await (await fetch(data.url)).bytes()))
  }
  const waited = await system.post('/v1/screenshots/capture', newPage())
  t.same([waited.status, waited.headers.get('content-type')], [200, 'image/png'])
})

t.test('s3 captures: objects are deleted with their captures and after their retention time', async (t) => {
  const [deleted, expired, remaining] = [await complete(system), await complete(system), await complete(system)]
  t.equal((await system.request(`/v1/screenshots/${deleted}`, { method: 'DELETE' })).status, 204)
  await database.query('update capture set expires_at = now() where id = $1', [expired])
  await database.query('update stored_object set expires_at = now() where capture_id = $1', [expired])
  await eventually(async () => (await keysOf(deleted)).length + (await keysOf(expired)).length === 0)
  t.equal((await requestImage(system, deleted)).status, 404)
  t.equal((await requestImage(system, expired)).status, 410)
  t.equal((await requestImage(system, remaining)).status, 200)
})

t.test('s3 captures: uploads and deletions are retried while the store is down', async (t) => {
  const [shown, deleted] = [await complete(system), await complete(system)]
  await server.stop()
  let attempts = 0
  const away = createServer((socket) => {
    attempts += 1
    socket.destroy()
  }).listen(Number(new URL(server.url).port), '127.0.0.1')
  await once(away, 'listening')
  t.equal((await system.request(`/v1/screenshots/${deleted}`, { method: 'DELETE' })).status, 204)
  await assertUnavailable(t, system, shown)
  const before = attempts
  const waits = await system.create(newPage())
  await eventually(() => attempts > before + 3, { what: 'three more upload attempts' })
  await untilProcessing(system, waits)
  away.close()
  await once(away, 'close')
  await server.start()
  t.equal((await ended(system, waits)).status, 'completed')
  t.equal((await keysOf(waits)).length, 1)
  t.equal((await requestImage(system, shown)).status, 200)
  // The next attempt would be due when the claim of the failed one has expired.
  await database.query('update deletion set due_at = now()')
  await eventually(async () => (await keysOf(deleted)).length === 0)
})

t.test('s3 captures: with credentials that the store rejects captures wait and images are unavailable', async (t) => {
  const shown = await complete(system)
  await server.stop()
  await server.start('another-secret')
  const waits = await createHeld(system)
  await assertUnavailable(t, system, shown)
  await server.stop()
  await server.start()
  t.equal((await requestImage(system, shown)).status, 200)
  t.equal((await ended(system, waits)).status, 'completed')
})

t.test('s3 captures: a system whose credentials the store rejects starts, and reports its first capture', async (t) => {
  const { href } = Object.assign(new URL(server.url), { password: 'wrong-secret' })
  await using rejected = await start(href, { SHUTTERFLEET_SYNC_QUEUE_MS: '0' })
  t.match(rejected.firstCapture?.error, /did not end in time.*`doctor`/)
})

const notHere = (!onMinio && 'the small server has no disk') || (process.getuid?.() !== 0 && 'mounts need root')

t.test('s3 captures: a full store lets captures wait until it has room', { skip: notHere }, async (t) => {
  await using store = await startMinio({ diskBytes: 64 * 1024 * 1024 })
  await using full = await start(store.url)
  const bucket = createS3Store(store.url)
  const [shown, deleted] = [await complete(full), await complete(full)]
  await t.rejects(writeFile(store.otherFile(), Buffer.alloc(64 * 1024 * 1024)), { code: 'ENOSPC' })
  const waits = await createHeld(full)
  t.equal((await requestImage(full, shown)).status, 200)
  t.equal((await full.request(`/v1/screenshots/${deleted}`, { method: 'DELETE' })).status, 204)
  await eventually(async () => (await keysOf(deleted, bucket)).length === 0)
  await rm(store.otherFile())
  t.equal((await ended(full, waits)).status, 'completed')
})
