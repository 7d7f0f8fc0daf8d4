import type { Lister } from '#controller/operator/watch/informers.ts'
import { claimOf, endOf, jobNameLabel, type ObservedJob } from '#controller/operator/watch/observed-job.ts'
import type { ObservedPod } from '#controller/operator/watch/observed-pod.ts'
import type { JobList, JobRunner } from '#controller/proxied/job-runner.ts'
import { KubeError } from '#shared/kube/kube-error.ts'
import { captureLabel } from '#shared/kube/names.ts'
import type { Change } from '#controller/kube/object-cache.ts'
import { JobCreations, type JobCreationsDeps } from './job-creations.ts'
import { JobRecords, type JobRecordsDeps } from './job-records.ts'
import { JobRequests, type JobRequestsDeps, type JobScope } from './job-requests.ts'

/** Dependencies of `KubernetesJobs`. */
export type KubernetesJobsDeps = JobRequestsDeps &
  JobRecordsDeps &
  JobCreationsDeps & {
    /** All Jobs and pods of the controller in the namespace of the Jobs. */
    readonly jobs: Lister<ObservedJob>
    readonly pods: Lister<ObservedPod>
  }

/** Milliseconds without a watch after which an informer is stale. */
const downMsMax = 5000

/** Runs single-use workers as Jobs, for one term. Every call is idempotent. Sends nothing while the API server throttles. */
export class KubernetesJobs implements JobRunner, AsyncDisposable {
  readonly #deps: KubernetesJobsDeps
  readonly #namespace: string
  readonly #requests: JobRequests
  readonly #records: JobRecords
  readonly #creations: JobCreations
  #firstList: Promise<void> | undefined

  constructor(deps: KubernetesJobsDeps, scope: JobScope) {
    this.#deps = deps
    this.#namespace = scope.namespace
    this.#requests = new JobRequests(deps, scope)
    this.#records = new JobRecords(deps)
    const isObserved = (name: string) => this.#isObserved(name)
    this.#creations = new JobCreations(deps, { records: this.#records, requests: this.#requests, isObserved })
    for (const job of deps.jobs.all()) if (!endOf(job)) this.#records.follow(job)
  }

  /** Updates the records after a change of a Job. */
  readonly changed = (change: Change<ObservedJob>): void => {
    this.#creations.observed(change.object.metadata.name)
    this.#records.changed(change)
  }

  async list(): Promise<JobList> {
    await this.#listFromServer()
    for (const lister of [this.#deps.jobs, this.#deps.pods]) {
      if (lister.hasSynced && lister.downMs() <= downMsMax) continue
      throw new KubeError('unavailable', { message: 'Jobs and their pods are unknown: no watch of the API server' })
    }
    const pods = new Map(this.#deps.pods.all().map((pod) => [pod.metadata.labels?.[jobNameLabel], pod]))
    const { open = [], succeeded = [] } = Object.groupBy(this.#deps.jobs.all(), (job) => endOf(job) ?? 'open')
    const listed = this.#records.list(open, pods)
    const pending = this.#creations.pending()
    this.#records.keep((name) => pending.has(name) || this.#isObserved(name))
    const unobserved = [...pending].filter((name) => !this.#isObserved(name))
    return {
      jobs: [...listed, ...unobserved.flatMap((name) => this.#records.listUnobserved(name) ?? [])],
      unclaimed: succeeded.flatMap((job) => {
        const { name } = job.metadata
        return claimOf(job) === undefined && this.#records.claimOf(name) === undefined ? [{ name }] : []
      }),
      ...this.#records.failures(),
    }
  }

  create(count: number): Promise<void> {
    return this.#creations.create(count)
  }

  async claim(name: string, captureId: string): Promise<void> {
    if (this.#requests.isThrottled()) return
    const before = this.#records.claimOf(name)
    if (before === captureId || !(this.#records.get(name) || this.#isObserved(name))) return
    // Prevents a second write before the informer shows the claim.
    this.#records.setClaim(name, captureId)
    try {
      const body = { metadata: { labels: { [captureLabel]: captureId } } }
      await this.#requests.track(this.#requests.patch(name, body))
      this.#deps.notice({ kind: 'claimed', job: name })
    } catch (thrown) {
      this.#records.setClaim(name, before)
      throw thrown
    }
  }

  async giveUp(name: string): Promise<void> {
    const record = this.#records.get(name)
    if (!record || record.isGivenUp || this.#requests.isThrottled()) return
    record.isGivenUp = true
    try {
      // The deadline is in the past: the Job fails with DeadlineExceeded and can still be inspected. A worker that has started
      // meanwhile finishes its capture.
      await this.#requests.track(this.#requests.patch(name, { spec: { activeDeadlineSeconds: 1 } }))
      this.#deps.notice({ kind: 'given-up', job: name })
    } catch (thrown) {
      record.isGivenUp = false
      throw thrown
    }
  }

  /** Waits for the requests in flight, each of which ends within 3 s. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#requests[Symbol.asyncDispose]()
  }

  /**
   * Lists the Jobs directly from the API server, once: the informer may lack the last Jobs of the previous leader. Lists again
   * if the informer lacks created Jobs, because its watch may be dead.
   */
  async #listFromServer() {
    if (this.#creations.isOverdue()) this.#firstList = undefined
    if (!this.#firstList && this.#requests.isThrottled()) {
      throw new KubeError('too-many-requests', { message: 'Jobs are unknown: the API server throttles requests' })
    }
    const take = (job: ObservedJob) => {
      const { name } = job.metadata
      if (endOf(job) || this.#isObserved(name)) return
      this.#records.follow(job)
      this.#creations.found(name)
    }
    this.#firstList ??= this.#requests.track(this.#requests.list(take))
    await this.#firstList.catch((thrown: unknown) => {
      this.#firstList = undefined
      throw thrown
    })
  }

  #isObserved(name: string): boolean {
    return this.#deps.jobs.get(`${this.#namespace}/${name}`) !== undefined
  }
}
