import { carryOut } from '#controller/act/apply-decision.ts'
import { createDecider } from '#controller/decide.ts'
import { calmTiming, runLoop } from '#controller/loop.ts'
import { createObserver } from '#controller/observe.ts'
import type { Decision, Depth, Observation } from '#controller/pool.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { appliedAnnotation, objectName, workersName } from '#shared/kube/names.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { deploymentFields } from '#controller/operator/manifests/deployment.ts'
import { createKubeActuator, type KubeNotice } from './deployment-actuator.ts'
import type { PoolRun, RunPool, TermDeps } from '#controller/operator/pools/pool-runner.ts'
import { policyOf } from './pool-policy.ts'
import { createRolloutFollower, type Rollout } from '#controller/operator/apply/rollout.ts'
import type { KubeRoster } from '#controller/operator/pods/list-workers.ts'
import { isReady } from '#controller/operator/watch/observed-pod.ts'
import type { PoolOccurrence } from '#controller/operator/status/status-change.ts'
import { statusOf } from '#controller/operator/status/pool-status.ts'
import { withoutCrowd } from './hold-during-rollout.ts'
import type { PodSettings } from '#controller/operator/manifests/worker-pod.ts'

type Beside = Pick<KubeRoster, 'troubles' | 'isReplacing' | 'isHung' | 'isCrowded' | 'provisionMs'>

/** The hash of what is to be applied to a pool's Deployment, made anew only for another pool object. */
const createAppliedHash = (settings: PodSettings) => {
  let last: { readonly pool: BrowserPool; readonly hash: string | undefined } | undefined
  return (pool: BrowserPool) => {
    if (last?.pool !== pool) {
      last = { pool, hash: deploymentFields(pool, settings).metadata?.annotations?.[appliedAnnotation] }
    }
    return last.hash
  }
}

const nothingKnown: Beside = {
  troubles: new Map(),
  isReplacing: false,
  isHung: false,
  isCrowded: false,
  provisionMs: undefined,
}
const empty: Depth = { waiting: 0, inFlight: 0 }

/** The loop of a pool whose workers are the pods of a Deployment. */
export const runPool: RunPool = async (deps, run, stop) => {
  const { api, clock, watch, startTimes, ears, queue } = deps
  const { metadata, spec } = run.pool()
  const kind = spec.pool
  let roster: Beside = nothingKnown
  let why = ''
  let isCalm = false
  const appliedHash = createAppliedHash(deps.settings)
  const followRollout = createRolloutFollower()
  // Nothing is applied to a paused pool.
  const rollout = (pool: BrowserPool): Rollout =>
    pool.spec.paused ? 'complete' : followRollout(watch.deployment(workersName(metadata.name)), appliedHash(pool))

  const notice = (of: KubeNotice) => deps.occurred(run.pool(), occurrenceOf(of, why))
  const actuator = createKubeActuator({ api, clock, watch, startTimes, create: run.create, notice }, metadata.name)
  const list = async () => {
    const newest = await actuator.list()
    roster = newest
    return newest
  }
  const policy = () => policyOf(run.pool().spec)
  // Who has a fixed size reads nothing of the queue.
  const isByQueue = () => policy().size === 'by-queue'
  const readDepth = async () => (isByQueue() ? poolDepth(queue, kind) : empty)
  const { observe } = createObserver(
    { hearing: ears.of(kind), actuator: { list }, now: clock.nowMs, readDepth, isWorker: watch.hasPod, isByQueue },
    { slots: () => policy().slots },
  )

  using _workers = startTimes.followWorkers(objectName(metadata.name), run.events.worker)
  const decide = createDecider(policy)
  // Who decides before it has heard takes every worker for one that starts.
  const readyPods = () =>
    watch.podsOf(objectName(metadata.name)).flatMap((pod) => (isReady(pod) ? pod.metadata.name : []))
  await ears.haveHeard(kind, readyPods, stop)
  await runLoop<Observation, Decision>(
    {
      observe,
      decide: (seen) => withoutCrowd(decide(seen), roster),
      act: (decision) => {
        why = decision.reason
        if (decision.kind === 'drain') deps.occurred(run.pool(), draining(decision.pods))
        return carryOut({ actuator, queue, pool: kind }, decision)
      },
      bell: run.bell,
      decided: (tick) => {
        isCalm = tick.decision.kind === 'hold' && tick.decision.reason === 'fixed'
        run.events.decided(tick, policy())
        say(deps, run, { ...tick, ...roster, rollout: rollout(run.pool()) })
      },
      failed: run.events.tickFailed,
      took: run.events.reconciled,
    },
    calmTiming(deps.timing, () => isCalm),
    stop,
  )
}

type Spoken = Beside & { readonly seen: Observation; readonly decision: Decision; readonly rollout: Rollout }

const say = ({ statuses, clock, settings }: TermDeps, run: PoolRun, of: Spoken) => {
  const pool = run.pool()
  const { seen, decision, troubles, isReplacing, provisionMs, rollout } = of
  const parts = {
    seen,
    decision,
    troubles,
    isReplacing,
    provisionMs,
    rollout,
    problem: run.problem(),
    instance: settings.instance,
    at: clock.date(),
  }
  statuses.say(pool, statusOf({ pool: statuses.withSaid(pool), ...parts }))
}

const occurrenceOf = (notice: KubeNotice, why: string): PoolOccurrence => {
  if (notice.kind === 'deleted') {
    const note = `${notice.pod} was not heard for more than 10 s, another takes its place.`
    return { type: 'Warning', reason: 'WorkerLost', action: 'Replace', note }
  }
  const { from, to } = notice
  const reason = to > from ? 'ScaledUp' : 'ScaledDown'
  return {
    type: 'Normal',
    reason,
    action: to > from ? 'ScaleUp' : 'ScaleDown',
    note: `From ${from} to ${to} workers: ${why}.`,
  }
}

const draining = (pods: readonly string[]): PoolOccurrence => ({
  type: 'Normal',
  reason: 'Draining',
  action: 'Drain',
  note: `More workers than needed; these finish and go: ${pods.join(', ')}.`,
})
