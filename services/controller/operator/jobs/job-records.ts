import type { PodTrouble } from '#controller/operator/pods/pod-trouble.ts'
import { claimOf, endOf, type ObservedJob, revisionOf, wasDisrupted } from '#controller/operator/watch/observed-job.ts'
import { hasEnded, isStopping, type ObservedPod } from '#controller/operator/watch/observed-pod.ts'
import type { JobList, JobNotice, ListedJob } from '#controller/proxied/job-runner.ts'
import type { JobTrouble } from '#controller/proxied/proxied.ts'
import type { Change } from '#controller/kube/object-cache.ts'

/** Dependencies of the records. */
export type JobRecordsDeps = {
  readonly now: () => number
  /** What keeps a pod from starting. */
  readonly troubleOf: (pod: ObservedPod) => PodTrouble | undefined
  /** Whether the worker of a Job has reported that it claimed a capture. */
  readonly hasClaimed: (job: string) => boolean
  readonly notice: (notice: JobNotice) => void
}

/** State of an unfinished Job, in addition to what the informer shows. */
type JobRecord = {
  /** When this process first requested or observed the Job. */
  readonly sinceMs: number
  readonly revision: string
  /** Why its worker could not start when it was last listed, and since when. */
  trouble?: JobTrouble & { readonly sinceMs: number }
  isGivenUp?: boolean
  /** Whether its pod was observed. */
  hasPod?: boolean
}

/** The creation of a Job's pod: `sinceMs` of the Job's record, and when the pod was observed. */
type PodCreated = { readonly sinceMs: number; readonly atMs: number }

/**
 * Milliseconds within which a Job gets its pod, unless the pod is refused or many Jobs wait for theirs: the Job controller
 * creates twenty a second by default, roughly in the order of the Jobs.
 */
const podMs = 10_000

const crashed: JobTrouble = { reason: 'crash-looping', message: 'a worker ended before it took a capture' }
const withoutPod: JobTrouble = {
  reason: 'pods-refused',
  message: `no pod was created for a Job within ${podMs / 1000} s`,
}

/** While older Jobs still get their pods, a Job is not next, and its pod is not overdue. */
const missingPodTrouble = (ageMs: number, isNext: boolean): JobTrouble | undefined =>
  isNext && ageMs > podMs ? withoutPod : undefined

const jobTrouble = (found: PodTrouble | undefined): JobTrouble | undefined =>
  found && { reason: found.trouble, message: found.message }

const workerOf = (pod: ObservedPod | undefined): Pick<ListedJob, 'worker'> => {
  if (!pod || !(hasEnded(pod) || isStopping(pod))) return {}
  return { worker: hasEnded(pod) ? 'ended' : 'stopping' }
}

/** Records of the Jobs that have not ended, their claims, and the failures since these records began. */
export class JobRecords {
  readonly #deps: JobRecordsDeps
  readonly #records = new Map<string, JobRecord>()
  /** Claimed capture by name of the Job, for Jobs that exist; includes writes that the informer does not show yet. */
  readonly #claims = new Map<string, string>()
  /** Pods created in the last ten seconds. */
  #podsCreated: PodCreated[] = []
  #failed = 0
  #last: JobTrouble | undefined

  constructor(deps: JobRecordsDeps) {
    this.#deps = deps
  }

  get(name: string): JobRecord | undefined {
    return this.#records.get(name)
  }

  /** Returns the record of a Job; creates it if there is none. */
  follow(job: ObservedJob): JobRecord {
    const { name } = job.metadata
    const record = this.#records.get(name) ?? { sinceMs: this.#deps.now(), revision: revisionOf(job) }
    this.#records.set(name, record)
    this.#followClaim(job)
    return record
  }

  /** Updates the records after a change of a Job, including its end. */
  changed({ kind, object }: Change<ObservedJob>): void {
    const { name } = object.metadata
    this.#followClaim(object)
    const end = endOf(object) ?? (kind === 'deleted' ? 'vanished' : undefined)
    if (end) this.#end(name, end === 'failed' && wasDisrupted(object) ? 'vanished' : end)
    else this.follow(object)
    if (kind === 'deleted') this.#claims.delete(name)
  }

  claimOf(name: string): string | undefined {
    return this.#claims.get(name)
  }

  /** Sets the claim on a Job, or removes it. */
  setClaim(name: string, captureId: string | undefined): void {
    if (captureId === undefined) this.#claims.delete(name)
    else this.#claims.set(name, captureId)
  }

  /** Removes the records of all other Jobs. */
  keep(isKept: (name: string) => boolean): void {
    for (const name of this.#records.keys()) if (!isKept(name)) this.#records.delete(name)
  }

  /** Counts a refused creation. */
  refused(trouble: JobTrouble): void {
    this.#failed += 1
    this.#last = trouble
    this.#deps.notice({ kind: 'refused', ...trouble })
  }

  /** Failures since the records began, and the cause of the last. */
  failures(): Pick<JobList, 'failed' | 'last'> {
    return { failed: this.#failed, last: this.#last }
  }

  /** Lists unfinished Jobs; `pods` are by the name of their Job. */
  list(open: readonly ObservedJob[], pods: ReadonlyMap<string | undefined, ObservedPod>): ListedJob[] {
    for (const job of open) if (pods.has(job.metadata.name)) this.#podObserved(this.follow(job))
    const nowMs = this.#deps.now()
    this.#podsCreated = this.#podsCreated.filter(({ atMs }) => nowMs - atMs <= podMs)
    // When the record of the oldest Job began that got its pod in the last `podMs`.
    const oldestMs = Math.min(...this.#podsCreated.map(({ sinceMs }) => sinceMs))
    return open.map((job) => this.#listed(job, pods.get(job.metadata.name), oldestMs))
  }

  /** Lists a Job that the informer does not show yet. */
  listUnobserved(name: string): ListedJob | undefined {
    const record = this.#records.get(name)
    return record && { name, ageMs: this.#deps.now() - record.sinceMs, revision: record.revision }
  }

  #followClaim(job: ObservedJob) {
    const captureId = claimOf(job)
    if (captureId !== undefined) this.#claims.set(job.metadata.name, captureId)
  }

  #end(name: string, how: 'succeeded' | 'failed' | 'vanished') {
    const record = this.#records.get(name)
    if (!record) return
    this.#records.delete(name)
    if (how === 'succeeded') this.#podObserved(record)
    this.#deps.notice({ kind: 'ended', job: name, how })
    if (how !== 'failed' || this.#claims.has(name) || this.#deps.hasClaimed(name) || record.isGivenUp) return
    this.#failed += 1
    const { reason, message } = record.trouble ?? crashed
    this.#last = { reason, message }
  }

  #podObserved(record: JobRecord) {
    if (record.hasPod) return
    record.hasPod = true
    this.#podsCreated.push({ sinceMs: record.sinceMs, atMs: this.#deps.now() })
  }

  #listed(job: ObservedJob, pod: ObservedPod | undefined, oldestMs: number): ListedJob {
    const record = this.follow(job)
    const nowMs = this.#deps.now()
    const ageMs = nowMs - record.sinceMs
    const { name } = job.metadata
    const captureId = this.#claims.get(name)
    const trouble = pod ? jobTrouble(this.#deps.troubleOf(pod)) : missingPodTrouble(ageMs, record.sinceMs < oldestMs)
    if (!trouble) delete record.trouble
    else record.trouble = { ...trouble, sinceMs: record.trouble?.sinceMs ?? nowMs }
    return {
      name,
      ageMs,
      revision: record.revision,
      ...(captureId !== undefined && { captureId }),
      ...(trouble && { trouble: { ...trouble, forMs: nowMs - (record.trouble?.sinceMs ?? nowMs) } }),
      ...workerOf(pod),
    }
  }
}
