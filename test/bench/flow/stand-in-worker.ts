import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import sharp from 'sharp'
import { createServiceTime } from '#shared/policy/service-time.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { readOpeningKey } from '#shared/queue/seal.ts'
import { drainSubject, undrainSubject } from '#shared/queue/subjects.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import type { Config } from '#worker/config.ts'
import { LanePuller } from '#worker/delivery/lane-puller.ts'
import { requestAddress } from '#worker/delivery/store-image.ts'
import type { Slot } from '#worker/host/slot.ts'
import type { Host } from '#worker/host/steer-host.ts'
import { coalesceHeartbeats, publishHeartbeat, startHeartbeat } from '#worker/lifecycle/heartbeat.ts'
import { startLifecycle } from '#worker/lifecycle/lifecycle.ts'
import { type Running, serveUntil } from '#worker/loop.ts'
import type { Shot } from '#worker/protocol/protocol.ts'
import { createEvents } from '#worker/telemetry/events.ts'

const [width, height] = [1280, 800]

/** The image of all captures: a png of one colour, about 4 KB. */
export const createShot = async (): Promise<Shot> => {
  const bytes = await sharp({ create: { width, height, channels: 3, background: '#336699' } })
    .png()
    .toBuffer()
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { bytes, sha256, width, height, mimeType: 'image/png', targetStatus: 200, warnings: [] }
}

/** Egress that is always reachable: nothing is loaded. */
const egress: Running['egress'] = {
  outages: () => 0,
  isUpSince: async () => true,
  [Symbol.dispose]: () => {},
}

const createHost = (captureMs: number, shot: Shot): Host => ({
  gone: new AbortController().signal,
  capture: async () => {
    await delay(captureMs)
    return { outcome: 'completed', shot, timings: { navigate: captureMs } }
  },
  [Symbol.asyncDispose]: async () => {},
})

const createSlot = (host: Host): Slot => ({
  isWarm: () => true,
  preference: () => undefined,
  coldForMs: () => 0,
  host: async (stop) => (stop.aborted ? undefined : host),
  [Symbol.asyncDispose]: async () => {},
})

/** A worker without browsers; each of its captures takes `captureMs` milliseconds and yields `shot`. */
export type StandIn = {
  readonly config: Config
  readonly pod: string
  readonly captureMs: number
  readonly shot: Shot
}

/** Serves captures as a worker's `main.ts` does, until `stop` aborts. `ready` is called once it is warm. */
export const runStandIn = async (
  { config, pod, captureMs, shot }: StandIn,
  { stop, ready }: { readonly stop: AbortSignal; readonly ready: () => void },
): Promise<void> => {
  const { pool, slots: slotCount, reservedSlots } = config
  await using stack = new AsyncDisposableStack()
  const events = createEvents(
    createLogger({ service: 'worker', level: config.logLevel }),
    createMetrics('worker', { queue: pool }),
  )
  const queue = await connectQueue({
    url: config.natsUrl,
    name: pod,
    inboxPrefix: userInboxPrefix(`worker_${pool}`),
    notice: events.queue,
  })
  const puller = stack.use(new LanePuller(queue, pool))
  stack.use(queue)
  const service = createServiceTime()
  const publish = () =>
    publishHeartbeat(
      { queue, pool, pod, slots: slotCount, reservedSlots, lifecycle, browsers: () => undefined },
      service,
    )
  const coalesced = stack.use(coalesceHeartbeats(publish))
  const lifecycle = stack.use(startLifecycle(stop, publish, coalesced.request))
  stack.use(queue.subscribe(drainSubject({ pool, pod }), lifecycle.drain))
  stack.use(queue.subscribe(undrainSubject({ pool, pod }), lifecycle.undrain))
  stack.use(startHeartbeat(publish))
  void lifecycle.warmed.then(ready)
  const store: Running['store'] = {
    sign: (id) => requestAddress(queue, { pool, id }),
    holds: lifecycle,
    failing: new Set(),
    stop,
  }
  const host = createHost(captureMs, shot)
  const slots = Array.from({ length: slotCount }, () => createSlot(host))
  const openingKeys = config.openingKeys.map(readOpeningKey)
  const worker = { queue, pool, pod, openingKeys, egress, store, events, puller, lifecycle, slots, service }
  await serveUntil({ ...worker, reservedSlots }, stop)
}
