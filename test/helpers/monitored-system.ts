import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { listening } from './egress-filter.ts'
import { eventually } from './eventually.ts'
import { processTree } from './process-tree.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'
import { startMicrosocks } from './real-proxies.ts'
import { startSystem, type System } from './system.ts'
import { makeCertificate, startReceiver } from './webhook-receiver.ts'

/** State of a listening socket in /proc. */
const listens = '0A'

/**
 * Port of a worker's metrics: the newer of its two listening ports. The other is its canary's, whose
 * connections are counted. Undefined before both are open.
 */
const metricsPortOf = (pid: number): number | undefined => {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]),
  )
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1)
  const own = rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === listens && sockets.has(inode))
    .toSorted((a, b) => Number(a[9]) - Number(b[9]))
  return own.length < 2 ? undefined : Number.parseInt(own.at(-1)?.[1]?.split(':')[1] ?? '', 16)
}

/** Metrics endpoints of the workers of this machine, registered only with the controller. */
export const workerTargets = async ({ pid }: System): Promise<string[]> => {
  const workers = processTree(pid).filter(({ command }) => command.includes('services/worker/main.'))
  const hosts = workers.map((worker) => `127.0.0.1:${metricsPortOf(worker.pid)}`)
  const isWorker = async (host: string) => {
    const response = await fetch(`http://${host}/metrics`, { signal: AbortSignal.timeout(2000) })
    return (await response.text()).includes('shutterfleet_worker')
  }
  const found = await Promise.all(hosts.map((host) => isWorker(host).catch(() => false)))
  return hosts.filter((_, index) => found[index])
}

const targetsOf = async (system: System): Promise<string[]> => {
  const { services } = await system.readLocal()
  const probes = services.flatMap(({ metrics_url: url }) => (url ? [new URL(url).host] : []))
  return [...probes, ...(await workerTargets(system))]
}

/** Sends one of each request that the dashboards of one machine show. */
const sendRound = async (system: System, { site, proxy }: { site: string; proxy: string }) => {
  const shoot = async (parameters: Record<string, unknown>) =>
    (await system.post('/v1/screenshots/capture', parameters)).arrayBuffer()
  await Promise.all([
    shoot({ url: site }),
    shoot({ url: 'http://no-such-host.example/' }),
    shoot({ url: site, proxy }),
    system.create({ html: '<h1>A page</h1>' }),
    system.post('/v1/screenshots/batch', { urls: [site, `${site}/2`] }),
    fetch(`${system.baseUrl}/v1/account`, { headers: { authorization: 'Bearer wrong' } }),
  ])
}

/** Starts a system of one warm worker under a load of every kind, and a Prometheus that scrapes all services. */
export const startMonitoredSystem = async (): Promise<
  AsyncDisposable & { readonly system: System; readonly prometheus: Prometheus }
> => {
  await using opened = new AsyncDisposableStack()
  const proxy = opened.use(await startMicrosocks())
  const site = opened.use(await listening(createServer((_, response) => response.end('<h1>A site</h1>'))))
  const certificate = opened.use(await makeCertificate(['localhost']))
  const receiver = opened.use(await startReceiver(certificate, () => 200))
  const allowed = [site.port, proxy.port, receiver.port].flatMap((port) => ['--allow-target', `127.0.0.1:${port}`])
  const system = opened.use(await startSystem([...allowed, '--extra-ca', certificate.certPath, '--workers-max', '1']))
  await system.post('/v1/webhooks', { url: `https://127.0.0.1:${receiver.port}/in` })
  await eventually(async () => (await workerTargets(system)).length > 0, { what: 'a worker serves its metrics' })
  const prometheus = opened.use(await startPrometheus(await targetsOf(system)))

  const where = { site: `http://127.0.0.1:${site.port}`, proxy: `socks5://127.0.0.1:${proxy.port}` }
  const stop = new AbortController()
  const load = (async () => {
    while (!stop.signal.aborted) await sendRound(system, where)
  })()
  opened.defer(async () => {
    stop.abort()
    await load
  })
  const rest = opened.move()
  return { system, prometheus, [Symbol.asyncDispose]: () => rest.disposeAsync() }
}
