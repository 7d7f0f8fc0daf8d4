import type { JobManifest } from '#controller/operator/manifests/job.ts'
import { trimJob } from '#controller/operator/watch/observed-job.ts'
import type { Trouble } from '#controller/pool.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import { type Outcome, outcomeOf } from '#shared/kube/kube-error.ts'
import type { JobRecords, JobRecordsDeps } from './job-records.ts'
import type { JobRequests } from './job-requests.ts'

/** What Jobs are created with. */
export type JobCreationsDeps = Pick<JobRecordsDeps, 'now' | 'notice'> & {
  /** A name that no Job ever had. */
  readonly newName: () => string
  /** The manifest of a Job of this name at this moment. */
  readonly manifest: (name: string) => JobManifest
}

type Parts = {
  readonly records: JobRecords
  readonly requests: JobRequests
  /** Whether the informer shows the Job. */
  readonly isSeen: (name: string) => boolean
}

/** A created Job counts although the informer does not show it, for this long. */
const unseenMs = 30_000
const requestsAtOnce = 8

/** Outcomes of a creation after which the Job certainly does not exist, and will not on a retry. */
const refusals: Partial<Record<Outcome, Trouble>> = {
  quota: 'quota',
  forbidden: 'config-error',
  invalid: 'config-error',
  'not-found': 'config-error',
}

/** Creations that the informer does not show yet. Names are chosen before the request, so a lost answer is retried safely. */
export class JobCreations {
  readonly #deps: JobCreationsDeps
  readonly #parts: Parts
  /** Names in flight, names that were created, and names of which the answer was lost; since when. */
  readonly #inFlight = new Set<string>()
  readonly #created = new Map<string, number>()
  readonly #unanswered = new Map<string, number>()
  #isCreating = false

  constructor(deps: JobCreationsDeps, parts: Parts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Creates as many Jobs, and retries those of which the answer was lost. Throws the first failure. */
  async create(count: number): Promise<void> {
    const { requests } = this.#parts
    // A call may last longer than a tick. Names that it has not requested yet count nowhere, and would be created twice.
    if (this.#isCreating || requests.isThrottled()) return
    this.#isCreating = true
    const names = [...this.#recent(this.#unanswered), ...Array.from({ length: count }, () => this.#deps.newName())]
    const left = names.values()
    const creator = async () => {
      for (const name of left) {
        if (!requests.isClosed && !requests.isThrottled()) await requests.track(this.#createOne(name))
      }
    }
    const ends = await Promise.allSettled(Array.from({ length: Math.min(requestsAtOnce, names.length) }, creator))
    this.#isCreating = false
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  /** Takes a Job that exists and that the informer does not show. */
  found(name: string): void {
    this.#created.set(name, this.#deps.now())
  }

  /** The informer shows the Job. */
  seen(name: string): void {
    this.#created.delete(name)
    this.#unanswered.delete(name)
  }

  /** Whether the informer has not shown a created Job for so long that its watch may be dead. */
  isOverdue(): boolean {
    return this.#deps.now() - Math.min(...this.#created.values()) > unseenMs
  }

  /** Names that were created or may have been. */
  pending(): ReadonlySet<string> {
    return new Set([...this.#inFlight, ...this.#recent(this.#created), ...this.#recent(this.#unanswered)])
  }

  /** Names of the last half a minute; older ones are forgotten. */
  #recent(names: Map<string, number>): string[] {
    for (const [name, sinceMs] of names) if (this.#deps.now() - sinceMs > unseenMs) names.delete(name)
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
      // The try before this one had succeeded.
      if (outcome === 'already-exists') return this.#isCreated(name)
      if (outcome === 'unavailable') this.#unanswered.set(name, this.#deps.now())
      // A refusal proves nothing about the try before it.
      else if (unansweredMs !== undefined) this.#unanswered.set(name, unansweredMs)
      const why = outcome && refusals[outcome]
      if (why) records.refused({ why, message: toAppError(thrown).message })
      throw thrown
    } finally {
      this.#inFlight.delete(name)
    }
  }

  #isCreated(name: string) {
    if (!this.#parts.isSeen(name)) this.found(name)
    this.#deps.notice({ kind: 'created', job: name })
  }
}
