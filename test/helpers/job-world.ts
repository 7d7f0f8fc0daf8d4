import type { ReceivedHeartbeat } from '#controller/loop/subscribe-to-pool.ts'
import type { Depth } from '#controller/decide/pool.ts'
import type { KubernetesJobsDeps } from '#controller/operator/jobs/kubernetes-jobs.ts'
import type { Lister } from '#controller/operator/watch/informers.ts'
import { jobNameLabel, type ObservedJob } from '#controller/operator/watch/observed-job.ts'
import type { ObservedPod } from '#controller/operator/watch/observed-pod.ts'
import { workerContainer } from '#controller/operator/watch/observed-pod.ts'
import { KubeError, type Outcome } from '#shared/kube/kube-error.ts'
import { captureLabel } from '#shared/kube/names.ts'
import type { Change } from '#controller/kube/object-cache.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { heartbeatMs, type HeartbeatMessage, type StartedMessage } from '#shared/queue/messages.ts'
import { logNormal, seededRandom } from './pool-simulation.ts'
import { createChannel, createTimeline } from './timeline.ts'
import { asKubeApi } from './object-api.ts'

/** Faults: a worker ends before it is ready, or while it serves; a message, a request or a response is lost. */
export type JobFault = 'dies-early' | 'dies-serving' | 'loses-message' | 'loses-request' | 'loses-answer'

/** Parameters of the simulation. Times in milliseconds from the start, probabilities from 0 to 1. */
export type WorldOptions = {
  readonly seed: number
  /** Arrival times of captures, ascending. */
  readonly arrivals: readonly number[]
  /** Bounds of the controller that Jobs must never exceed. */
  readonly policy: { readonly max: number; readonly spares: number }
  readonly chance?: Partial<Record<JobFault, number>>
  /** Whether nodes can pull the image at this time. */
  readonly isImageThere?: (atMs: number) => boolean
  /** Maximum number of existing Jobs, including finished ones. */
  readonly quota?: (atMs: number) => number
  /** Pods that the Job controller creates per second, Job by Job; unlimited by default. */
  readonly podsPerSecond?: number
  /** Milliseconds that a worker waits for its capture. */
  readonly spareMs?: number
}

/** Callbacks for events, called with a delay. */
export type WorldSubscriber = {
  readonly jobChanged: (change: Change<ObservedJob>) => void
  readonly podChanged: () => void
  readonly heartbeat: (heartbeat: HeartbeatMessage) => void
  readonly started: (message: StartedMessage) => void
  readonly poked: () => void
}

type Capture = { readonly id: string; readonly atMs: number; servedMs?: number; holder?: Job }
type Job = {
  readonly name: string
  object: ObservedJob
  capture?: Capture
  isIdle: boolean
  isDead: boolean
  hasEnded: boolean
}

const ackWaitMs = 15_000
const namespace = 'jobs'

/** A delayed copy of objects. */
const createLister = <T extends KubeObject & { metadata: { name: string } }>() => {
  const objects = new Map<string, T>()
  const all: Lister<T> = {
    all: () => [...objects.values()],
    get: (key) => objects.get(key),
    hasSynced: true,
    downMs: () => 0,
  }
  const put = (object: T): Change<T> => {
    const key = `${namespace}/${object.metadata.name}`
    const kind = objects.has(key) ? 'updated' : 'added'
    objects.set(key, object)
    return { kind, key, object }
  }
  return { all, put }
}

const refuse = (outcome: Outcome): never => {
  throw new KubeError(outcome, { message: outcome })
}

/** A discrete-event simulation of captures, Jobs and their workers. */
export class JobWorld {
  readonly time = createTimeline()
  readonly random: () => number
  /** Violations at the creation of Jobs. */
  readonly violations: string[] = []
  readonly heartbeats = new Map<string, ReceivedHeartbeat>()
  created = 0
  deaths = 0
  claimWrites = 0
  readonly #options: WorldOptions
  readonly #subscriptions = new Set<WorldSubscriber>()
  readonly #truth = new Map<string, Job>()
  readonly #queue: Capture[] = []
  readonly #captures: Capture[] = []
  readonly #jobs = createLister<ObservedJob>()
  readonly #pods = createLister<ObservedPod>()
  readonly #watchJobs
  readonly #watchPods
  readonly #channel
  #versions = 0
  #names = 0
  #podMs = 0

  constructor(options: WorldOptions) {
    this.#options = options
    this.random = seededRandom(options.seed)
    this.#watchJobs = createChannel(this.time, () => this.#between(2, 150))
    this.#watchPods = createChannel(this.time, () => this.#between(2, 150))
    this.#channel = createChannel(this.time, () => this.#between(0.1, 3))
    for (const [index, atMs] of options.arrivals.entries()) {
      this.time.at(atMs, () => this.#arrive({ id: `capture-${index}`, atMs }))
    }
  }

  /** The controller's access to Kubernetes. */
  get cluster(): Pick<KubernetesJobsDeps, 'api' | 'jobs' | 'pods' | 'newName'> {
    return { api: this.#api(), jobs: this.#jobs.all, pods: this.#pods.all, newName: () => `job-${(this.#names += 1)}` }
  }

  /** Subscribes to all later events, until disposed. */
  follow(subscriptions: WorldSubscriber): Disposable {
    this.#subscriptions.add(subscriptions)
    return { [Symbol.dispose]: () => void this.#subscriptions.delete(subscriptions) }
  }

  /** Reads the queue depth from JetStream, with latency. */
  async readDepth(): Promise<Depth> {
    await this.time.pass(this.#between(0.2, 20))
    const inFlight = this.#captures.filter(({ servedMs, holder }) => servedMs === undefined && holder).length
    const depth = { waiting: this.#queue.length, inFlight }
    await this.time.pass(this.#between(0.2, 20))
    return depth
  }

  unserved(): readonly Capture[] {
    return this.#captures.filter(({ servedMs }) => servedMs === undefined)
  }

  /** Number of captures that have arrived. */
  get arrived(): number {
    return this.#captures.length
  }

  /** Unfinished Jobs. */
  unfinished(): readonly Job[] {
    return [...this.#truth.values()].filter(({ hasEnded }) => !hasEnded)
  }

  #between(low: number, high: number): number {
    return low + this.random() * (high - low)
  }

  #happens(fault: JobFault): boolean {
    return this.random() < (this.#options.chance?.[fault] ?? 0)
  }

  #arrive(capture: Capture) {
    this.#captures.push(capture)
    this.#give(capture)
    this.#notify(({ poked }) => poked())
  }

  /** Queues a capture for an idle worker. */
  #give(capture: Capture) {
    delete capture.holder
    const idle = [...this.#truth.values()].find(({ isIdle }) => isIdle)
    if (idle) this.#serve(idle, capture)
    else this.#queue.push(capture)
  }

  #notify(how: (subscriptions: WorldSubscriber) => void) {
    this.#channel(() => {
      for (const subscriptions of this.#subscriptions) how(subscriptions)
    })
  }

  #check() {
    const { max, spares } = this.#options.policy
    const unfinished = this.unfinished()
    const free = unfinished.filter(({ capture }) => capture === undefined).length
    const waiting = this.unserved().filter(({ holder }) => !holder || holder.isDead).length
    const where = `at ${Math.round(this.time.nowMs())} ms`
    if (unfinished.length > max) this.violations.push(`${unfinished.length} Jobs ${where}`)
    if (free > waiting + spares) this.violations.push(`${free} free Jobs for ${waiting} captures ${where}`)
  }

  #show(job: Job, change: (object: ObservedJob) => ObservedJob) {
    this.#versions += 1
    const { metadata, ...rest } = change(job.object)
    const object = { ...rest, metadata: { ...metadata, resourceVersion: String(this.#versions) } }
    job.object = object
    this.#watchJobs(() => {
      const stored = this.#jobs.put(object)
      for (const { jobChanged } of this.#subscriptions) jobChanged(stored)
    })
  }

  #showPod({ name, object }: Job, status: NonNullable<ObservedPod['status']>) {
    const { uid } = object.metadata
    const labels = { [jobNameLabel]: name }
    const metadata = { name, namespace, uid, resourceVersion: '', creationTimestamp: '', labels }
    this.#watchPods(() => {
      this.#pods.put({ metadata, status })
      for (const { podChanged } of this.#subscriptions) podChanged()
    })
  }

  #end(job: Job, type: 'Complete' | 'Failed') {
    if (job.hasEnded) return
    job.hasEnded = true
    this.#show(job, (object) => ({ ...object, status: { conditions: [{ type, status: 'True' }] } }))
  }

  #make(manifest: KubeObject) {
    const name = manifest.metadata?.name ?? ''
    const metadata = { name, namespace, uid: name, resourceVersion: '', labels: {}, annotations: {} }
    const job: Job = { name, object: { metadata, status: {} }, isIdle: false, isDead: false, hasEnded: false }
    this.#truth.set(name, job)
    this.created += 1
    this.#check()
    this.#show(job, (object) => object)
    const { podsPerSecond = Infinity } = this.#options
    this.#podMs = Math.max(this.#podMs + 1000 / podsPerSecond, this.time.nowMs())
    this.time.at(this.#podMs + this.#between(10, 100), () => this.#pull(job))
  }

  #pull(job: Job) {
    if (job.hasEnded) return
    const { isImageThere = () => true } = this.#options
    if (isImageThere(this.time.nowMs())) {
      this.#showPod(job, { phase: 'Pending' })
      this.time.after(logNormal(this.random, 1500, 0.6), () => this.#comeUp(job))
      return
    }
    this.#showPod(job, {
      phase: 'Pending',
      containerStatuses: [{ name: workerContainer, state: { waiting: { reason: 'ImagePullBackOff' } } }],
    })
    this.time.after(2000, () => this.#pull(job))
  }

  #comeUp(job: Job) {
    if (job.hasEnded) return
    if (this.#happens('dies-early')) {
      this.#die(job)
      return
    }
    this.#showPod(job, { phase: 'Running' })
    this.#heartbeat(job, 'ready')
    this.#heartbeatOn(job)
    const next = this.#queue.shift()
    if (next) {
      this.#serve(job, next)
      return
    }
    job.isIdle = true
    this.time.after(this.#options.spareMs ?? 600_000, () => {
      if (!job.isIdle) return
      this.#heartbeat(job, 'drained')
      this.#leave(job, 'Succeeded')
    })
  }

  #serve(job: Job, capture: Capture) {
    job.isIdle = false
    job.capture = capture
    capture.holder = job
    this.#heartbeat(job, 'ready')
    const message: StartedMessage = { id: capture.id, attempt: 1, kind: 'begun', pod: job.name }
    if (!this.#happens('loses-message')) this.#notify(({ started }) => started(message))
    const serviceMs = logNormal(this.random, 1500, 0.5)
    if (this.#happens('dies-serving')) {
      this.time.after(serviceMs * this.random(), () => this.#die(job))
      return
    }
    this.time.after(serviceMs, () => {
      capture.servedMs = this.time.nowMs()
      this.#heartbeat(job, 'drained')
      this.#leave(job, 'Succeeded')
    })
  }

  #die(job: Job) {
    const { capture } = job
    this.deaths += 1
    job.isDead = true
    if (capture) this.time.after(ackWaitMs, () => this.#give(capture))
    this.#leave(job, 'Failed')
  }

  #leave(job: Job, how: 'Succeeded' | 'Failed') {
    job.isIdle = false
    this.time.after(this.#between(20, 500), () => {
      this.#showPod(job, { phase: how })
      this.time.after(this.#between(20, 500), () => this.#end(job, how === 'Succeeded' ? 'Complete' : 'Failed'))
    })
  }

  #heartbeat({ name, capture }: Job, state: HeartbeatMessage['state']) {
    const captures = capture && state !== 'drained' ? [capture.id] : []
    const heartbeat = { pod: name, pool: 'proxied', pid: 1, slots: 1, busy: captures.length, state, captures } as const
    if (this.#happens('loses-message')) return
    this.#channel(() => {
      this.heartbeats.set(name, { heartbeat, atMs: this.time.nowMs() })
      for (const subscriptions of this.#subscriptions) subscriptions.heartbeat(heartbeat)
    })
  }

  #heartbeatOn(job: Job) {
    this.time.after(heartbeatMs, () => {
      if (job.isDead || job.hasEnded || job.capture?.servedMs !== undefined) return
      this.#heartbeat(job, 'ready')
      this.#heartbeatOn(job)
    })
  }

  /** Runs `act` at the server, unless the request is lost; its response may be lost too. */
  async #request<T>(act: () => T): Promise<T> {
    const lost = this.#happens('loses-request') ? 'request' : this.#happens('loses-answer') ? 'answer' : undefined
    await this.time.pass(this.#between(1, 20))
    const answer = lost === 'request' ? undefined : act()
    // A broken connection is detected immediately, a silent one later.
    await this.time.pass(lost ? this.#between(1, 500) : this.#between(1, 20))
    return lost || answer === undefined ? refuse('unavailable') : answer
  }

  #create(manifest: KubeObject): KubeObject {
    const { quota = () => Infinity } = this.#options
    if (this.#truth.has(manifest.metadata?.name ?? '')) refuse('already-exists')
    if (this.#truth.size >= quota(this.time.nowMs())) refuse('quota')
    this.#make(manifest)
    return manifest
  }

  #patch(name: string, claim: string | undefined): KubeObject {
    const job = this.#truth.get(name) ?? refuse('not-found')
    if (claim === undefined) this.#end(job, 'Failed')
    else {
      this.claimWrites += 1
      const labels = { [captureLabel]: claim }
      this.#show(job, (object) => ({ ...object, metadata: { ...object.metadata, labels } }))
    }
    return job.object
  }

  #api(): KubernetesJobsDeps['api'] {
    type Body = { readonly metadata?: { readonly labels: Readonly<Record<string, string>> } }
    return asKubeApi({
      create: (_of: unknown, manifest: KubeObject) => this.#request(() => this.#create(manifest)),
      patch: ({ name }: { name: string }, { body }: { body: object }) =>
        this.#request(() => this.#patch(name, (body as Body).metadata?.labels[captureLabel])),
      list: () =>
        this.#request(() => ({ items: [...this.#truth.values()].map(({ object }) => object), resourceVersion: '1' })),
    })
  }
}
