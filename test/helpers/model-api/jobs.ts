import { type ControllerDeps, controlledBy, type Controller, ownedBy, startController, targetOf } from './controller.ts'
import { at, type Stored, timeText, type JsonObject } from './object.ts'
import { keyIn } from './store.ts'
import { conditionsOf, hasEnded, holds, isActive, phaseOf, withCondition } from './pods.ts'
import { promised, specNumber, startedMs, type Verdict, verdictOf } from './verdict.ts'

const pods = 'v1/pods'
const tracking = 'batch.kubernetes.io/job-tracking'
/** The real controller's backoff between attempts to create a pod. */
const retryMs = { first: 1000, last: 60_000 }

const nowMs = ({ clock }: ControllerDeps): number => clock.date().getTime()

const editStatus = (
  { server }: ControllerDeps,
  job: Stored,
  change: (live: Stored) => JsonObject,
): Stored | undefined =>
  server.edit(targetOf(server, job, 'status'), (live) => ({
    ...live,
    status: { ...(live['status'] as JsonObject | undefined), ...change(live) },
  }))

const createPod = ({ server }: ControllerDeps, job: Stored) => {
  const template = at(job, 'spec', 'template') as JsonObject
  const own = { generateName: `${job.metadata.name}-`, finalizers: [tracking], ...ownedBy(job) }
  const metadata = { ...(template['metadata'] as JsonObject), ...own }
  server.create(server.kind(pods), job.metadata.namespace, { metadata, spec: template['spec'] })
}

/** Removes the tracking finalizer of counted pods. */
const removeFinalizer = ({ server }: ControllerDeps, all: readonly Stored[]) => {
  for (const pod of all)
    server.edit(targetOf(server, pod), (live) => {
      const finalizers = live.metadata.finalizers?.filter((each) => each !== tracking) ?? []
      return { ...live, metadata: { ...live.metadata, finalizers } }
    })
}

const updateStatus = (deps: ControllerDeps, job: Stored) => {
  const all = controlledBy(deps.server, pods, job)
  const active = all.filter(isActive)
  const among = (phase: string) => all.filter((pod) => phaseOf(pod) === phase).length
  // A counted pod stays counted after its removal.
  const ended = (live: Stored, field: string, phase: string) =>
    Math.max(among(phase), Number(at(live, 'status', field) ?? 0)) || undefined
  editStatus(deps, job, (live) => ({
    active: active.length || undefined,
    ready: active.filter((pod) => holds(pod, 'Ready')).length,
    terminating: all.filter((pod) => !hasEnded(pod) && pod.metadata.deletionTimestamp !== undefined).length,
    succeeded: ended(live, 'succeeded', 'Succeeded'),
    failed: ended(live, 'failed', 'Failed'),
    uncountedTerminatedPods: {},
  }))
}

/** Sets the two conditions of an end: the first when the outcome is decided, the second once no pod runs. */
const end = (deps: ControllerDeps, job: Stored, { type, reason, message }: Verdict) => {
  const { server, clock } = deps
  const running = controlledBy(server, pods, job).filter((pod) => !hasEnded(pod))
  for (const pod of running) if (pod.metadata.deletionTimestamp === undefined) server.remove(targetOf(server, pod))
  const time = timeText(clock.date())
  const mark = (name: string) => (live: Stored) => ({
    conditions: withCondition(live, { type: name, status: 'True', reason, message }, time),
    ...(name === 'Complete' && { completionTime: time }),
  })
  editStatus(deps, job, mark(type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'))
  if (running.length === 0) editStatus(deps, job, mark(type))
  updateStatus(deps, job)
}

/** Removes a finished Job after its TTL; returns the milliseconds left. */
const expire = (deps: ControllerDeps, job: Stored): number | undefined => {
  const { server } = deps
  const seconds = specNumber(job, 'ttlSecondsAfterFinished')
  if (seconds === undefined) return undefined
  const { lastTransitionTime = '' } =
    conditionsOf(job).find(({ type }) => type === 'Complete' || type === 'Failed') ?? {}
  const waitMs = Date.parse(lastTransitionTime) + seconds * 1000 - nowMs(deps)
  if (waitMs <= 0) server.remove(targetOf(server, job), { uid: job.metadata.uid, propagation: 'Foreground' })
  return waitMs > 0 ? waitMs : undefined
}

const goOn = (deps: ControllerDeps, stored: Stored): number | undefined => {
  const isNew = at(stored, 'status', 'startTime') === undefined
  const begin = () => ({ startTime: timeText(deps.clock.date()) })
  const job = isNew ? (editStatus(deps, stored, begin) ?? stored) : stored
  const all = controlledBy(deps.server, pods, job)
  const verdict = holds(job, 'FailureTarget') ? promised(job) : verdictOf(job, all, nowMs(deps))
  if (verdict) end(deps, job, verdict)
  else {
    if (all.every(hasEnded)) createPod(deps, job)
    updateStatus(deps, job)
  }
  removeFinalizer(deps, all.filter(hasEnded))
  const limit = specNumber(job, 'activeDeadlineSeconds')
  return limit === undefined ? undefined : Math.max(1000, startedMs(job) + limit * 1000 - nowMs(deps))
}

/** Simulates the Job controller, for Jobs of one pod, and the TTL controller that removes finished Jobs. */
export const startJobs = (deps: ControllerDeps): Controller => {
  const { server } = deps
  const orphansOf = (key: string) =>
    server.store
      .all(pods)
      .filter(({ metadata }) => keyIn(metadata.namespace, metadata.labels?.['job-name'] ?? '') === key)
  const sync = (key: string, job: Stored | undefined): number | undefined => {
    if (!job) {
      removeFinalizer(deps, orphansOf(key))
      return undefined
    }
    if (job.metadata.deletionTimestamp !== undefined) {
      removeFinalizer(deps, controlledBy(server, pods, job))
      return undefined
    }
    return holds(job, 'Complete') || holds(job, 'Failed') ? expire(deps, job) : goOn(deps, job)
  }
  return startController(deps, { resource: 'batch/v1/jobs', dependents: [pods], sync, retryMs })
}
