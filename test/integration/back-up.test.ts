import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { startS3 } from '#test/helpers/s3.ts'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem, type System } from '#test/helpers/system.ts'

// Runs the scripts of docs/examples/operations and the steps of docs/operations.md on a whole system with a bucket.

const root = resolve(import.meta.dirname, '../..')
const { NODE_OPTIONS: _loader, TAP: _tap, ...env } = process.env
const run = async (file: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  (await promisify(execFile)(file, args, { cwd: root, env: { ...env, ...more } })).stdout
const script = (name: string) => join(root, `docs/examples/operations/${name}.sh`)

const folder = await mkdtemp(join(tmpdir(), 'back-up-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const [data, backup] = [join(folder, 'data'), join(folder, 'backup')]
const postgres = await startPostgres(t)
const site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
t.teardown(() => site[Symbol.asyncDispose]())
const page = `http://${site.host}/index.html`

const emptyDatabase = async (name: string) => {
  await run('psql', ['--quiet', '--command', `create database ${name}`, postgres.url])
  return Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
}
const start = (databaseUrl: string, s3Url: string) =>
  startSystem(['--allow-target', '127.0.0.0/8', '--workers-max', '1'], {
    dataDir: data,
    env: { SHUTTERFLEET_DATABASE_URL: databaseUrl, SHUTTERFLEET_S3_URL: s3Url },
  })
const imageDigest = async (system: System, id: string) => {
  const response = await system.request(`/v1/screenshots/${id}/image`)
  return {
    status: response.status,
    sha256: createHash('sha256')
      .update(await response.bytes())
      .digest('hex'),
  }
}
/** Returns an `@FILE` argument for the address of a bucket, so that process lists do not show its password. */
const hidden = async (address: string) => {
  const file = join(folder, new URL(address).port)
  await writeFile(file, address)
  return `@${file}`
}
type Listed = { readonly id: string; readonly created_at: string; readonly file_size: number }

/** Captures without their addresses, because those contain the port of each start. */
const listOf = async (system: Pick<System, 'request'>) => {
  const list = (await (await system.request('/v1/screenshots')).json()) as { data: readonly Listed[] }
  return list.data.map(({ id, created_at, file_size }) => ({ id, created_at, file_size }))
}
const capture = async (system: System) => {
  const id = await system.create({ url: page })
  await eventually(async () => (await system.record(id)).status === 'completed', { withinMs: 30_000 })
  return id
}

t.test('back-up: after backup, wipe and restore, the same key reads the same captures and images', async (t) => {
  const first = await emptyDatabase('before')
  const store = await startS3()
  const system = await start(first, store.url)
  const { api_key: key } = await system.readLocal()
  const id = await capture(system)
  const [image, list] = [await imageDigest(system, id), await listOf(system)]
  t.equal(image.status, 200)
  const places = { DATABASE_URL: first, OBJECTS: await hidden(store.url) }
  t.match(
    await run(script('back-up'), [backup], places),
    /copied 2 objects/,
    'including the object of the self-test of `up`',
  )
  t.match(await run(script('back-up'), [backup], places), /copied 0 objects, 0 bytes; skipped 2 that already exist/)
  await system.stop()

  // Wipe all but the keys, which are backed up separately.
  await store[Symbol.asyncDispose]()
  await run('psql', ['--quiet', '--command', 'drop database before', postgres.url])
  for (const name of await readdir(data)) {
    if (name !== 'secrets.json') await rm(join(data, name), { recursive: true })
  }

  await using other = await startS3()
  const second = await emptyDatabase('after')
  const restored = { DATABASE_URL: second, OBJECTS: await hidden(other.url) }
  t.match(await run(script('restore'), [backup], restored), /copied 2 objects/)
  const again = await start(second, other.url)
  t.teardown(() => again.stop())
  const before = {
    ...again,
    request: (path: string) => fetch(again.baseUrl + path, { headers: { authorization: `Bearer ${key}` } }),
  }
  t.strictSame(
    await imageDigest(before, id),
    image,
    'the key from before the wipe reads the image from before the wipe',
  )
  t.strictSame(await listOf(before), list)
  t.ok(await capture(again), 'new captures work')
  await again.stop()
})

t.test('back-up: a password that process lists would show is refused, and not printed', async (t) => {
  const [database, objects] = ['postgres://user@127.0.0.1:1/shots', '@bucket']
  for (const places of [
    { DATABASE_URL: 'postgres://user:a-secret-word@127.0.0.1:1/shots', OBJECTS: objects },
    { DATABASE_URL: `${database}?sslmode=disable&password=a-secret-word`, OBJECTS: objects },
    { DATABASE_URL: database, OBJECTS: 'http://key:a-secret-word@127.0.0.1:1/bucket' },
  ]) {
    for (const name of ['back-up', 'restore']) {
      const { code, stderr } = await run(script(name), [backup], places).then(
        () => ({ code: 0, stderr: '' }),
        (thrown: { readonly code: number; readonly stderr: string }) => thrown,
      )
      t.match({ code, stderr }, { code: 2, stderr: /PGPASSFILE.*@FILE/ }, name)
      t.notMatch(stderr, /a-secret-word/)
    }
  }
})

t.test('back-up: images move to another bucket while the service runs, the rest once it has stopped', async (t) => {
  await using old = await startS3()
  await using bucket = await startS3()
  const database = await emptyDatabase('moved')
  const system = await start(database, old.url)
  const early = await capture(system)
  const copy = () => run('bin/shutterfleet', ['objects', 'copy', '--from', old.url, '--to', bucket.url])
  t.match(await copy(), /copied 2 objects/)
  const late = await capture(system)
  const images = [await imageDigest(system, early), await imageDigest(system, late)]
  await system.stop()
  t.match(await copy(), /copied 1 objects, \d+ bytes; skipped 2 that already exist/)
  const moved = await start(database, bucket.url)
  t.teardown(() => moved.stop())
  t.strictSame([await imageDigest(moved, early), await imageDigest(moved, late)], images)
  await moved.stop()
})
