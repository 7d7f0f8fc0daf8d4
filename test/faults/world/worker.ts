import type { Clock } from '#controller/kube/clock.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { heartbeatMs, startedCodec } from '#shared/queue/messages.ts'
import { drainSubject, startedSubject, undrainSubject } from '#shared/queue/subjects.ts'
import type { Container, ContainerEvents } from '#test/helpers/model-api/kubelet.ts'
import { logNormal } from '#test/helpers/pool-simulation.ts'
import type { WorkerSpec } from '#test/helpers/worker-pod-object.ts'
import { publishHeartbeat, createServiceTime } from '#worker/lifecycle/heartbeat.ts'
import { startLifecycle, type WorkerLifecycle } from '#worker/lifecycle/lifecycle.ts'
import type { CaptureStream, Handed } from './capture-stream.ts'

/** What befalls captures at workers. */
export type WorkerEvents = {
  readonly begun: (id: string, worker: PlayedWorker) => void
  readonly completed: (id: string, worker: PlayedWorker) => void
}

/** What a worker is played with. */
export type WorkerDeps = {
  readonly clock: Clock
  readonly random: () => number
  /** Its connection; what is heard runs within its process. */
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

/** A worker of a pool, or a single-use one: the real lifecycle and heartbeats, with a browser that only takes time. */
export class PlayedWorker implements Container {
  readonly spec: WorkerSpec
  readonly lifecycle: WorkerLifecycle
  readonly #deps: WorkerDeps
  readonly #events: ContainerEvents
  readonly #told = new AbortController()
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
    this.lifecycle = this.#stack.use(startLifecycle(this.#told.signal, () => this.#changed()))
    repeat(deps.clock, heartbeatMs, () => this.#say(), this.#stack)
    if (spec.isSingleUse)
      this.#stack.use(deps.clock.after(spec.spareMs, () => this.#taken === 0 && this.lifecycle.drain()))
    else {
      const of = { pool: spec.pool, pod: spec.worker }
      this.#stack.use(deps.queue.subscribe(drainSubject(of), this.lifecycle.drain))
      this.#stack.use(deps.queue.subscribe(undrainSubject(of), this.lifecycle.undrain))
    }
    this.lifecycle.warm()
  }

  /** Whether it was told to end, by SIGTERM or SIGKILL. */
  get isTold(): boolean {
    return this.#told.signal.aborted || !this.#isAlive
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Captures that it took in all. */
  get taken(): number {
    return this.#taken
  }

  /** SIGTERM. */
  readonly stop = (): void => this.#told.abort()

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
    this.#say()
    const isDone = this.isTold || (this.spec.isSingleUse && !isReady)
    // What was changed is said before it leaves.
    if (isDone && this.#serving.size === 0) this.#deps.clock.after(1, () => this.#end(0))
  }

  #say() {
    const { pool, worker: pod, slots } = this.spec
    publishHeartbeat({ queue: this.#deps.queue, pool, pod, slots, lifecycle: this.lifecycle }, this.#service)
  }

  #end(code: number) {
    if (!this.#isAlive) return
    this.#isAlive = false
    this.#refill()
    this.#stack.dispose()
    this.#events.exited(code)
  }

  /** Whether it would take one more capture. */
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
      const pull = this.#deps.stream.pull(pool, (handed) => {
        this.#pulls.delete(pull)
        if (this.#hasRoom()) this.#serve(handed)
        else handed.nak()
      })
      this.#pulls.add(pull)
    }
  }

  #serve(handed: Handed) {
    const { clock, random, queue, events } = this.#deps
    const { pool, worker, isSingleUse } = this.spec
    const { id } = handed
    const beganMs = clock.nowMs()
    const timers = new DisposableStack()
    this.#taken += 1
    this.#serving.set(id, timers)
    events.begun(id, this)
    queue.publish(startedSubject({ pool, id }), startedCodec.encode({ id, attempt: 1, kind: 'begun', pod: worker }))
    if (this.#deps.acknowledgesEarly) handed.ack()
    const running = this.lifecycle.serve(id)
    repeat(clock, workingMs, handed.working, timers)
    const done = () => {
      timers.dispose()
      this.#serving.delete(id)
      events.completed(id, this)
      handed.ack()
      this.#service.add(clock.nowMs() - beganMs)
      // As main-job.ts: at no moment does it look as if it would take another.
      if (isSingleUse) this.lifecycle.drain()
      running[Symbol.dispose]()
    }
    timers.use(clock.after(Math.min(serviceMsMax, logNormal(random, serviceMedianMs, serviceSigma)), done))
  }
}

/** Calls again and again, until the stack is disposed. */
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
