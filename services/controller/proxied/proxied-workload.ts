import { createDecider, type Workload } from '#controller/loop/loop.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { poolStateCodec, type PoolStateMessage } from '#shared/queue/messages.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'
import { decideProxied } from './decide-proxied.ts'
import type { JobRunner } from './job-runner.ts'
import { createProxiedObserver, type ProxiedObserverDeps } from './observe-proxied.ts'
import { blankProxiedMemory, type ProxiedDecision, type ProxiedObservation, type ProxiedPolicy } from './proxied.ts'

const pool = 'proxied'
/** A little less than the time between two ticks; the same state is not published sooner. */
const publishEveryMs = 900
const claimsAtOnce = 8

type ProxiedWorkloadDeps = ProxiedObserverDeps & {
  readonly runner: JobRunner
  /** The current policy. */
  readonly policy: () => ProxiedPolicy
  readonly publishState: (state: PoolStateMessage) => void
}

/** The workload's use of the queue: its depth, and publishing to the ledger whether Jobs can be started. */
export const proxiedQueue = (queue: Queue): Pick<ProxiedWorkloadDeps, 'readDepth' | 'publishState'> => ({
  readDepth: () => poolDepth(queue, pool),
  publishState: (state) => queue.publish(poolStateSubject(pool), poolStateCodec.encode(state)),
})

const applyDecision = async (runner: ProxiedWorkloadDeps['runner'], decision: ProxiedDecision) => {
  const mayCreate = decision.state !== undefined
  const left = decision.claims.values()
  const claiming = async () => {
    for (const { job, captureId } of left) await runner.claim(job, captureId)
  }
  const ends = await Promise.allSettled([
    ...(mayCreate ? [runner.create(decision.create)] : []),
    ...decision.giveUp.map((job) => runner.giveUp(job)),
    ...Array.from({ length: Math.min(claimsAtOnce, decision.claims.length) }, claiming),
  ])
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** Publishes a state at once if it has changed, otherwise every second. */
const createStatePublisher = (publish: ProxiedWorkloadDeps['publishState']) => {
  let last: { canStart: boolean; atMs: number } | undefined
  return (state: ProxiedDecision['state'], nowMs: number) => {
    if (!state || (last?.canStart === state.canStart && nowMs - last.atMs < publishEveryMs)) return
    last = { canStart: state.canStart, atMs: nowMs }
    publish({ pool, ...state })
  }
}

/** Single-use workers, whatever runs them: as many Jobs as the captures with a caller's proxy need, and spares. */
export const proxiedWorkload = (
  deps: ProxiedWorkloadDeps,
): Omit<Workload<ProxiedObservation, ProxiedDecision, never>, 'summarize'> => {
  const publish = createStatePublisher(deps.publishState)
  return {
    observe: createProxiedObserver(deps),
    decide: createDecider(decideProxied, deps.policy, blankProxiedMemory),
    act: ({ observation, decision }) => {
      publish(decision.state, observation.nowMs)
      return applyDecision(deps.runner, decision)
    },
  }
}
