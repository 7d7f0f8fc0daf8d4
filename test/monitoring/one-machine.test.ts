import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import t from 'tap'
import { dashboardQueries, testQueries } from '#test/helpers/dashboard-queries.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { startPrometheus } from '#test/helpers/prometheus.ts'
import { startMicrosocks, withoutRealProxies } from '#test/helpers/real-proxies.ts'
import { startSystem, type System } from '#test/helpers/system.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'

const skip = await withoutRealProxies()
const listenState = '0A'

/** Ports of loopback that a process listens on. */
const portsOf = (pid: number): number[] => {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]),
  )
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1)
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === listenState && sockets.has(inode))
    .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16))
}

/** Where the metrics of the workers of this machine are; only the controller is told of it. */
const workerTargets = async ({ pid }: System): Promise<string[]> => {
  const workers = processTree(pid).filter(({ command }) => command.includes('services/worker/main.ts'))
  const ports = workers.flatMap((worker) => portsOf(worker.pid))
  const isWorker = async (port: number) => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(2000) })
    return (await response.text()).includes('shutterfleet_worker')
  }
  const found = await Promise.all(ports.map((port) => isWorker(port).catch(() => false)))
  return ports.filter((_, index) => found[index]).map((port) => `127.0.0.1:${port}`)
}

const targetsOf = async (system: System): Promise<string[]> => {
  const { services } = await system.readLocal()
  const probes = services.flatMap(({ metrics_url: url }) => (url ? [new URL(url).host] : []))
  return [...probes, ...(await workerTargets(system))]
}

/** One of everything that a dashboard of one machine shows. */
const sendRound = async (system: System, { site, proxy }: { site: string; proxy: string }) => {
  const shoot = async (of: Record<string, unknown>) => (await system.post('/v1/screenshots/capture', of)).arrayBuffer()
  const wrongKey = { authorization: 'Bearer wrong' }
  await Promise.all([
    shoot({ url: site }),
    shoot({ url: 'http://no-such-host.example/' }),
    shoot({ url: site, proxy }),
    system.create({ html: '<h1>A page</h1>' }),
    system.post('/v1/screenshots/batch', { urls: [site, `${site}/2`] }),
    fetch(`${system.baseUrl}/v1/account`, { headers: wrongKey }),
  ])
}

t.test('every panel has data of a system under load', { skip, timeout: 300_000 }, async (t) => {
  await using proxy = await startMicrosocks()
  const site = await listening(createServer((_, response) => response.end('<h1>A site</h1>')))
  t.teardown(() => site[Symbol.asyncDispose]())
  await using certificate = await makeCertificate(['localhost'])
  await using receiver = await startReceiver(certificate, () => 200)
  const allowed = [site.port, proxy.port, receiver.port].flatMap((port) => ['--allow-target', `127.0.0.1:${port}`])
  const system = await startSystem([...allowed, '--extra-ca', certificate.certPath, '--workers-max', '1'])
  t.teardown(() => system.stop())
  await system.post('/v1/webhooks', { url: `https://127.0.0.1:${receiver.port}/in` })
  await eventually(async () => (await workerTargets(system)).length > 0, { what: 'a worker shows its metrics' })
  await using prometheus = await startPrometheus(await targetsOf(system))

  const where = { site: `http://127.0.0.1:${site.port}`, proxy: `socks5://127.0.0.1:${proxy.port}` }
  const stop = new AbortController()
  const load = (async () => {
    while (!stop.signal.aborted) await sendRound(system, where)
  })()
  try {
    const queries = dashboardQueries().filter(({ isKubernetes }) => !isKubernetes)
    t.ok(queries.length > 50)
    await testQueries(t, prometheus, queries)
  } finally {
    stop.abort()
    await load
  }
})
