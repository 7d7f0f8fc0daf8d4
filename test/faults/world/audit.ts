import type { Clock } from '#controller/kube/clock.ts'
import type { RecordedWrite } from '#test/helpers/model-api/connection.ts'
import { at, controllerOf, type Stored } from '#test/helpers/model-api/object.ts'
import { holds } from '#test/helpers/model-api/pods.ts'
import { keyIn, type StoreEvent } from '#test/helpers/model-api/store.ts'
import type { ModelApi } from '#test/helpers/model-api.ts'
import { objectName } from '#shared/kube/names.ts'
import type { SimulatedLedger } from './ledger.ts'
import type { SimulatedWorker } from './worker.ts'

/** Damage that no fault may cause. */
export const damages = [
  /** An accepted capture never ends. */
  'lost',
  /** A capture has more than one result, or two workers serve it at once. */
  'twice',
  /** A controller causes a busy worker to be terminated. */
  'busy-ended',
  /** A controller that does not hold the Lease writes or drains. */
  'not-leading',
  /** There are more Jobs than captures and spares need, or than `jobs.max`. */
  'too-many-jobs',
  /** A controller deletes an object other than a pod. */
  'deleted',
  /** Long after the fault has ended, the idle capacity is not the configured one. */
  'restless',
] as const

/** One damage, with its time. */
export type Damage = { readonly what: (typeof damages)[number]; readonly atMs: number; readonly text: string }

/** What the audit observes. */
export type AuditDeps = {
  readonly clock: Clock
  readonly model: ModelApi
  readonly ledger: SimulatedLedger
  /** The newest worker of a pod, and of a Job. */
  readonly workerOf: (name: string) => SimulatedWorker | undefined
  readonly running: () => readonly SimulatedWorker[]
}

type Holder = { readonly fromMs: number; readonly client: string | undefined }

/** Window after a change of a pod in which a controller may still act on the state before it. */
const raceWindowMs = 500

const nobody: Holder = { fromMs: 0, client: undefined }
const isLeaseWrite = ({ path }: RecordedWrite) => path.includes('/leases')

const isUnknown = (pod: Stored | undefined): boolean => at(pod, 'status', 'phase') === 'Unknown'

/** Whether the event deletes a pod or begins its termination. */
const isEnding = ({ type, object, before }: StoreEvent): boolean =>
  before?.metadata.deletionTimestamp === undefined &&
  (type === 'DELETED' || object.metadata.deletionTimestamp !== undefined)

/** Whether a worker serves a capture and was not stopped before. */
const isBusy = (worker: SimulatedWorker | undefined): boolean =>
  worker !== undefined && worker.isAlive && !worker.isStopping && worker.lifecycle.captures().length > 0

/** Records every damage in a world. */
export class Audit {
  readonly damages: Damage[] = []
  readonly #deps: AuditDeps
  /** Holders of the Lease, the newest last; and the client of each holder identity. */
  readonly #holders: Holder[] = [nobody]
  readonly #clients = new Map<string, string>()
  /** The last actor that scaled a Deployment down, and the actor behind the scale-down of a ReplicaSet, by name. */
  readonly #shrunkBy = new Map<string, string | undefined>()
  readonly #causes = new Map<string, string | undefined>()
  /** When the phase of a pod last changed to or from Unknown. */
  #unknownMs = Number.NEGATIVE_INFINITY
  /** When pods became Ready, by name. */
  readonly #readyMs = new Map<string, number>()
  /** The actor that changed a Job's deadline, by name. */
  readonly #hurriedBy = new Map<string, string | undefined>()
  /** Whether Jobs are counted: false after the server was restored to an older state. */
  countsJobs = true

  constructor(deps: AuditDeps) {
    this.#deps = deps
    deps.model.server.store.listen((resource, event) => this.#follow(resource, event))
  }

  note(what: Damage['what'], text: string): void {
    this.damages.push({ what, atMs: this.#deps.clock.nowMs(), text })
  }

  /** Checks a request after the server has handled it. */
  readonly wrote = (write: RecordedWrite): void => {
    if (write.code === 0 || write.code >= 300 || isLeaseWrite(write)) return
    const { client, method, path, sentAtMs } = write
    const holder = this.#holderAt(sentAtMs)
    if (holder !== client)
      this.note('not-leading', `${client}: ${method} ${path}, sent ${sentAtMs}; ${holder ?? 'nobody'} leads`)
    if (method === 'DELETE' && !path.includes('/pods/')) this.note('deleted', `${client}: ${path}`)
  }

  /** Checks a message before it is delivered. */
  readonly published = (client: string, subject: string): void => {
    if (!/\.(drain|undrain)$/.test(subject)) return
    const holder = this.#holderAt(this.#deps.clock.nowMs())
    if (holder !== client) this.note('not-leading', `${client}: ${subject}; ${holder ?? 'nobody'} leads`)
  }

  /** The client that holds the Lease. */
  holder(): string | undefined {
    return this.#holderAt(this.#deps.clock.nowMs())
  }

  /** Reads the Lease again after the server was restored to an older state. */
  reread(): void {
    for (const lease of this.#deps.model.server.store.all('coordination.k8s.io/v1/leases')) this.#followLease(lease)
  }

  /** Checks the captures at the end of the run. */
  close(): void {
    for (const { id, pool, attempts, results } of this.#deps.ledger.rows.values()) {
      if (results > 1) this.note('twice', `${id} has ${results} results`)
      if (results === 0) this.note('lost', `${id} of ${pool}, begun ${attempts} times`)
    }
  }

  #follow(resource: string, event: StoreEvent) {
    const { object, type } = event
    if (resource === 'coordination.k8s.io/v1/leases') this.#followLease(object)
    if (resource === 'apps/v1/deployments') this.#followDeployment(event)
    if (resource === 'apps/v1/replicasets') this.#followSet(event)
    if (resource === 'batch/v1/jobs') {
      if (type === 'ADDED') this.#countJobs(object)
      const seconds = (job: Stored | undefined) => at(job, 'spec', 'activeDeadlineSeconds')
      if (type === 'MODIFIED' && seconds(event.before) !== seconds(object))
        this.#hurriedBy.set(object.metadata.name, this.#deps.model.actor())
    }
    if (resource === 'v1/pods') this.#followPod(event)
  }

  #followLease(lease: Stored) {
    const identity = (at(lease, 'spec', 'holderIdentity') as string | undefined) ?? ''
    const actor = this.#deps.model.actor()
    if (actor !== undefined && identity !== '') this.#clients.set(identity, actor)
    const client = this.#clients.get(identity)
    if (this.#holders.at(-1)?.client !== client) this.#holders.push({ fromMs: this.#deps.clock.nowMs(), client })
  }

  #holderAt(ms: number): string | undefined {
    return this.#holders.findLast(({ fromMs }) => fromMs <= ms)?.client
  }

  #followDeployment({ object, before }: StoreEvent) {
    const size = (of: Stored | undefined) => Number(at(of, 'spec', 'replicas') ?? 0)
    if (size(object) < size(before)) this.#shrunkBy.set(object.metadata.name, this.#deps.model.actor())
  }

  #followSet({ object, before }: StoreEvent) {
    const size = (of: Stored | undefined) => Number(at(of, 'spec', 'replicas') ?? 0)
    if (size(object) >= size(before)) return
    const deployment = controllerOf(object)
    const { store } = this.#deps.model.server
    const others = store
      .all('apps/v1/replicasets')
      .filter((set) => controllerOf(set)?.uid === deployment?.uid && set.metadata.uid !== object.metadata.uid)
    const isRollout = others.some((set) => size(set) > 0)
    this.#causes.set(object.metadata.name, isRollout ? undefined : this.#shrunkBy.get(deployment?.name ?? ''))
  }

  #followPod(event: StoreEvent) {
    const { name } = event.object.metadata
    const nowMs = this.#deps.clock.nowMs()
    if (isUnknown(event.before) !== isUnknown(event.object)) this.#unknownMs = nowMs
    const wasReady = event.before !== undefined && holds(event.before, 'Ready')
    if (!wasReady && holds(event.object, 'Ready')) this.#readyMs.set(name, nowMs)
    // A controller cannot observe changes while its request is in flight: a ReplicaSet that is scaled down
    // deletes a starting pod, which may begin to serve meanwhile. Ignore terminations within that window.
    const sinceMs = Math.max(this.#unknownMs, this.#readyMs.get(name) ?? nowMs)
    if (nowMs - sinceMs < raceWindowMs) return
    if (!isEnding(event) || !isBusy(this.#deps.workerOf(name))) return
    const cause = this.#causeOf(event.object)
    if (cause?.startsWith('controller-')) this.note('busy-ended', `${name} by ${cause}`)
  }

  #causeOf(pod: Stored): string | undefined {
    const actor = this.#deps.model.actor()
    if (actor !== undefined) return actor
    const owner = controllerOf(pod)
    const { store } = this.#deps.model.server
    // A pod that is garbage-collected with its owner was not chosen by a controller.
    const resource = owner?.kind === 'Job' ? 'batch/v1/jobs' : 'apps/v1/replicasets'
    if (!store.get(resource, keyIn(pod.metadata.namespace, owner?.name ?? ''))) return undefined
    return owner?.kind === 'Job' ? this.#hurriedBy.get(owner.name) : this.#causes.get(owner?.name ?? '')
  }

  #countJobs(made: Stored) {
    if (!this.countsJobs) return
    const { server } = this.#deps.model
    const unfinished = server.store
      .all('batch/v1/jobs')
      .filter((job) => !holds(job, 'Complete') && !holds(job, 'Failed') && job.metadata.deletionTimestamp === undefined)
    const pool = server.store
      .all('shutterfleet.dev/v1beta1/browserpools')
      .find(({ metadata }) => objectName(metadata.name) === made.metadata.labels?.['shutterfleet.dev/pool'])
    const jobs = at(pool, 'spec', 'jobs') as { max: number; spares: number } | undefined
    if (!jobs) return
    const { max, spares } = jobs
    if (unfinished.length > max) this.note('too-many-jobs', `${unfinished.length} of at most ${max}`)
    const free = unfinished.filter(({ metadata }) => (this.#deps.workerOf(metadata.name)?.taken ?? 0) === 0)
    const served = new Set(this.#deps.running().flatMap(({ lifecycle }) => [...lifecycle.captures()]))
    const waiting = this.#deps.ledger.open('proxied').filter(({ id }) => !served.has(id))
    if (free.length > waiting.length + spares)
      this.note('too-many-jobs', `${free.length} free ones for ${waiting.length} captures and ${spares} spares`)
  }
}
