import type { Trouble } from '#controller/pool.ts'
import type { JobNotice, JobRoster, JobRunner, PlacedJob } from '#controller/proxied/job-runner.ts'
import type { JobTrouble } from '#controller/proxied/proxied.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import { KubeError, type Outcome, outcomeOf } from '#shared/kube/kube-error.ts'
import { captureLabel, fieldOwner } from '#shared/kube/names.ts'
import type { Change } from '#shared/kube/object-cache.ts'
import { createQuiet, type Quiet } from '#shared/kube/quiet.ts'
import type { Reflector } from '#shared/kube/reflector.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import type { JobManifest } from '#controller/operator/manifests/job.ts'
import {
  claimOf,
  endOf,
  jobNameLabel,
  jobs,
  revisionOf,
  type SeenJobObject,
  trimJob,
  wasDisrupted,
} from '#controller/operator/watch/observed-job.ts'
import { hasEnded, isStopping, type SeenPod } from '#controller/operator/watch/observed-pod.ts'
import type { PodTrouble } from '#controller/operator/pods/pod-trouble.ts'

/** What a reflector holds, as far as it is looked at here. */
export type Mirror<T extends KubeObject> = Pick<Reflector<T>, 'all' | 'get' | 'hasSynced' | 'downMs'>

/** What Jobs are run with. */
export type KubernetesJobsDeps = {
  readonly api: Pick<KubeApi, 'list' | 'create' | 'patch'>
  /** All Jobs and pods of the controller in the namespace of the Jobs. */
  readonly jobs: Mirror<SeenJobObject>
  readonly pods: Mirror<SeenPod>
  readonly now: () => number
  /** What keeps a pod from coming up. */
  readonly troubleOf: (pod: SeenPod) => PodTrouble | undefined
  /** Whether the worker of a Job was heard to claim a capture. */
  readonly hasClaimed: (job: string) => boolean
  /** A name that no Job ever had. */
  readonly newName: () => string
  /** A Job as it is to be at this moment. */
  readonly manifest: (name: string) => JobManifest
  readonly notice: (notice: JobNotice) => void
}

/** What is known of a Job that has not ended, beside what the copy of it says. */
type Known = {
  /** When it was first known here. */
  readonly sinceMs: number
  readonly revision: string
  /** Why its worker could not come up when it was last looked at, and since when. */
  trouble?: JobTrouble & { readonly sinceMs: number }
  isGivenUp?: boolean
  /** Whether its pod was seen. */
  hasPod?: boolean
}

/** That a Job got its pod: since when the Job was known, and when that was seen. */
type PodMade = { readonly sinceMs: number; readonly atMs: number }

/** A copy without a watch for longer is no knowledge. */
const downMaxMs = 5000
/** What was made counts although the copy does not show it, for this long. */
const unseenMs = 30_000
/**
 * A Job's pod is made at once, unless something refuses it, or many Jobs wait for theirs: a Job controller makes twenty a second
 * by default, roughly in the order of the Jobs.
 */
const podMs = 10_000
const requestMs = 3000
const requestsAtOnce = 8
const pageItems = 500
const pagesMax = 200

/** Outcomes of a creation after which the Job is certainly not there, and will not be if it is asked for again. */
const refusals: Partial<Record<Outcome, Trouble>> = {
  quota: 'quota',
  forbidden: 'config-error',
  invalid: 'config-error',
  'not-found': 'config-error',
}

const crashed: JobTrouble = { why: 'crash-looping', message: 'a worker ended before it took a capture' }
const withoutPod: JobTrouble = { why: 'pods-refused', message: `no pod was made for a Job within ${podMs / 1000} s` }

/** As long as Jobs before it get their pods, a Job is not the next one: its own is still to come. */
const troubleOfMissing = (ageMs: number, isNext: boolean): JobTrouble | undefined =>
  isNext && ageMs > podMs ? withoutPod : undefined

const jobTrouble = (found: PodTrouble | undefined): JobTrouble | undefined =>
  found && { why: found.trouble, message: found.message }

const workerOf = (pod: SeenPod | undefined): Pick<PlacedJob, 'worker'> => {
  if (!pod || !(hasEnded(pod) || isStopping(pod))) return {}
  return { worker: hasEnded(pod) ? 'ended' : 'stopping' }
}

/**
 * Runs single-use workers as Jobs, for one term of leading. What it does is idempotent by the Jobs' names: they are made
 * before the request, and asked for again where an answer is lost. When the server asks for quiet, it sends nothing.
 */
export class KubernetesJobs implements JobRunner {
  readonly #deps: KubernetesJobsDeps
  readonly #namespace: string
  readonly #labelSelector: string
  readonly #known = new Map<string, Known>()
  /** Claims that were shown, or are about to be, of Jobs that can be looked at. */
  readonly #claims = new Map<string, string>()
  /** Names that are asked for at this moment, that were made, and of which nobody knows whether they were; since when. */
  readonly #asked = new Set<string>()
  readonly #made = new Map<string, number>()
  readonly #unanswered = new Map<string, number>()
  /** Of the last ten seconds. */
  #podsMade: PodMade[] = []
  readonly #requests = new Set<Promise<unknown>>()
  readonly #quiet: Quiet
  #firstRead: Promise<void> | undefined
  #isCreating = false
  #isOver = false
  #failed = 0
  #last: JobTrouble | undefined

  constructor(deps: KubernetesJobsDeps, of: { readonly namespace: string; readonly labelSelector: string }) {
    this.#deps = deps
    this.#namespace = of.namespace
    this.#labelSelector = of.labelSelector
    this.#quiet = createQuiet(deps.now)
    for (const job of deps.jobs.all()) if (!endOf(job)) this.#know(job)
  }

  /** Takes a change of a Job, at once. */
  readonly changed = ({ kind, object }: Change<SeenJobObject>): void => {
    const { name } = object.metadata
    this.#made.delete(name)
    this.#unanswered.delete(name)
    this.#learnClaim(object)
    const end = endOf(object) ?? (kind === 'deleted' ? 'vanished' : undefined)
    if (end) this.#end(name, end === 'failed' && wasDisrupted(object) ? 'vanished' : end)
    else this.#know(object)
    if (kind === 'deleted') this.#claims.delete(name)
  }

  async list(): Promise<JobRoster> {
    // What was made and is still not shown is looked for on the server before it is forgotten: the watch may be dead.
    const oldestMs = Math.min(...this.#made.values())
    if (this.#deps.now() - oldestMs > unseenMs) this.#firstRead = undefined
    if (!this.#firstRead && this.#quiet.isAsked()) {
      throw new KubeError('too-many-requests', { message: 'Jobs are not known: the API server has asked for quiet' })
    }
    this.#firstRead ??= this.#tracked(this.#readAll())
    await this.#firstRead.catch((thrown: unknown) => {
      this.#firstRead = undefined
      throw thrown
    })
    for (const copy of [this.#deps.jobs, this.#deps.pods]) {
      if (!copy.hasSynced || copy.downMs() > downMaxMs) {
        throw new KubeError('unavailable', { message: 'Jobs and their pods are not known: no watch stands' })
      }
    }
    const pods = new Map(this.#deps.pods.all().map((pod) => [pod.metadata.labels?.[jobNameLabel], pod]))
    const { open = [], succeeded = [] } = Object.groupBy(this.#deps.jobs.all(), (job) => endOf(job) ?? 'open')
    for (const job of open) if (pods.has(job.metadata.name)) this.#noticePod(this.#know(job))
    this.#podsMade = this.#podsMade.filter(({ atMs }) => this.#deps.now() - atMs <= podMs)
    const turnMs = Math.min(...this.#podsMade.map(({ sinceMs }) => sinceMs))
    const unseen = this.#unseen()
    return {
      jobs: [...open.map((job) => this.#place(job, pods.get(job.metadata.name), turnMs)), ...unseen],
      unclaimed: succeeded.flatMap((job) => {
        const { name } = job.metadata
        return claimOf(job) === undefined && !this.#claims.has(name) ? [{ name }] : []
      }),
      failed: this.#failed,
      last: this.#last,
    }
  }

  async create(count: number): Promise<void> {
    // A call may last longer than a tick. What it has not asked for yet counts nowhere, and would be made twice.
    if (this.#isCreating || this.#quiet.isAsked()) return
    this.#isCreating = true
    const names = [...this.#lately(this.#unanswered), ...Array.from({ length: count }, () => this.#deps.newName())]
    const left = names.values()
    const maker = async () => {
      for (const name of left) {
        if (!this.#isOver && !this.#quiet.isAsked()) await this.#tracked(this.#createOne(name))
      }
    }
    const ends = await Promise.allSettled(Array.from({ length: Math.min(requestsAtOnce, names.length) }, maker))
    this.#isCreating = false
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async claim(name: string, captureId: string): Promise<void> {
    if (this.#quiet.isAsked()) return
    const before = this.#claims.get(name)
    if (before === captureId || !(this.#known.has(name) || this.#isSeen(name))) return
    // Until the copy shows it, this is what keeps it from being written twice.
    this.#claims.set(name, captureId)
    try {
      await this.#tracked(this.#patch(name, { metadata: { labels: { [captureLabel]: captureId } } }))
      this.#deps.notice({ kind: 'claimed', job: name })
    } catch (thrown) {
      if (before === undefined) this.#claims.delete(name)
      else this.#claims.set(name, before)
      throw thrown
    }
  }

  async giveUp(name: string): Promise<void> {
    const known = this.#known.get(name)
    if (!known || known.isGivenUp || this.#quiet.isAsked()) return
    known.isGivenUp = true
    try {
      // A deadline in the past: it ends as if it had waited in vain, and can be looked at. A worker that came up after all
      // finishes what it took.
      await this.#tracked(this.#patch(name, { spec: { activeDeadlineSeconds: 1 } }))
      this.#deps.notice({ kind: 'given-up', job: name })
    } catch (thrown) {
      known.isGivenUp = false
      throw thrown
    }
  }

  /** Waits for the requests that are on their way, each of which ends within three seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await Promise.allSettled(this.#requests)
  }

  /** Reads all Jobs from the server itself: those that a predecessor made at last may be missing in the copy. */
  async #readAll() {
    const of = { resource: jobs, namespace: this.#namespace }
    let continueAt: string | undefined
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const query = {
        labelSelector: this.#labelSelector,
        limit: pageItems,
        ...(continueAt !== undefined && { continueAt }),
      }
      const page = await this.#deps.api.list<SeenJobObject>(of, query, AbortSignal.timeout(requestMs))
      for (const job of page.items.map(trimJob)) {
        if (endOf(job) || this.#isSeen(job.metadata.name)) continue
        this.#know(job)
        this.#made.set(job.metadata.name, this.#deps.now())
      }
      continueAt = page.continueAt
      if (continueAt === undefined) return
    }
    throw new KubeError('invalid', { message: `more than ${pagesMax * pageItems} Jobs` })
  }

  #know(job: SeenJobObject): Known {
    const { name } = job.metadata
    const known = this.#known.get(name) ?? { sinceMs: this.#deps.now(), revision: revisionOf(job) }
    this.#known.set(name, known)
    this.#learnClaim(job)
    return known
  }

  #learnClaim(job: SeenJobObject) {
    const captureId = claimOf(job)
    if (captureId !== undefined) this.#claims.set(job.metadata.name, captureId)
  }

  #end(name: string, how: 'succeeded' | 'failed' | 'vanished') {
    const known = this.#known.get(name)
    if (!known) return
    this.#known.delete(name)
    if (how === 'succeeded') this.#noticePod(known)
    this.#deps.notice({ kind: 'ended', job: name, how })
    if (how !== 'failed' || this.#claims.has(name) || this.#deps.hasClaimed(name) || known.isGivenUp) return
    this.#failed += 1
    const { why, message } = known.trouble ?? crashed
    this.#last = { why, message }
  }

  #noticePod(known: Known) {
    if (known.hasPod) return
    known.hasPod = true
    this.#podsMade.push({ sinceMs: known.sinceMs, atMs: this.#deps.now() })
  }

  /** `turnMs`: since when the oldest Job was known that has lately got its pod. */
  #place(job: SeenJobObject, pod: SeenPod | undefined, turnMs: number): PlacedJob {
    const known = this.#know(job)
    const nowMs = this.#deps.now()
    const ageMs = nowMs - known.sinceMs
    const { name } = job.metadata
    const captureId = this.#claims.get(name)
    const trouble = pod ? jobTrouble(this.#deps.troubleOf(pod)) : troubleOfMissing(ageMs, known.sinceMs < turnMs)
    if (!trouble) delete known.trouble
    else known.trouble = { ...trouble, sinceMs: known.trouble?.sinceMs ?? nowMs }
    return {
      name,
      ageMs,
      revision: known.revision,
      ...(captureId !== undefined && { captureId }),
      ...(trouble && { trouble: { ...trouble, forMs: nowMs - (known.trouble?.sinceMs ?? nowMs) } }),
      ...workerOf(pod),
    }
  }

  /** What was made or may have been, and what the copy does not show. */
  #unseen(): PlacedJob[] {
    const names = new Set([...this.#asked, ...this.#lately(this.#made), ...this.#lately(this.#unanswered)])
    for (const name of this.#known.keys()) {
      if (!names.has(name) && !this.#isSeen(name)) this.#known.delete(name)
    }
    return [...names].flatMap((name) => {
      const known = this.#known.get(name)
      if (!known || this.#isSeen(name)) return []
      return [{ name, ageMs: this.#deps.now() - known.sinceMs, revision: known.revision }]
    })
  }

  #isSeen(name: string): boolean {
    return this.#deps.jobs.get(`${this.#namespace}/${name}`) !== undefined
  }

  /** Names of the last half a minute; older ones are forgotten. */
  #lately(names: Map<string, number>): string[] {
    for (const [name, sinceMs] of names) if (this.#deps.now() - sinceMs > unseenMs) names.delete(name)
    return [...names.keys()]
  }

  async #createOne(name: string) {
    const { api, now, manifest } = this.#deps
    const wanted = manifest(name)
    const unansweredMs = this.#unanswered.get(name)
    this.#unanswered.delete(name)
    this.#asked.add(name)
    this.#know(trimJob(wanted))
    try {
      const of = { resource: jobs, namespace: this.#namespace }
      await api.create(of, wanted, { fieldManager: fieldOwner, signal: AbortSignal.timeout(requestMs) })
      this.#isMade(name)
    } catch (thrown) {
      const outcome = outcomeOf(thrown)
      // A try before this one had been done.
      if (outcome === 'already-exists') return this.#isMade(name)
      if (outcome === 'unavailable') this.#unanswered.set(name, now())
      // A refusal says nothing of the try before it.
      else if (unansweredMs !== undefined) this.#unanswered.set(name, unansweredMs)
      const why = outcome && refusals[outcome]
      if (why) this.#refuse({ why, message: toAppError(thrown).message })
      throw thrown
    } finally {
      this.#asked.delete(name)
    }
  }

  #refuse(trouble: JobTrouble) {
    this.#failed += 1
    this.#last = trouble
    this.#deps.notice({ kind: 'refused', ...trouble })
  }

  #isMade(name: string) {
    if (!this.#isSeen(name)) this.#made.set(name, this.#deps.now())
    this.#deps.notice({ kind: 'created', job: name })
  }

  async #patch(name: string, body: object) {
    const ref = { resource: jobs, namespace: this.#namespace, name }
    try {
      const patch = { kind: 'merge', body, fieldManager: fieldOwner } as const
      await this.#deps.api.patch(ref, patch, AbortSignal.timeout(requestMs))
    } catch (thrown) {
      if (outcomeOf(thrown) !== 'not-found') throw thrown
    }
  }

  /** Remembers a request while it is on its way, and heeds what the server says. */
  async #tracked(request: Promise<unknown>): Promise<void> {
    this.#requests.add(request)
    try {
      await request
    } catch (thrown) {
      this.#quiet.heed(thrown)
      throw thrown
    } finally {
      this.#requests.delete(request)
    }
  }
}
