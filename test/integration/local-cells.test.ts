import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
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

t.test('cells: stores of the operator are refused, since all cells would share them', async (t) => {
  const program = resolve(import.meta.dirname, '../../bin/shutterfleet')
  const up = (...args: string[]) => promisify(execFile)(program, ['up', '--data', join(dataDir, 'other'), ...args])
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
