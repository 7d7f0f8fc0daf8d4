import { eventually } from '#test/helpers/eventually.ts'
import { startSystem, type System } from '#test/helpers/system.ts'
import type { Contender } from './contender.ts'
import { countCpuByPart } from './cpu-by-part.ts'
import { serveSite, type Site } from './serve-site.ts'

/** The whole service as one that takes captures, with a number of warm workers. */
export type WarmSystem = Contender & AsyncDisposable & { readonly system: System }

/** The benchmark's site beside a service that captures it. */
export type WarmSite = { readonly site: Site; readonly service: WarmSystem }

const warmMs = 60_000

/** Starts the service and waits until `workers` are warm; it keeps just as many. */
const startWarmSystem = async (
  site: Site,
  workers: number,
  env: Readonly<Record<string, string>> = {},
): Promise<WarmSystem> => {
  const targets = [site.httpHost, site.httpsHost].flatMap((host) => ['--allow-target', host])
  const flags = [...targets, '--extra-ca', site.certPath, '--workers-max', String(workers)]
  const system = await startSystem(flags, { env: { SHUTTERFLEET_POOL_MIN: String(workers), ...env } })
  const cpu = countCpuByPart(system.pid)
  const isWarm = async () =>
    new RegExp(`^shutterfleet_pool_workers\\{[^}]*state="ready"[^}]*\\} ${workers}$`, 'm').test(
      await system.metrics('controller'),
    )
  await eventually(isWarm, { withinMs: warmMs, what: `${workers} workers are warm` })
  return {
    system,
    take: async (shot) => {
      const response = await system.post('/v1/screenshots/capture', shot)
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
      const { byteLength } = await response.arrayBuffer()
      return { bytes: byteLength, id: response.headers.get('x-screenshot-id') ?? '' }
    },
    cpu: cpu.read,
    [Symbol.asyncDispose]: async () => {
      cpu[Symbol.dispose]()
      await system.stop()
    },
  }
}

/** Measures something on a service of its own with `workers` warm workers. */
export const onWarmSite = async <T>(
  workers: number,
  measure: (warm: WarmSite) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> => {
  await using site = await serveSite()
  await using service = await startWarmSystem(site, workers, env)
  return await measure({ site, service })
}
