import type { JobNotice } from '#controller/proxied/job-runner.ts'
import { KubernetesJobs } from '#controller/operator/jobs/kubernetes-jobs.ts'
import { troubleOf } from '#controller/operator/pods/pod-trouble.ts'
import { jobNameLabel, type ObservedJob } from '#controller/operator/watch/observed-job.ts'
import type { ObservedPod } from '#controller/operator/watch/observed-pod.ts'
import { KubeError, type Outcome } from '#shared/kube/kube-error.ts'
import { appliedAnnotation, captureLabel, managedSelector } from '#shared/kube/names.ts'
import type { Change } from '#controller/kube/object-cache.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { asKubeApi } from './object-api.ts'

const namespace = 'jobs'
const revision = 'r1'

type Condition = 'Complete' | 'Failed' | 'SuccessCriteriaMet' | 'FailureTarget'
/** A Job as the API server returns it. */
export const jobObject = (name: string, state: { end?: Condition; captureId?: string } = {}): ObservedJob => ({
  metadata: {
    ...{ name, namespace, uid: name, resourceVersion: '1', annotations: { [appliedAnnotation]: revision } },
    labels: state.captureId === undefined ? {} : { [captureLabel]: state.captureId },
  },
  status: { conditions: state.end ? [{ type: state.end, status: 'True' }] : [] },
})
/** The pod of a Job. */
export const podObject = (job: string, status: NonNullable<ObservedPod['status']>, more: object = {}): ObservedPod => ({
  metadata: {
    ...{ name: `${job}-x`, namespace, uid: job, resourceVersion: '1', creationTimestamp: '' },
    labels: { [jobNameLabel]: job },
    ...more,
  },
  status,
})

/** The outcome of an API request. */
export type Answer = 'made' | Outcome
type Call = { readonly kind: 'create' | 'patch'; readonly name: string; readonly body?: object }

type InitialState = { present?: ObservedJob[]; listed?: ObservedJob[]; list?: () => Promise<never> }

/** Starts a runner on caches that the test fills, and an API with the test's responses. */
export const beginJobsRunner = (initial: InitialState = {}) => {
  const jobs = new Map((initial.present ?? []).map((job) => [`${namespace}/${job.metadata.name}`, job]))
  const pods = new Map<string, ObservedPod>()
  const state = {
    nowMs: 0,
    hasSynced: true,
    downMs: 0,
    names: 0,
    startingMs: 0,
    unscheduledMs: 0,
    answers: [] as Answer[],
    held: Promise.resolve(),
  }
  const claimed = new Set<string>()
  const retry: { retryAfterSeconds?: number } = {}
  const calls: Call[] = []
  const notices: JobNotice[] = []
  const answer = async () => {
    const next = state.answers.shift() ?? 'made'
    await state.held
    if (next !== 'made') throw new KubeError(next, { message: `planted ${next}`, ...retry })
    return {}
  }
  const mirrorOf = <T>(objects: ReadonlyMap<string, T>) => ({
    all: () => [...objects.values()],
    get: (key: string) => objects.get(key),
    get hasSynced() {
      return state.hasSynced
    },
    downMs: () => state.downMs,
  })
  const runner = new KubernetesJobs(
    {
      api: asKubeApi({
        list: initial.list ?? (async () => ({ items: initial.listed ?? [], resourceVersion: '1' })),
        create: async (_: unknown, { metadata }: KubeObject) => {
          calls.push({ kind: 'create', name: metadata?.name ?? '' })
          return answer()
        },
        patch: async ({ name }: { name: string }, { body }: { body: object }) => {
          calls.push({ kind: 'patch', name, body })
          return answer()
        },
      }),
      jobs: mirrorOf(jobs),
      pods: mirrorOf(pods),
      now: () => state.nowMs,
      troubleOf: (pod) => troubleOf(pod, { unscheduledMs: state.unscheduledMs, startingMs: state.startingMs }, 300_000),
      hasClaimed: (job) => claimed.has(job),
      newName: () => `new-${(state.names += 1)}`,
      manifest: (name) => ({ metadata: { name, namespace, annotations: { [appliedAnnotation]: revision } } }),
      notice: (notice) => notices.push(notice),
    },
    { namespace, labelSelector: managedSelector('shutterfleet') },
  )
  const show = (job: ObservedJob, kind: Change<ObservedJob>['kind'] = 'updated') => {
    const key = `${namespace}/${job.metadata.name}`
    if (kind === 'deleted') jobs.delete(key)
    else jobs.set(key, job)
    runner.changed({ kind, key, object: job })
  }
  const names = async () => (await runner.list()).jobs.map(({ name }) => name)
  const created = () => calls.flatMap(({ kind, name }) => (kind === 'create' ? [name] : []))
  return { runner, pods, state, asked: retry, calls, notices, claimed, show, names, created }
}
