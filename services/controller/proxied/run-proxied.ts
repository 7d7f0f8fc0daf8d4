import { type LoopDeps, type LoopTiming, runLoop } from '#controller/loop/loop.ts'
import type { Wakeup } from '#shared/process/wakeup.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { poolStateCodec, type PoolStateMessage } from '#shared/queue/messages.ts'
import { poolWakeupSubject, poolStateSubject } from '#shared/queue/subjects.ts'
import { decideProxied } from './decide-proxied.ts'
import type { JobRunner } from './job-runner.ts'
import { blankProxiedMemory, type ProxiedDecision, type ProxiedObservation, type ProxiedPolicy } from './proxied.ts'

const pool = 'proxied'
/** The loop ticks every second; the same state is not published sooner. */
const publishEveryMs = 900
const claimsAtOnce = 8
/** Times after a wakeup at which the loop is woken again, because a gateway wakes the pool once for all captures of 100 ms. */
const wakeAgainMs = [50, 110]

type RunProxiedDeps = Pick<
  LoopDeps<ProxiedObservation, ProxiedDecision>,
  'observe' | 'wakeup' | 'decided' | 'failed' | 'took'
> & {
  readonly runner: Pick<JobRunner, 'create' | 'claim' | 'giveUp'>
  /** The current policy. */
  readonly policy: () => ProxiedPolicy
  readonly publishState: (state: PoolStateMessage) => void
}

/** The loop's use of the queue: wakes the loop, and publishes to the ledger whether Jobs can be started. */
export const proxiedQueue = (queue: Pick<Queue, 'publish' | 'subscribe'>) => ({
  publishState: (state: PoolStateMessage) => queue.publish(poolStateSubject(pool), poolStateCodec.encode(state)),
  subscribeToPoolWakeups: (wakeup: Pick<Wakeup, 'notify'>): Disposable =>
    queue.subscribe(poolWakeupSubject(pool), () => {
      wakeup.notify()
      for (const afterMs of wakeAgainMs) setTimeout(wakeup.notify, afterMs).unref()
    }),
})

const applyDecision = async ({ runner }: Pick<RunProxiedDeps, 'runner'>, decision: ProxiedDecision) => {
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
const createStatePublisher = (publish: RunProxiedDeps['publishState']) => {
  let last: { canStart: boolean; atMs: number } | undefined
  return (state: ProxiedDecision['state'], nowMs: number) => {
    if (!state || (last?.canStart === state.canStart && nowMs - last.atMs < publishEveryMs)) return
    last = { canStart: state.canStart, atMs: nowMs }
    publish({ pool, ...state })
  }
}

/** Keeps as many Jobs as the captures with a caller's proxy need, until `stop` aborts. */
export const runProxied = (deps: RunProxiedDeps, timing: LoopTiming, stop: AbortSignal): Promise<void> => {
  const publish = createStatePublisher(deps.publishState)
  let memory = blankProxiedMemory
  return runLoop(
    {
      ...deps,
      decide: (observation) => {
        const next = decideProxied(observation, deps.policy(), memory)
        memory = next.memory
        return next.decision
      },
      decided: (tick) => {
        publish(tick.decision.state, tick.observation.nowMs)
        deps.decided(tick)
      },
      act: (decision) => applyDecision(deps, decision),
    },
    timing,
    stop,
  )
}
