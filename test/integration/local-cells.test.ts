import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { openDatabase } from '#shared/db/connection.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { type LocalJson, startSystem } from '#test/helpers/system.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'shutterfleet-cells-'))
t.teardown(() => rm(dataDir, { recursive: true, force: true }))
// As a single installation leaves it, which had the port that now is the router's.
const port = await freePort()
await writeFile(join(dataDir, 'ports.json'), JSON.stringify({ gateway: port }))
const system = await startSystem(['--databases', '2', '--workers-max', '2', '--port', String(port)], { dataDir })
t.teardown(() => system.stop())
const { baseUrl, cells = [] } = system

const localOf = async (folder: string) =>
  JSON.parse(await readFile(join(folder, 'local.json'), 'utf8')) as LocalJson & { readonly public_url: string }
const capture = (key: string) =>
  fetch(`${baseUrl}/v1/screenshots/capture`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ html: '<h1>Hello</h1>' }),
  })
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const statusOf = async (key: string) =>
  (await fetch(`${baseUrl}/v1/account`, { headers: { authorization: `Bearer ${key}` } })).status

t.test('cells: accounts of two databases capture at one address', async (t) => {
  t.same(
    cells.map(({ name }) => name),
    ['one', 'two'],
  )
  t.equal(baseUrl, `http://127.0.0.1:${port}`)
  t.equal(cells[0]?.data_dir, dataDir, 'the first cell has the folder of a single installation')
  for (const { api_key: key, data_dir: folder } of cells) {
    const answer = await capture(key)
    t.match([answer.status, answer.headers.get('content-type')], [200, 'image/png'])
    t.equal((await localOf(folder)).public_url, baseUrl)
  }
})

t.test('cells: both record the same keys, by which a move to one without them would be refused', async (t) => {
  const [one, two] = await Promise.all(
    cells.map(async ({ data_dir: folder }) => {
      await using database = openDatabase({ url: (await localOf(folder)).database_url, poolMax: 1 })
      return await database.query<{ setting: string }>('select * from key_fingerprint order by 1, 2')
    }),
  )
  t.same(
    one?.map(({ setting }) => setting),
    ['LINK_SIGNING_KEYS', 'RECORD_KEYS', 'WEBHOOK_OPENING_KEYS'],
  )
  t.same(two, one)
})

t.test('cells: while the database of one is killed, accounts of the other notice nothing', async (t) => {
  const [one, two] = cells
  if (!one || !two) return t.fail('two cells')
  const stores = (await localOf(two.data_dir)).services.find(({ name }) => name === 'postgres')
  const failures: number[] = []
  const done = new AbortController()
  const others = async () => {
    while (!done.signal.aborted) {
      const status = await statusOf(one.api_key)
      if (status !== 200) failures.push(status)
    }
  }
  const running = others()
  process.kill(stores?.pid ?? 0, 'SIGKILL')
  await eventually(async () => (await statusOf(two.api_key)) === 503)
  await eventually(async () => (await capture(two.api_key)).status === 200, { withinMs: 60_000 })
  t.equal((await capture(one.api_key)).status, 200)
  done.abort()
  await running
  t.same(failures, [])
})

const command = async <T>(...args: readonly string[]) =>
  JSON.parse((await promisify(execFile)(commandLine, [...args, '--json'])).stdout) as T

/** Captures one after the other until `stop`; returns the image of each that was accepted by its id, and the refusals. */
const captureUntil = async (key: string, stop: AbortSignal) => {
  const images = new Map<string, string>()
  const refusals: string[] = []
  while (!stop.aborted) {
    const answer = await capture(key)
    const id = answer.headers.get('x-screenshot-id') ?? ''
    if (answer.status === 200) images.set(id, hashOf(await answer.bytes()))
    else refusals.push(((await answer.json()) as { error: { message: string } }).error.message)
  }
  return { images, refusals }
}

t.test(
  'cells: an account that moves to another one keeps what it has, and its captures are held up for a moment',
  async (t) => {
    const [one, two] = cells
    if (!one || !two) return t.fail('two cells')
    const [from, to] = [
      ['--data', one.data_dir],
      ['--data', two.data_dir],
    ] as const
    const fields = ['--name', 'Mover', '--email', 'mover@example.com', '--plan', 'unlimited']
    const { id } = await command<{ id: string }>('account', 'create', ...fields, ...from)
    const { key } = await command<{ key: string }>('key', 'create', '--account', id, ...from)
    const headers = { authorization: `Bearer ${key}` }
    const done = new AbortController()
    const running = [1, 2].map(() => captureUntil(key, done.signal))
    const reads: number[] = []
    const reading = (async () => {
      while (!done.signal.aborted) reads.push(await statusOf(key))
    })()
    await eventually(async () => (await fetch(`${baseUrl}/v1/screenshots`, { headers })).status === 200)

    const move = ['account', 'move', id, '--to', two.data_dir, ...from]
    const killed = spawn(commandLine, move, { stdio: ['ignore', 'ignore', 'pipe'] })
    await once(killed.stderr, 'data')
    killed.kill('SIGKILL')
    t.match(await command('account', 'show', id, ...from), { moving_at: /^20/ }, 'held up, and to be repeated')
    const moved = await command<{ rows: number; images: number }>(...move)
    t.ok(moved.rows > 0 && moved.images > 0, JSON.stringify(moved))
    // The router has taken the last refusal for one of a busy cell, and asks again within a second.
    await eventually(async () => (await capture(key)).status === 200, { what: 'the next capture is accepted' })
    done.abort()
    const results = await Promise.all(running)
    await reading
    t.same(
      new Set(results.flatMap(({ refusals }) => refusals)),
      new Set(['The account is being moved to another database; retry.']),
    )
    t.same(new Set(reads), new Set([200]), 'nothing that only reads was')

    for (const [image, hash] of results.flatMap(({ images }) => [...images])) {
      const answer = await fetch(`${baseUrl}/v1/screenshots/${image}/image`, { headers })
      t.equal(hashOf(await answer.bytes()), hash, `image of ${image}`)
    }
    const { data: usage } = (await (await fetch(`${baseUrl}/v1/account/usage`, { headers })).json()) as { data: object }
    const captured = results.reduce((sum, { images }) => sum + images.size, 1)
    t.match(usage, { screenshots_used: captured })
    t.match(await command('account', 'show', id, ...to), { id, moving_at: null, disabled_at: null })
    await eventually(
      () =>
        command('account', 'show', id, ...from).then(
          () => false,
          () => true,
        ),
      { withinMs: 60_000 },
    )
    const [firstImage = ''] = results.flatMap(({ images }) => [...images.keys()])
    t.equal(
      (await fetch(`${baseUrl}/v1/screenshots/${firstImage}/image`, { headers })).status,
      200,
      'after its erasure there',
    )
  },
)

t.test('cells: stores of the operator are refused, since all cells would share them', async (t) => {
  const up = (...args: string[]) => promisify(execFile)(commandLine, ['up', '--data', join(dataDir, 'other'), ...args])
  const nats = ['--nats', 'nats://127.0.0.1:4222']
  await t.rejects(up('--databases', '2', ...nats), { message: /leave out --postgres, --nats and --s3/ })
  await t.rejects(up('--databases', '5'), { message: /--databases 5: must be a whole number from 1 to 4/ })
})

t.test('cells: a stop ends all processes, and exits with 0', async (t) => {
  const pids = (await Promise.all(cells.map(({ data_dir: folder }) => localOf(folder)))).flatMap(({ services }) =>
    services.map(({ pid }) => pid),
  )
  t.equal(await system.stop(), 0)
  for (const pid of pids) t.throws(() => process.kill(pid, 0))
})
