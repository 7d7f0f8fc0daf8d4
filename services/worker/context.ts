import { randomUUID } from 'node:crypto'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { inboxPrefixOf } from '#shared/queue/permissions.ts'
import { type OpeningKey, readOpeningKey } from '#shared/queue/seal.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics, type Metrics } from '#shared/telemetry/metrics.ts'
import type { Browsers } from './browser-host/protocol.ts'
import type { Config } from './config.ts'
import { createEvents, type Events } from './events.ts'
import { findBrowsers } from './find-browsers.ts'
import { type BrowserUsers, reserveBrowserUsers } from './isolation/browser-users.ts'
import { checkIsolation, type Isolation } from './isolation/isolated.ts'

/** What a worker has before it takes anything. */
export type Context = AsyncDisposable & {
  readonly pod: string
  readonly isolation: Isolation
  readonly browsers: Browsers
  /** Undefined where browsers run as the worker's own user. */
  readonly users: BrowserUsers | undefined
  /** The private keys of the worker's pool. */
  readonly openingKeys: readonly OpeningKey[]
  readonly metrics: Metrics
  readonly events: Events
  readonly queue: Queue
}

/** Checks that browsers can be isolated as configured, and connects to NATS. */
export const createContext = async (config: Config): Promise<Context> => {
  const openingKeys = config.openingKeys.map(readOpeningKey)
  await using stack = new AsyncDisposableStack()
  const users = stack.use(await reserveBrowserUsers(config.browserUser, config.slots))
  const browsers = findBrowsers(config)
  const binaries = Object.values(browsers.binaries)
  const isolation = { network: config.networkIsolation, isRoot: users !== undefined, browsers: binaries }
  checkIsolation(isolation)
  const metrics = createMetrics('worker', { queue: config.pool })
  const events = createEvents(createLogger({ service: 'worker', level: config.logLevel }), metrics)
  if (config.networkIsolation === 'flags-only') {
    events.unsafe(
      'WORKER_NETWORK_ISOLATION',
      "only Chromium's flags keep browsers off the network, nothing off the files",
    )
  }
  if (config.unsafeNoSandbox) events.unsafe('WORKER_UNSAFE_NO_SANDBOX', 'Chromium runs without its sandbox')
  const pod = config.pod || `worker-${randomUUID().slice(0, 8)}`
  const queue = stack.use(
    await connectQueue({
      url: config.natsUrl,
      name: pod,
      inboxPrefix: inboxPrefixOf(`worker_${config.pool}`),
      notice: events.queue,
    }),
  )
  const owned = stack.move()
  return {
    pod,
    isolation,
    browsers,
    users,
    openingKeys,
    metrics,
    events,
    queue,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
