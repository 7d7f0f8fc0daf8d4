import type { Life } from '#shared/process/run-main.ts'
import type { LanePuller } from './lane-puller.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import { beat, beatInStep, gatherBeats } from './beat.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { createSlots } from './create-slots.ts'
import { startLifecycle } from './lifecycle.ts'
import { linkEgress } from './egress-link.ts'
import type { HostEnvironment } from './host-environment.ts'
import { healthOf } from './health.ts'
import type { Running } from './loop.ts'
import { reportedHolds } from './pull-gate.ts'
import { createServiceTime } from './service-time.ts'

/** What a worker is put together from. */
export type WorkerParts = {
  readonly config: Config
  readonly context: Context
  readonly environment: HostEnvironment
  readonly puller: LanePuller
  readonly life: Pick<Life, 'stop' | 'announce'>
}

/**
 * Puts a worker together: slots, lifecycle, the sign of life, probes. Its address is announced once a browser is
 * warm. Dispose ends its browsers.
 */
export const openWorker = async (parts: WorkerParts): Promise<Running & AsyncDisposable> => {
  const { config, context, environment, puller, life } = parts
  const { queue, pod, events, metrics, openingKeys } = context
  const { pool } = config
  events.blockLists(environment.blockLists)
  await using stack = new AsyncDisposableStack()
  const service = createServiceTime()
  const sayHow = () => beat({ queue, pool, pod, slots: config.slots, lifecycle }, service)
  const gathered = stack.use(gatherBeats(sayHow))
  // Who starts a worker for each capture has to know at once which took which.
  const lifecycle = stack.use(startLifecycle(life.stop, sayHow, pool === 'proxied' ? sayHow : gathered.note))
  const holds = reportedHolds(lifecycle, events)
  lifecycle.hold('egress', 'not checked yet')
  const egress = stack.use(linkEgress(config, holds))
  const slots = createSlots({ config, ...context }, environment, holds)
  stack.defer(async () => void (await Promise.all(slots.map((slot) => slot[Symbol.asyncDispose]()))))
  stack.use(beatInStep(sayHow))
  const probe = stack.use(
    await startProbeServer({
      host: config.probeHost,
      port: config.probePort,
      metrics,
      health: () => healthOf({ queue, lifecycle, slots }),
    }),
  )
  void lifecycle.warmed.then(() => life.announce({ probeUrl: probe.url }))
  const owned = stack.move()
  return {
    queue,
    pool,
    pod,
    openingKeys,
    egress,
    events,
    puller,
    lifecycle,
    slots,
    service,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
