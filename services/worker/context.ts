import { randomUUID } from 'node:crypto'
import type { Life } from '#shared/process/run-main.ts'
import { openEgressTrust } from '#shared/net/egress-trust.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import type { InstalledBrowser } from '#shared/queue/messages.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { readOpeningKey } from '#shared/queue/seal.ts'
import { reportClientCertificates } from '#shared/telemetry/client-certificates.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import type { Config } from './config.ts'
import { LanePuller } from './delivery/lane-puller.ts'
import { type ImageUpload, requestAddress } from './delivery/store-image.ts'
import { createEvents, type Events } from './telemetry/events.ts'
import { readInstalledBrowsers } from './host/browser-versions.ts'
import { findBrowsers } from './host/find-browsers.ts'
import { openHostEnvironment } from './host/host-environment.ts'
import { createSlots, hostsPerSlot } from './host/slots.ts'
import { reserveBrowserUsers } from './isolation/browser-users.ts'
import { checkIsolation } from './isolation/isolated.ts'
import { linkEgress } from './lifecycle/egress-link.ts'
import { workerHealth } from './lifecycle/health.ts'
import { createServiceTime } from '#shared/policy/service-time.ts'
import { coalesceHeartbeats, publishHeartbeat, startHeartbeat } from './lifecycle/heartbeat.ts'
import { startLifecycle } from './lifecycle/lifecycle.ts'
import { reportedHolds } from './lifecycle/pull-gate.ts'
import type { Running } from './loop.ts'

const warnOfUnsafe = (config: Config, events: Events): void => {
  if (config.networkIsolation === 'flags-only') {
    events.unsafe(
      'WORKER_NETWORK_ISOLATION',
      "only Chromium's flags keep browsers off the network, and nothing keeps them off the worker's files",
    )
  }
  if (config.unsafeNoSandbox) events.unsafe('WORKER_UNSAFE_NO_SANDBOX', 'Chromium runs without its sandbox')
}

/**
 * Checks that browsers can be isolated as configured, connects to NATS, and creates the worker. Announces the address of
 * its probes once a browser is warm. Dispose ends its browsers.
 */
export const createContext = async (
  config: Config,
  life: Pick<Life, 'stop' | 'announce'>,
): Promise<Running & AsyncDisposable> => {
  const { pool } = config
  const openingKeys = config.openingKeys.map(readOpeningKey)
  await using stack = new AsyncDisposableStack()
  const users = stack.use(await reserveBrowserUsers(config.browserUser, config.slots * hostsPerSlot))
  const browsers = findBrowsers(config)
  const binaries = Object.values(browsers.binaries)
  const isolation = { network: config.networkIsolation, isRoot: users !== undefined, browsers: binaries }
  checkIsolation(isolation)
  const metrics = createMetrics('worker', { queue: pool })
  const events = createEvents(createLogger({ service: 'worker', level: config.logLevel }), metrics)
  warnOfUnsafe(config, events)
  stack.use(reportClientCertificates(config, events))
  const failed = (cause: unknown) => events.certificateUnusable('egress-ca', cause)
  const trust = stack.use(await openEgressTrust(config.egressCaFile, failed))
  const endpoint = { ...config, egress: { ...config.egress, trust } }
  const pod = config.pod || `worker-${randomUUID().slice(0, 8)}`
  const inboxPrefix = userInboxPrefix(`worker_${pool}`)
  const queue = await connectQueue({
    url: config.natsUrl,
    identity: config,
    identityReports: events.identityReports('nats'),
    name: pod,
    inboxPrefix,
    notice: events.queue,
  })
  const puller = stack.use(new LanePuller(queue, pool))
  // Disposed before the puller, which hands back the deliveries that arrive until the connection is flushed.
  stack.use(queue)
  const environment = stack.use(await openHostEnvironment(config, { hasUsers: users !== undefined, events }))
  events.blockLists(environment.blockLists)
  const service = createServiceTime()
  let installed: readonly InstalledBrowser[] | undefined
  const { reservedSlots } = config
  const reported = { queue, pool, pod, slots: config.slots, reservedSlots, browsers: () => installed }
  const publish = () => publishHeartbeat({ ...reported, lifecycle }, service)
  const coalesced = stack.use(coalesceHeartbeats(publish))
  // The controller starts a worker for each proxied capture and needs to learn without delay which worker took which.
  const lifecycle = stack.use(startLifecycle(life.stop, publish, pool === 'proxied' ? publish : coalesced.request))
  const holds = reportedHolds(lifecycle, events)
  lifecycle.hold('egress', 'not checked yet')
  const egress = stack.use(linkEgress(endpoint, holds))
  const disposal = new AbortController()
  stack.defer(() => disposal.abort())
  const sign = (id: string) => requestAddress(queue, { pool, id })
  const store = { sign, holds: { ...lifecycle, ...holds }, failing: new Set<ImageUpload>(), stop: disposal.signal }
  const slots = createSlots({ config: endpoint, isolation, browsers, users, environment, events }, holds)
  stack.defer(async () => void (await Promise.all(slots.map((slot) => slot[Symbol.asyncDispose]()))))
  stack.use(startHeartbeat(publish))
  const health = () => workerHealth({ queue, lifecycle, slots })
  const probe = stack.use(await startProbeServer(config, { metrics, health }))
  const reportBrowsers = async () => {
    await lifecycle.warmed
    life.announce({ probeUrl: probe.url })
    // Only now, so that it delays no start.
    installed = await readInstalledBrowsers(browsers, Date.now(), events.browserUnreadable)
    events.browsers(installed)
  }
  void reportBrowsers()
  const worker = { queue, pool, pod, openingKeys, egress, store, events, puller, lifecycle, slots, service }
  const owned = stack.move()
  return { ...worker, reservedSlots, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
