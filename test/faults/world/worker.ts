import type { Clock } from '#controller/kube/clock.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { heartbeatMs, startedCodec } from '#shared/queue/messages.ts'
import { drainSubject, startedSubject, undrainSubject } from '#shared/queue/subjects.ts'
import type { Container, ContainerEvents } from '#test/helpers/model-api/kubelet.ts'
import { logNormal } from '#cli/simulation/random.ts'
import type { WorkerSpec } from '#test/helpers/worker-pod-object.ts'
import { createServiceTime } from '#shared/policy/service-time.ts'
import { publishHeartbeat } from '#worker/lifecycle/heartbeat.ts'
import { startLifecycle, type WorkerLifecycle } from '#worker/lifecycle/lifecycle.ts'
import type { CaptureStream, StreamDelivery } from './capture-stream.ts'

/** Called when a worker begins or completes a capture. */
export type WorkerEvents = {
  readonly begun: (id: string, worker: SimulatedWorker) => void
  readonly completed: (id: string, worker: SimulatedWorker) => void
}

/** Dependencies of a simulated worker. */
export type WorkerDeps = {
  readonly clock: Clock
  readonly random: () => number
  /** Its connection; received messages are handled within its process. */
  readonly queue: Queue
  readonly stream: CaptureStream
  readonly events: WorkerEvents
  readonly acknowledgesEarly: boolean
}

const workingMs = 5000
const killedCode = 137
const serviceMedianMs = 2500
const serviceSigma = 0.5
const serviceMsMax = 40_000

/** A worker of a pool or a Job: the real lifecycle and heartbeats, with a browser that only takes time. */
export class SimulatedWorker implements Container {
  readonly spec: WorkerSpec
  readonly lifecycle: WorkerLifecycle
  readonly #deps: WorkerDeps
  readonly #events: ContainerEvents
  readonly #stopping = new AbortController()
  readonly #stack = new DisposableStack()
  readonly #pulls = new Set<Disposable>()
  readonly #serving = new Map<string, Disposable>()
  readonly #service = createServiceTime()
  #isAlive = true
  #isReady = false
  #taken = 0

  constructor(deps: WorkerDeps, spec: WorkerSpec, events: ContainerEvents) {
    this.spec = spec
    this.#deps = deps
    this.#events = events
    this.lifecycle = this.#stack.use(startLifecycle(this.#stopping.signal, () => this.#changed()))
    repeat(deps.clock, heartbeatMs, () => this.#publishHeartbeat(), this.#stack)
    if (spec.isSingleUse)
      this.#stack.use(deps.clock.after(spec.spareMs, () => this.#taken === 0 && this.lifecycle.drain()))
    else {
      const of = { pool: spec.pool, pod: spec.worker }
      this.#stack.use(deps.queue.subscribe(drainSubject(of), this.lifecycle.drain))
      this.#stack.use(deps.queue.subscribe(undrainSubject(of), this.lifecycle.undrain))
    }
    this.lifecycle.warm()
  }

  /** Whether it received SIGTERM or SIGKILL. */
  get isStopping(): boolean {
    return this.#stopping.signal.aborted || !this.#isAlive
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Total number of captures taken. */
  get taken(): number {
    return this.#taken
  }

  /** SIGTERM. */
  readonly stop = (): void => this.#stopping.abort()

  /** SIGKILL. */
  readonly kill = (): void => {
    for (const timers of this.#serving.values()) timers[Symbol.dispose]()
    this.#serving.clear()
    this.#end(killedCode)
  }

  #changed() {
    if (!this.#isAlive) return
    const isReady = this.lifecycle.state() === 'ready'
    if (isReady !== this.#isReady) this.#events.ready(isReady)
    this.#isReady = isReady
    this.#refill()
    this.#publishHeartbeat()
    const isDone = this.isStopping || (this.spec.isSingleUse && !isReady)
    // Exit after the last heartbeat was published.
    if (isDone && this.#serving.size === 0) this.#deps.clock.after(1, () => this.#end(0))
  }

  #publishHeartbeat() {
    const { pool, worker: pod, slots, reservedSlots } = this.spec
    publishHeartbeat(
      {
        browsers: () => undefined,
        queue: this.#deps.queue,
        pool,
        pod,
        slots,
        reservedSlots,
        lifecycle: this.lifecycle,
      },
      this.#service,
    )
  }

  #end(code: number) {
    if (!this.#isAlive) return
    this.#isAlive = false
    this.#refill()
    this.#stack.dispose()
    this.#events.exited(code)
  }

  /** Whether the worker has a free slot. */
  #hasRoom(): boolean {
    const { isSingleUse, slots } = this.spec
    if (!this.#isAlive || !this.#isReady || (isSingleUse && this.#taken > 0)) return false
    return this.#serving.size < slots
  }

  #refill() {
    if (!this.#hasRoom()) {
      for (const pull of this.#pulls) pull[Symbol.dispose]()
      this.#pulls.clear()
    }
    const { pool, slots } = this.spec
    while (this.#hasRoom() && this.#pulls.size + this.#serving.size < slots) {
      const pull = this.#deps.stream.pull(pool, (delivery) => {
        this.#pulls.delete(pull)
        if (this.#hasRoom()) this.#serve(delivery)
        else delivery.nak()
      })
      this.#pulls.add(pull)
    }
  }

  #serve(delivery: StreamDelivery) {
    const { clock, random, queue, events } = this.#deps
    const { pool, worker, isSingleUse } = this.spec
    const { id, lane } = delivery
    const beganMs = clock.nowMs()
    const timers = new DisposableStack()
    this.#taken += 1
    this.#serving.set(id, timers)
    events.begun(id, this)
    queue.publish(startedSubject({ pool, id }), startedCodec.encode({ id, attempt: 1, kind: 'begun', pod: worker }))
    if (this.#deps.acknowledgesEarly) delivery.ack()
    const running = this.lifecycle.serve(id)
    repeat(clock, workingMs, delivery.working, timers)
    const done = () => {
      timers.dispose()
      this.#serving.delete(id)
      events.completed(id, this)
      delivery.ack()
      this.#service.add(lane, clock.nowMs() - beganMs)
      // As in main-job.ts: drain first, so that no heartbeat reports a free slot.
      if (isSingleUse) this.lifecycle.drain()
      running[Symbol.dispose]()
    }
    timers.use(clock.after(Math.min(serviceMsMax, logNormal(random, serviceMedianMs, serviceSigma)), done))
  }
}

/** Calls `run` every `everyMs` until the stack is disposed. */
const repeat = (clock: Clock, everyMs: number, run: () => void, stack: DisposableStack) => {
  let timer: Disposable | undefined
  const next = () => {
    timer = clock.after(everyMs, () => {
      next()
      run()
    })
  }
  next()
  stack.defer(() => timer?.[Symbol.dispose]())
}
