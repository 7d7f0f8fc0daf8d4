import { jobs, type ObservedJob, trimJob } from '#controller/operator/watch/observed-job.ts'
import { type KubeApi, listPages } from '#shared/kube/client.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { fieldOwner } from '#shared/kube/names.ts'
import { createThrottle, type Throttle } from '#controller/kube/throttle.ts'
import type { JobManifest } from '#controller/operator/manifests/job.ts'

/** Dependencies of the requests. */
export type JobRequestsDeps = { readonly api: Pick<KubeApi, 'list' | 'create' | 'patch'>; readonly now: () => number }

/** The namespace and the labels of the requested Jobs. */
export type JobScope = { readonly namespace: string; readonly labelSelector: string }

const requestMs = 3000

/** Requests for the Jobs of one namespace, each with a timeout of 3 s. Dispose waits for those in flight. */
export class JobRequests implements AsyncDisposable {
  readonly #deps: JobRequestsDeps
  readonly #scope: JobScope
  readonly #throttle: Throttle
  readonly #inFlight = new Set<Promise<unknown>>()
  /** Whether this is disposed. */
  isClosed = false

  constructor(deps: JobRequestsDeps, scope: JobScope) {
    this.#deps = deps
    this.#scope = scope
    this.#throttle = createThrottle(deps.now)
  }

  /** Whether the API server throttles, so that no request may be sent. */
  isThrottled(): boolean {
    return this.#throttle.isActive()
  }

  /** Counts work as in flight until it ends. Rethrows its error, and throttles further requests if it is a 429. */
  async track(work: Promise<unknown>): Promise<void> {
    this.#inFlight.add(work)
    try {
      await work
    } catch (thrown) {
      this.#throttle.observe(thrown)
      throw thrown
    } finally {
      this.#inFlight.delete(work)
    }
  }

  /** Creates a Job. */
  async create(manifest: JobManifest): Promise<void> {
    const collection = { resource: jobs, namespace: this.#scope.namespace }
    await this.#deps.api.create(collection, manifest, {
      fieldManager: fieldOwner,
      signal: AbortSignal.timeout(requestMs),
    })
  }

  /** Patches a Job; a missing Job is no error. */
  async patch(name: string, body: object): Promise<void> {
    const ref = { resource: jobs, namespace: this.#scope.namespace, name }
    try {
      const patch = { kind: 'merge', body, fieldManager: fieldOwner } as const
      await this.#deps.api.patch(ref, patch, AbortSignal.timeout(requestMs))
    } catch (thrown) {
      if (outcomeOf(thrown) !== 'not-found') throw thrown
    }
  }

  /** Lists all Jobs directly from the API server, page by page. Throws `invalid` above 100,000. */
  async list(take: (job: ObservedJob) => void): Promise<void> {
    const collection = { resource: jobs, ...this.#scope }
    for await (const { items } of listPages<ObservedJob>(this.#deps.api, collection, () =>
      AbortSignal.timeout(requestMs),
    ))
      for (const job of items) take(trimJob(job))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true
    await Promise.allSettled(this.#inFlight)
  }
}
