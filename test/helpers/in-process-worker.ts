import { setTimeout as delay } from 'node:timers/promises'
import type { Queue } from '#shared/queue/connection.ts'
import type { OpeningKey } from '#shared/queue/seal.ts'
import { drainSubject, undrainSubject } from '#shared/queue/subjects.ts'
import type { Order, Outcome } from '#worker/protocol/protocol.ts'
import { LanePuller } from '#worker/delivery/lane-puller.ts'
import type { Events } from '#worker/telemetry/events.ts'
import type { Slot } from '#worker/host/slot.ts'
import type { Host } from '#worker/host/steer-host.ts'
import { createServiceTime } from '#shared/policy/service-time.ts'
import { publishHeartbeat, startHeartbeat } from '#worker/lifecycle/heartbeat.ts'
import { startLifecycle } from '#worker/lifecycle/lifecycle.ts'
import { type Running, serveUntil, serveOne } from '#worker/loop.ts'
import { type GatedQueue, gateQueue } from './gated-queue.ts'
import type { Program } from './pod-state.ts'
import type { WorkerSpec } from './worker-pod-object.ts'

/** Parameters of a simulated worker. */
export type InProcessWorkerOptions = {
  readonly spec: WorkerSpec
  /** Connected as the user of the pool's workers; may be shared. */
  readonly queue: Queue
  readonly openingKeys: readonly OpeningKey[]
  /** Milliseconds until it is ready; infinite: never. */
  readonly startMs: number
  /** Simulates the browser; rejects soon after `gone` aborts. */
  readonly capture: (order: Order, gone: AbortSignal) => Promise<Outcome>
  readonly events: Running['events'] & Pick<Events, 'ended'>
  /** Called with the subject of each message that arrives while it is frozen. */
  readonly held: (subject: string) => void
  /** Called when its readiness may have changed. */
  readonly changed: () => void
}

/** A worker in this process with the real worker's code, except for the browser. */
export type InProcessWorker = Program & {
  readonly spec: WorkerSpec
  readonly state: () => string
  /** Captures in progress. */
  readonly captures: () => readonly string[]
  /** Stops or resumes heartbeats without stopping its work. */
  readonly setSilent: (isSilent: boolean) => void
  /** Suspends it as by SIGSTOP; `thaw` resumes it. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Ends it immediately, without finishing its captures. */
  readonly die: (exitCode: number) => void
}

const killedCode = 137
const failedCode = 1
/** As in main-job.ts. */
const warmMs = 60_000

/** Starts a pool worker or a single-use worker, depending on its pod. */
export const startInProcessWorker = (options: InProcessWorkerOptions): InProcessWorker => {
  const { spec } = options
  const gate = gateQueue(options.queue, options.held)
  const stop = new AbortController()
  const ended = Promise.withResolvers<number>()
  const service = createServiceTime()
  let isSilent = false
  const sendHeartbeat = () => {
    if (isSilent || !gate.isOpen()) return
    const { pool, worker: pod, slots, reservedSlots } = spec
    publishHeartbeat({ browsers: () => undefined, queue: gate, pool, pod, slots, reservedSlots, lifecycle }, service)
  }
  const lifecycle = startLifecycle(stop.signal, () => {
    sendHeartbeat()
    options.changed()
  })
  const die = (exitCode: number) => {
    ended.resolve(exitCode)
    gate.cut()
    stop.abort()
  }
  void work(options, { gate, stop: stop.signal, service, lifecycle, sendHeartbeat }).then(
    () => ended.resolve(0),
    () => ended.resolve(failedCode),
  )
  return {
    spec,
    state: lifecycle.state,
    captures: lifecycle.captures,
    isReady: () => lifecycle.state() === 'ready',
    ended: ended.promise,
    // A suspended process does not receive SIGTERM.
    stop: () => void (gate.isOpen() && stop.abort()),
    kill: () => die(killedCode),
    die,
    setSilent: (next) => {
      isSilent = next
    },
    freeze: gate.freeze,
    thaw: gate.thaw,
  }
}

/** Runtime state of a worker. */
type WorkerRuntime = Pick<Running, 'lifecycle' | 'service'> & {
  readonly gate: GatedQueue
  readonly stop: AbortSignal
  readonly sendHeartbeat: () => void
}

/** Egress that is always available. */
const egress: Running['egress'] = {
  outages: () => 0,
  isUpSince: async () => true,
  [Symbol.dispose]: () => {},
}

/** A store whose signed addresses are never refused. */
const store: Running['store'] = {
  sign: async () => undefined,
  holds: { hold: () => {}, release: () => {}, holds: () => new Map() },
  failing: new Set(),
  stop: AbortSignal.abort(),
}

/** Mirrors main.ts and main-job.ts. */
const work = async (
  options: InProcessWorkerOptions,
  { gate, stop, service, lifecycle, sendHeartbeat }: WorkerRuntime,
): Promise<void> => {
  const { spec, openingKeys, events, startMs } = options
  const capture = async (order: Order) => {
    const outcome = await options.capture(order, gate.gone)
    await gate.open()
    return outcome
  }
  const slot = slotOf({ gone: gate.gone, capture, [Symbol.asyncDispose]: async () => {} }, startMs)
  const slots = Array.from({ length: spec.slots }, () => slot)
  const podRef = { pool: spec.pool, pod: spec.worker }
  using stack = new DisposableStack()
  stack.use(lifecycle)
  stack.use(startHeartbeat(sendHeartbeat))
  const puller = stack.use(new LanePuller(gate, spec.pool))
  const { reservedSlots } = spec
  const parts = { openingKeys, egress, store, events, puller, lifecycle, slots, reservedSlots, service }
  const deps = { queue: gate, ...podRef, ...parts }
  sendHeartbeat()
  if (spec.isSingleUse) await serveOne(deps, stop, { spareMs: spec.spareMs, warmMs })
  else {
    stack.use(gate.subscribe(drainSubject(podRef), lifecycle.drain))
    stack.use(gate.subscribe(undrainSubject(podRef), lifecycle.undrain))
    await serveUntil(deps, stop)
  }
}

/** A browser that is warm after `startMs` and never restarts. */
const slotOf = (host: Host, startMs: number): Slot => {
  const warmAt = performance.now() + startMs
  const leftMs = () => Math.max(0, warmAt - performance.now())
  return {
    isWarm: () => leftMs() === 0,
    preference: () => undefined,
    coldForMs: leftMs,
    host: async (stop) => {
      const waitMs = Number.isFinite(startMs) ? leftMs() : neverMs
      if (waitMs > 0) await delay(waitMs, undefined, { signal: stop }).catch(() => {})
      return stop.aborted ? undefined : host
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

/** Maximum delay of a Node.js timer. */
const neverMs = 2 ** 31 - 1
