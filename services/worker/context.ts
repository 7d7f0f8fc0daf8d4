import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { inboxPrefixOf } from '#shared/queue/permissions.ts'
import { readOpeningKey } from '#shared/queue/seal.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics, type Metrics } from '#shared/telemetry/metrics.ts'
import type { BrowserUser } from './browser-host/protocol.ts'
import { findBrowserUser } from './browser-user.ts'
import type { Canary } from './canary.ts'
import type { Config } from './config.ts'
import { createEvents, type Events } from './events.ts'
import { checkEgress } from './egress-check.ts'
import { startHost } from './host-process.ts'
import { checkIsolation, type Isolation } from './network-isolation.ts'
import { createSlot, type Slot } from './slot.ts'
import { warmUp } from './warm-up.ts'

/** What a worker has before it takes anything. */
export type Context = AsyncDisposable & {
  readonly pod: string
  readonly user: BrowserUser | undefined
  readonly metrics: Metrics
  readonly events: Events
  readonly queue: Queue
}

const isolationOf = (config: Config, user: BrowserUser | undefined): Isolation => ({
  network: config.networkIsolation,
  isRoot: user !== undefined,
  hiddenFolder: config.hiddenFolder,
})

/** Checks that browsers can be isolated as configured, and connects to NATS. */
export const createContext = async (config: Config): Promise<Context> => {
  const user = findBrowserUser(config.browserUser)
  checkIsolation(isolationOf(config, user))
  const metrics = createMetrics('worker')
  const events = createEvents(createLogger({ service: 'worker', level: config.logLevel }), metrics)
  if (config.networkIsolation === 'flags-only') {
    events.unsafe(
      'WORKER_NETWORK_ISOLATION',
      "only Chromium's flags keep browsers off the network, nothing off the files",
    )
  }
  if (config.unsafeNoSandbox) events.unsafe('WORKER_UNSAFE_NO_SANDBOX', 'Chromium runs without its sandbox')
  const pod = config.pod || `worker-${randomUUID().slice(0, 8)}`
  const queue = await connectQueue({
    url: config.natsUrl,
    name: pod,
    inboxPrefix: inboxPrefixOf(`worker_${config.pool}`),
    notice: events.queue,
  })
  return { pod, user, metrics, events, queue, [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose]() }
}

/** The private keys of the worker's pool. */
export const openingKeysOf = (config: Config) => config.openingKeys.map(readOpeningKey)

/** Makes the worker's slots; their hosts are started when they are first asked for. `folder` is the worker's own. */
export const createSlots = (
  { config, user, events }: { config: Config } & Pick<Context, 'user' | 'events'>,
  paths: { folder: string; egressPath: string },
  canary: Pick<Canary, 'heard'> & { port: number },
): readonly Slot[] => {
  const start = async () => {
    await checkEgress(paths.egressPath)
    const host = await startHost({
      settings: {
        chromium: config.chromium,
        sandbox: !config.unsafeNoSandbox,
        ...(user && { user }),
        egressPath: paths.egressPath,
        recycleCaptures: config.recycleCaptures,
        recycleMs: config.recycleSeconds * 1000,
        heightMax: config.heightMax,
        bytesMax: config.captureBytesMax,
        connectionsMax: config.captureConnectionsMax,
      },
      isolation: isolationOf(config, user),
      folder: join(paths.folder, `host-${randomUUID().slice(0, 8)}`),
    })
    try {
      await warmUp(host, canary)
      return host
    } catch (error) {
      await host[Symbol.asyncDispose]()
      throw error
    }
  }
  return Array.from({ length: config.slots }, () => createSlot(start, events))
}
