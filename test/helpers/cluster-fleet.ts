import { hash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Pool, pools } from '#shared/capture/lane.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { parseCaptureId } from '#shared/queue/subjects.ts'
import type { Order, Outcome } from '#worker/protocol/protocol.ts'
import type { TestCluster } from './cluster.ts'
import type { ClusterQueue } from './cluster-queue.ts'
import { type InProcessWorker, startInProcessWorker } from './in-process-worker.ts'
import type { Program, Waiting } from './pod-state.ts'
import { FakeKubelet } from './fake-kubelet.ts'
import { type PodObject, type WorkerSpec, workerSpecOf } from './worker-pod-object.ts'

/**
 * A fault of a pod. `never-ready`, `cannot-start` (its container keeps waiting) and `ends` (its container exits
 * after each start) take effect when the pod starts; `ends` and `dies-serving` end a running worker: at once, and when it
 * begins its next capture. `cut-off`: the control plane cannot reach its node.
 */
export type Fault =
  | { readonly kind: 'silent' | 'frozen' | 'never-ready' | 'cut-off' }
  | ({ readonly kind: 'cannot-start' } & Waiting)
  | { readonly kind: 'ends' | 'dies-serving'; readonly exitCode: number }

/** How the fleet behaves; each function is called whenever its value is needed. */
export type FleetOptions = {
  readonly cluster: Pick<TestCluster, 'kubeconfig' | 'kwokSimulatesWorkers'>
  readonly queue: Pick<ClusterQueue, 'urlOf' | 'openingKeyOf'>
  /** Selects the simulated pods; by default the pods of all workers. */
  readonly selector?: string
  /** Milliseconds from a worker's start to its readiness; 0 by default. */
  readonly startMs?: (spec: WorkerSpec) => number
  /** Milliseconds that a capture takes; 100 by default. */
  readonly serviceMs?: (id: string, spec: WorkerSpec) => number
  /** Outcome of a capture; a small image by default. */
  readonly outcomeOf?: (order: Order, spec: WorkerSpec) => Outcome
  /** Fault of a pod when it starts. */
  readonly faultOf?: (pod: PodObject) => Fault | undefined
  /** Milliseconds until an exited container is restarted; 1000 by default. */
  readonly restartMs?: number
}

/** An attempt at a capture. `outcome` is missing while it runs, and if its end was never reported. */
export type Attempt = {
  readonly id: string
  readonly attempt: number
  readonly pod: string
  outcome?: 'completed' | 'failed' | 'lost'
}

/** The end of a worker: its cause, and the worker's state at that moment. */
export type WorkerExit = {
  readonly pod: string
  readonly how: 'stopped' | 'killed' | 'died'
  readonly state: string
  /** Captures in progress at that moment. */
  readonly busy: readonly string[]
}

/** Starts to simulate workers. The cluster must have been started with `kwokSimulatesWorkers: false`. */
export const startFleet = async (options: FleetOptions): Promise<Fleet> =>
  new Fleet(options, await connectWorkers(options.queue))

/** Simulates the pods of all workers in a cluster, over real NATS. Dispose kills the workers; their pods stay as they are. */
export class Fleet implements AsyncDisposable {
  /** All attempts so far, in the order in which they began. */
  readonly attempts: readonly Attempt[]
  /** Ends of workers so far. */
  readonly ends: readonly WorkerExit[]
  /** Captures that were delivered to frozen workers: once thawed, a worker serves or naks them although others may serve them. */
  readonly held: ReadonlySet<string>
  readonly #options: FleetOptions
  readonly #queues: Queues
  readonly #kubelet: FakeKubelet
  readonly #faults = new Map<string, Fault>()
  readonly #running = new Map<string, InProcessWorker>()
  readonly #attempts: Attempt[] = []
  readonly #ends: WorkerExit[] = []
  readonly #held = new Set<string>()

  /** See `startFleet`. */
  constructor(options: FleetOptions, queues: Queues) {
    const { cluster, restartMs, selector } = options
    this.attempts = this.#attempts
    this.ends = this.#ends
    this.held = this.#held
    this.#options = options
    this.#queues = queues
    this.#kubelet = new FakeKubelet({
      cluster,
      run: (pod, changed) => this.#run(pod, changed),
      waitingReason: (pod) => {
        const fault = this.#faultOf(pod)
        return fault?.kind === 'cannot-start' ? fault : undefined
      },
      ...(restartMs !== undefined && { restartMs }),
      ...(selector !== undefined && { selector }),
    })
  }

  workers(): readonly InProcessWorker[] {
    return [...this.#running.values()]
  }

  /** Workers that were stopped or killed while serving captures. None if every worker is drained first. */
  busyEnds(): readonly WorkerExit[] {
    return this.#ends.filter(({ how, busy }) => how !== 'died' && busy.length > 0)
  }

  /** Injects a fault into a pod, running or waiting. */
  injectFault(pod: string, fault: Fault): void {
    this.#faults.set(pod, fault)
    const worker = this.#running.get(pod)
    if (worker) this.#applyFault(worker, fault)
    if (fault.kind === 'cut-off') this.#kubelet.cutOff(pod, true)
  }

  /** Removes the fault of a pod. A pod with `cannot-start` starts if `faultOf` no longer returns a fault. */
  clearFault(pod: string): void {
    this.#faults.delete(pod)
    const worker = this.#running.get(pod)
    worker?.setSilent(false)
    worker?.thaw()
    this.#kubelet.cutOff(pod, false)
    this.#kubelet.recheck(pod)
  }

  /** Evicts a pod as a node does under memory pressure. */
  evict(pod: string): void {
    this.#kubelet.evict(pod)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kubelet[Symbol.asyncDispose]()
    await Promise.all(Object.values(this.#queues).map((queue) => queue[Symbol.asyncDispose]()))
  }

  #faultOf(pod: PodObject): Fault | undefined {
    return this.#faults.get(pod.metadata.name) ?? this.#options.faultOf?.(pod)
  }

  #run(pod: PodObject, changed: () => void): Program {
    const fault = this.#faultOf(pod)
    if (fault?.kind === 'ends') return ending(fault.exitCode)
    const { queue, startMs } = this.#options
    const spec = workerSpecOf(pod)
    const worker = startInProcessWorker({
      spec,
      queue: this.#queues[spec.pool],
      openingKeys: [queue.openingKeyOf(spec.pool)],
      startMs: fault?.kind === 'never-ready' ? Infinity : (startMs?.(spec) ?? 0),
      events: recordOf(spec, this.#attempts),
      held: (subject) => this.#held.add(parseCaptureId(subject)),
      changed,
      capture: (order, gone) => this.#capture(pod, order, gone),
    })
    this.#running.set(spec.pod, worker)
    void worker.ended.finally(() => this.#running.get(spec.pod) === worker && this.#running.delete(spec.pod))
    if (fault) this.#applyFault(worker, fault)
    return {
      ...worker,
      stop: () => {
        this.#recordExit(worker, 'stopped')
        worker.stop()
      },
      kill: () => {
        this.#recordExit(worker, 'killed')
        worker.kill()
      },
    }
  }

  async #capture(pod: PodObject, order: Order, gone: AbortSignal): Promise<Outcome> {
    const { serviceMs, outcomeOf } = this.#options
    const spec = workerSpecOf(pod)
    const fault = this.#faultOf(pod)
    const worker = this.#running.get(spec.pod)
    if (worker && fault?.kind === 'dies-serving') this.#die(worker, fault.exitCode)
    await delay(serviceMs?.(order.id, spec) ?? defaultServiceMs, undefined, { signal: gone })
    return outcomeOf?.(order, spec) ?? smallImage(order)
  }

  #applyFault(worker: InProcessWorker, fault: Fault) {
    if (fault.kind === 'silent') worker.setSilent(true)
    if (fault.kind === 'frozen') worker.freeze()
    if (fault.kind === 'ends') this.#die(worker, fault.exitCode)
  }

  #die(worker: InProcessWorker, exitCode: number) {
    this.#recordExit(worker, 'died')
    worker.die(exitCode)
  }

  #recordExit({ spec, state, captures }: InProcessWorker, how: WorkerExit['how']) {
    this.#ends.push({ pod: spec.pod, how, state: state(), busy: [...captures()] })
  }
}

type Queues = Readonly<Record<Pool, Queue>>

const defaultServiceMs = 100

const connectWorkers = async ({ urlOf }: FleetOptions['queue']): Promise<Queues> => {
  const connect = async (pool: Pool) => {
    const user = `worker_${pool}` as const
    const url = urlOf(user)
    const queue = await connectQueue({ url, name: 'fleet', inboxPrefix: userInboxPrefix(user), notice: () => {} })
    return [pool, queue] as const
  }
  return Object.fromEntries(await Promise.all(pools.map(connect))) as Queues
}

/** A program that exits immediately. */
const ending = (exitCode: number): Program => ({
  isReady: () => false,
  stop: () => {},
  kill: () => {},
  ended: Promise.resolve(exitCode),
})

const recordOf = ({ pod }: WorkerSpec, attempts: Attempt[]) => {
  const end = (id: string, outcome: NonNullable<Attempt['outcome']>) => {
    const begun = attempts.findLast((each) => each.id === id && each.pod === pod)
    if (begun) begun.outcome = outcome
  }
  return {
    dropped: () => {},
    interrupted: () => {},
    begun: ({ id, attempt }: { id: string; attempt: number }) => void attempts.push({ id, attempt, pod }),
    ended: (result: { id: string; outcome: 'completed' | 'failed' }) => end(result.id, result.outcome),
    lost: (id: string) => end(id, 'lost'),
  }
}

/** The result of a capture whose image is its id. */
export const smallImage = ({ id }: Order): Outcome => ({
  outcome: 'completed',
  timings: {},
  shot: {
    bytes: Buffer.from(id),
    sha256: hash('sha256', id),
    width: 1,
    height: 1,
    mimeType: 'image/png',
    targetStatus: 200,
    finalUrl: undefined,
    warnings: [],
  },
})
