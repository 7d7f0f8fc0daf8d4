import type { JobManifest } from '#controller/operator/manifests/job.ts'
import { trimJob } from '#controller/operator/watch/observed-job.ts'
import type { Trouble } from '#controller/decide/pool.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import { type Outcome, outcomeOf } from '#shared/kube/kube-error.ts'
import type { JobRecords, JobRecordsDeps } from './job-records.ts'
import type { JobRequests } from './job-requests.ts'

/** Dependencies of the creations. */
export type JobCreationsDeps = Pick<JobRecordsDeps, 'now' | 'notice'> & {
  /** A name that no Job ever had. */
  readonly newName: () => string
  /** The current manifest of a Job of this name. */
  readonly manifest: (name: string) => JobManifest
}

type Parts = {
  readonly records: JobRecords
  readonly requests: JobRequests
  /** Whether the informer shows the Job. */
  readonly isObserved: (name: string) => boolean
}

/** Milliseconds for which a created Job counts while the informer does not show it. */
const unobservedMs = 30_000
const requestsAtOnce = 8

/** Outcomes of a creation after which the Job certainly does not exist, and will not on a retry. */
const refusals: Partial<Record<Outcome, Trouble>> = {
  quota: 'quota',
  forbidden: 'config-error',
  invalid: 'config-error',
  'not-found': 'config-error',
}

/** Creations that the informer does not show yet. Names are chosen before the request, so a lost response is retried safely. */
export class JobCreations {
  readonly #deps: JobCreationsDeps
  readonly #parts: Parts
  /** Names in flight; names that were created, and names whose response was lost, with the time. */
  readonly #inFlight = new Set<string>()
  readonly #created = new Map<string, number>()
  readonly #unanswered = new Map<string, number>()
  #isCreating = false

  constructor(deps: JobCreationsDeps, parts: Parts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Creates `count` Jobs, and retries those whose response was lost. Throws the first failure. */
  async create(count: number): Promise<void> {
    const { requests } = this.#parts
    // A call may outlast a tick. Jobs that it has not requested yet are not listed, so a second call would add them again.
    if (this.#isCreating || requests.isThrottled()) return
    this.#isCreating = true
    const names = [...this.#recent(this.#unanswered), ...Array.from({ length: count }, () => this.#deps.newName())]
    const remaining = names.values()
    const creator = async () => {
      for (const name of remaining) {
        if (!requests.isClosed && !requests.isThrottled()) await requests.track(this.#createOne(name))
      }
    }
    const ends = await Promise.allSettled(Array.from({ length: Math.min(requestsAtOnce, names.length) }, creator))
    this.#isCreating = false
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  /** Adds a Job that exists but is not in the informer. */
  found(name: string): void {
    this.#created.set(name, this.#deps.now())
  }

  /** To be called when the informer shows the Job. */
  observed(name: string): void {
    this.#created.delete(name)
    this.#unanswered.delete(name)
  }

  /** Whether the informer has lacked a created Job for 30 s, so that its watch may be dead. */
  isOverdue(): boolean {
    return this.#deps.now() - Math.min(...this.#created.values()) > unobservedMs
  }

  /** Names of Jobs that were created or may have been. */
  pending(): ReadonlySet<string> {
    return new Set([...this.#inFlight, ...this.#recent(this.#created), ...this.#recent(this.#unanswered)])
  }

  /** Returns the names of the last 30 s, and removes older ones. */
  #recent(names: Map<string, number>): string[] {
    for (const [name, sinceMs] of names) if (this.#deps.now() - sinceMs > unobservedMs) names.delete(name)
    return [...names.keys()]
  }

  async #createOne(name: string) {
    const { records, requests } = this.#parts
    const manifest = this.#deps.manifest(name)
    const unansweredMs = this.#unanswered.get(name)
    this.#unanswered.delete(name)
    this.#inFlight.add(name)
    records.follow(trimJob(manifest))
    try {
      await requests.create(manifest)
      this.#isCreated(name)
    } catch (thrown) {
      const outcome = outcomeOf(thrown)
      // The previous attempt had succeeded.
      if (outcome === 'already-exists') return this.#isCreated(name)
      if (outcome === 'unavailable') this.#unanswered.set(name, this.#deps.now())
      // A refusal does not mean that the previous attempt failed.
      else if (unansweredMs !== undefined) this.#unanswered.set(name, unansweredMs)
      const reason = outcome && refusals[outcome]
      if (reason) records.refused({ reason, message: toAppError(thrown).message })
      throw thrown
    } finally {
      this.#inFlight.delete(name)
    }
  }

  #isCreated(name: string) {
    if (!this.#parts.isObserved(name)) this.found(name)
    this.#deps.notice({ kind: 'created', job: name })
  }
}
