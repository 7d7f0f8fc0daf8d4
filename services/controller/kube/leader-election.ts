import { type AppError, toAppError } from '#shared/errors/app-error.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import { type Clock, microTime, pause } from './clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { fieldOwner } from '#shared/kube/names.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { Term } from './term.ts'

/** Milliseconds. Others wait `leaseMs` after the last observed renewal; the leader stops `renewDeadlineMs` after its last. */
type ElectionTiming = { readonly leaseMs: number; readonly renewDeadlineMs: number; readonly retryMs: number }

/** Longest time between two attempts to acquire the Lease, so that a successor leads within 5 s. */
const retryMsMax = 2000

/**
 * The timing for a lease duration, in the proportions of Kubernetes' own controllers. After a leader was killed another leads
 * within the lease duration and two attempts: one that observes its last renewal, and one that acquires.
 */
export const electionTiming = (leaseSeconds: number): ElectionTiming => {
  const leaseMs = leaseSeconds * 1000
  return { leaseMs, renewDeadlineMs: (leaseMs * 2) / 3, retryMs: Math.min(retryMsMax, leaseMs / 7.5) }
}

/** The Lease to compete for, and the candidate: `identity` must be unique to each process that ever runs. */
type LeaseCandidate = {
  readonly namespace: string
  readonly name: string
  readonly identity: string
  readonly timing: ElectionTiming
}

/** `random` returns a number from 0 to below 1. */
type ElectorDeps = {
  readonly api: Pick<KubeApi, 'get' | 'create' | 'patch'>
  readonly clock: Clock
  readonly random: () => number
  readonly began: (term: Term) => void
  readonly ended: () => void
  /** Called if an attempt fails, unless another candidate was faster. */
  readonly failed: (error: AppError) => void
}

type LeaseSpec = {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}
type Lease = KubeObject & { readonly spec?: LeaseSpec }

const leases: Resource = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' }
/** Most renewals without a response that are remembered. */
const sentMax = 100
/** Largest random share added to `retryMs`, so that candidates do not send requests at the same moment. */
const jitter = 0.5

/**
 * Competes for a Lease, as Kubernetes' own controllers do. The API server rejects a write if the Lease has changed since it was
 * read. A holder counts as gone if the Lease has not changed for the lease duration, by the local clock; clocks of different
 * machines are never compared.
 */
export class LeaderElector implements AsyncDisposable {
  readonly #deps: ElectorDeps
  readonly #candidate: LeaseCandidate
  readonly #timing: ElectionTiming
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #term: Term | undefined
  /** The Lease as this process wrote it last; undefined if it has to be read. */
  #written: Lease | undefined
  /** Renewal times that the Lease may contain: the last acknowledged one, and those sent since. */
  #sent: readonly string[] = []
  #observed: { readonly spec: string; readonly atMs: number } | undefined

  /** Starts competing at once. */
  constructor(deps: ElectorDeps, candidate: LeaseCandidate) {
    this.#deps = deps
    this.#candidate = candidate
    this.#timing = candidate.timing
    this.#running = this.#run()
  }

  /** Whether this process certainly leads at this moment. */
  isLeader(): boolean {
    return this.#term?.isValid() ?? false
  }

  /** Ends the term and releases the Lease for others. No fenced write of this process may still be in flight. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
    const led = this.isLeader()
    this.#term?.[Symbol.dispose]()
    if (led && this.#written) await this.#try((signal) => this.#release(signal))
  }

  async #run() {
    const { clock, random } = this.#deps
    while (!this.#stop.signal.aborted) {
      await this.#try((signal) => this.#acquireOrRenew(signal))
      await pause(clock, this.#timing.retryMs * (1 + jitter * random()), this.#stop.signal)
    }
  }

  /** Runs one attempt, for at most half of `renewDeadlineMs`. */
  async #try(step: (signal: AbortSignal) => Promise<void>) {
    const limit = new AbortController()
    using _timer = this.#deps.clock.after(this.#timing.renewDeadlineMs / 2, () => limit.abort())
    try {
      await step(limit.signal)
    } catch (thrown) {
      this.#written = undefined
      const outcome = outcomeOf(thrown)
      if (outcome !== 'conflict' && outcome !== 'already-exists') this.#deps.failed(toAppError(thrown))
    }
  }

  async #acquireOrRenew(signal: AbortSignal) {
    const lease = this.#written ?? (await this.#read(signal))
    if (lease && !this.#mayTake(lease.spec ?? {})) {
      this.#term?.[Symbol.dispose]()
      return
    }
    // Counted from before the request: no candidate can have observed the renewal earlier.
    const sentAtMs = this.#deps.clock.nowMs()
    const spec = this.#specAfter(lease?.spec)
    this.#sent = [...this.#sent, spec.renewTime].slice(-sentMax)
    this.#written = await this.#write(lease, spec, signal)
    this.#sent = [spec.renewTime]
    this.#lead(sentAtMs + this.#timing.renewDeadlineMs)
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await this.#deps.api.get<Lease>(this.#ref(), signal)
    } catch (thrown) {
      if (outcomeOf(thrown) === 'not-found') return undefined
      throw thrown
    }
  }

  #mayTake(spec: LeaseSpec): boolean {
    const { holderIdentity = '', leaseDurationSeconds = 0 } = spec
    const now = this.#deps.clock.nowMs()
    const current = JSON.stringify(spec)
    if (this.#observed?.spec !== current) this.#observed = { spec: current, atMs: now }
    if (holderIdentity === '') return true
    // An older state of our own Lease proves nothing: another candidate may have taken it since.
    const isMine = holderIdentity === this.#candidate.identity
    if (isMine && (this.isLeader() || this.#sent.includes(spec.renewTime ?? ''))) return true
    return now - this.#observed.atMs > leaseDurationSeconds * 1000
  }

  #specAfter(spec: LeaseSpec = {}): LeaseSpec & { readonly renewTime: string } {
    const now = microTime(this.#deps.clock.date())
    const isMine = spec.holderIdentity === this.#candidate.identity
    return {
      holderIdentity: this.#candidate.identity,
      leaseDurationSeconds: Math.ceil(this.#timing.leaseMs / 1000),
      acquireTime: isMine ? (spec.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (spec.leaseTransitions ?? 0) + (isMine || spec.holderIdentity === undefined ? 0 : 1),
    }
  }

  #write(before: Lease | undefined, spec: LeaseSpec, signal: AbortSignal): Promise<Lease> {
    const { namespace, name } = this.#candidate
    if (!before) {
      const { apiVersion, kind } = leases
      const lease = { apiVersion, kind, metadata: { name, namespace }, spec }
      return this.#deps.api.create<Lease>(this.#ref(), lease, { fieldManager: fieldOwner, signal })
    }
    // The API server rejects a patch whose version is not the object's.
    const body = { metadata: { resourceVersion: before.metadata?.resourceVersion }, spec }
    return this.#deps.api.patch<Lease>(this.#ref(), { kind: 'merge', body, fieldManager: fieldOwner }, signal)
  }

  #lead(untilMs: number) {
    const { clock, began, ended } = this.#deps
    if (clock.nowMs() >= untilMs) return
    if (this.#term?.isValid()) {
      this.#term.extend(untilMs)
      return
    }
    this.#term?.[Symbol.dispose]()
    this.#term = new Term(clock, untilMs)
    this.#term.signal.addEventListener('abort', ended)
    began(this.#term)
  }

  async #release(signal: AbortSignal) {
    const renewTime = microTime(this.#deps.clock.date())
    const spec = { ...this.#written?.spec, renewTime, holderIdentity: '', leaseDurationSeconds: 1 }
    await this.#write(this.#written, spec, signal)
  }

  #ref() {
    return { resource: leases, namespace: this.#candidate.namespace, name: this.#candidate.name }
  }
}
