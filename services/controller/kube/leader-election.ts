import { type AppError, toAppError } from '#shared/errors/app-error.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import { type Clock, microTime, pause } from './clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { fieldOwner } from '#shared/kube/names.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { Term } from './term.ts'

/** Milliseconds. Others wait `leaseMs` after the last renewal they saw; who leads stops `renewDeadlineMs` after its last. */
type ElectionTiming = { readonly leaseMs: number; readonly renewDeadlineMs: number; readonly retryMs: number }

/** Which Lease is held, and by whom: `identity` must be another for each process that ever runs. */
type Candidacy = {
  readonly namespace: string
  readonly name: string
  readonly identity: string
  readonly timing: ElectionTiming
}

/** What an elector works with; `random` answers from 0 to below 1. */
type ElectorDeps = {
  readonly api: Pick<KubeApi, 'get' | 'create' | 'patch'>
  readonly clock: Clock
  readonly random: () => number
  readonly began: (term: Term) => void
  readonly ended: () => void
  /** A try that failed for another reason than that somebody else was faster. */
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
/** Renewals without an answer that are remembered. */
const sentMax = 100
/** Two who wait for the same Lease do not ask at the same moment. */
const jitter = 0.5

/**
 * Competes for a Lease, as Kubernetes' own controllers do. A write is refused if the Lease has changed since it was read,
 * and a holder counts as gone when its renewals have not changed for a lease's time of the clock here; clocks of
 * different machines are never compared.
 */
export class LeaderElector implements AsyncDisposable {
  readonly #deps: ElectorDeps
  readonly #of: Candidacy
  readonly #timing: ElectionTiming
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #term: Term | undefined
  /** The Lease as this process wrote it last; undefined where it has to be read. */
  #written: Lease | undefined
  /** Renewals that the Lease may show: the last that was answered, and those sent since. */
  #sent: readonly string[] = []
  #observed: { readonly spec: string; readonly atMs: number } | undefined

  /** Begins at once. */
  constructor(deps: ElectorDeps, of: Candidacy) {
    this.#deps = deps
    this.#of = of
    this.#timing = of.timing
    this.#running = this.#run()
  }

  /** Whether this process certainly leads at this moment. */
  isLeader(): boolean {
    return this.#term?.isValid() ?? false
  }

  /** Ends the term and lets the Lease go, so that another can take it at once. Nothing may be on its way any more. */
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

  /** One try, of at most half the time for which a renewal is good. */
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
    // Counted from before the request: nobody can have seen the renewal earlier.
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
    const seen = JSON.stringify(spec)
    if (this.#observed?.spec !== seen) this.#observed = { spec: seen, atMs: now }
    if (holderIdentity === '') return true
    // An own Lease of an older state says nothing: since then somebody else may have taken it.
    const isMine = holderIdentity === this.#of.identity
    if (isMine && (this.isLeader() || this.#sent.includes(spec.renewTime ?? ''))) return true
    return now - this.#observed.atMs > leaseDurationSeconds * 1000
  }

  #specAfter(spec: LeaseSpec = {}): LeaseSpec & { readonly renewTime: string } {
    const now = microTime(this.#deps.clock.date())
    const isMine = spec.holderIdentity === this.#of.identity
    return {
      holderIdentity: this.#of.identity,
      leaseDurationSeconds: Math.ceil(this.#timing.leaseMs / 1000),
      acquireTime: isMine ? (spec.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (spec.leaseTransitions ?? 0) + (isMine || spec.holderIdentity === undefined ? 0 : 1),
    }
  }

  #write(before: Lease | undefined, spec: LeaseSpec, signal: AbortSignal): Promise<Lease> {
    const { namespace, name } = this.#of
    if (!before) {
      const { apiVersion, kind } = leases
      const lease = { apiVersion, kind, metadata: { name, namespace }, spec }
      return this.#deps.api.create<Lease>(this.#ref(), lease, { fieldManager: fieldOwner, signal })
    }
    // A patch that names a version is refused where the object has another.
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
    return { resource: leases, namespace: this.#of.namespace, name: this.#of.name }
  }
}
