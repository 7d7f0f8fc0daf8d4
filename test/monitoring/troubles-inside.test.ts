import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { processTree, signalAll } from '#test/helpers/process-tree.ts'
import { startSystem } from '#test/helpers/system.ts'
import { keepSending, watchAlerts } from '#test/helpers/watched-alerts.ts'

const notRoot = process.getuid?.() === 0 ? false : 'mounts need root'
const oneWorker = ['--workers-max', '1']
const page = { html: '<h1>A page</h1>' }

const makeFolder = async () => {
  const path = await mkdtemp(join(tmpdir(), 'shutterfleet-trouble-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Writes a file until its disk is full. */
const fill = async (path: string) => {
  const isFull = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOSPC') throw error
    return true
  }
  while (!(await appendFile(path, Buffer.alloc(4096)).then(() => false, isFull)));
}

/** Kills the processes that `find` returns, twice a second until disposed. */
const keepKilling = (find: () => Promise<readonly number[]>): Disposable => {
  const kill = async () => signalAll(await find().catch(() => []), 'SIGKILL')
  void kill()
  const timer = setInterval(() => void kill(), 500)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

t.test('alerts: a full disk of the object store is the one critical alert', { skip: notRoot }, async (t) => {
  await using folder = await makeFolder()
  const objects = join(folder.path, 'objects')
  const mount = `mkdir -m 700 ${objects}\nmount -t tmpfs -o size=2m,mode=700 tmpfs ${objects}`
  await using system = await startSystem(['--workers-max', '4'], { dataDir: folder.path, mount })
  await using alerts = await watchAlerts(system)
  await fill(`/proc/${system.pid}/root${objects}/filler`)
  await using _load = keepSending(2, () => system.post('/v1/screenshots/capture', { ...page, timeout: 5 }))
  await alerts.expectCritical(t, ['ShutterfleetStoreDown'])
})

t.test('alerts: an egress filter that ends again and again is the one critical alert', async (t) => {
  await using system = await startSystem(['--workers-max', '4'])
  await using alerts = await watchAlerts(system)
  using _crashes = keepKilling(async () =>
    (await system.readLocal()).services.flatMap(({ name, pid }) => (name === 'egress' ? pid : [])),
  )
  await using _load = keepSending(2, () => system.post('/v1/screenshots/capture', { ...page, timeout: 5 }))
  // It comes back at another address each time, at which nothing scrapes it.
  await alerts.expectCritical(t, ['ShutterfleetServiceAbsent'])
})

t.test('alerts: in a crash loop workers are not ready and captures do not start', async (t) => {
  await using system = await startSystem(oneWorker)
  await using alerts = await watchAlerts(system)
  using _crashes = keepKilling(async () =>
    processTree(system.pid).flatMap(({ pid, command }) => (command.includes('services/worker/main.') ? pid : [])),
  )
  await system.create({ html: '<h1>Nobody will see this</h1>' })
  await alerts.expect(t, ['ShutterfleetCapturesNotStarting', 'ShutterfleetWorkersNotReady'])
})

t.test(
  'alerts: with the DNS of egress down only the DNS alert fires, and no service fault counts',
  { skip: notRoot },
  async (t) => {
    await using folder = await makeFolder()
    const resolver = join(folder.path, 'resolv.conf')
    // No DNS server listens on this address.
    await writeFile(resolver, 'nameserver 127.0.0.9\n')
    await using system = await startSystem(['--workers-max', '4'], {
      mount: `mount --bind ${resolver} /etc/resolv.conf`,
    })
    await using alerts = await watchAlerts(system)
    const url = (nth: number) => `https://www.example.com/${nth}`
    await using _load = keepSending(2, (nth) => system.post('/v1/screenshots/capture', { url: url(nth), timeout: 10 }))
    await alerts.expect(t, ['ShutterfleetEgressDnsFailing'])
  },
)
