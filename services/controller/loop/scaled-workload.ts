import { applyDecision } from '#controller/act/apply-decision.ts'
import type { Actuator } from '#controller/act/actuator.ts'
import { decide } from '#controller/decide/decide.ts'
import { blankMemory, type Decision, type Observation, type PoolPolicy } from '#controller/decide/pool.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { createDecider, type Workload } from './loop.ts'
import { createObserver, type ObserverDeps } from './observe.ts'

type ScaledWorkloadDeps = Omit<ObserverDeps, 'readDepth' | 'policy'> & {
  readonly pool: Pool
  readonly queue: Queue
  readonly actuator: Omit<Actuator, typeof Symbol.asyncDispose>
  /** The current policy. */
  readonly policy: () => PoolPolicy
}

const empty = { waiting: 0, inFlight: 0 }

/** Long-lived workers, whatever runs them: as many as the queue needs, or a fixed number, which does not read the queue. */
export const scaledWorkload = (deps: ScaledWorkloadDeps): Omit<Workload<Observation, Decision, never>, 'summarize'> => {
  const { pool, queue, actuator, policy } = deps
  const readDepth = async () => (policy().size === 'by-queue' ? poolDepth(queue, pool) : empty)
  return {
    observe: createObserver({ ...deps, readDepth }),
    decide: createDecider(decide, policy, blankMemory),
    act: ({ decision }) => applyDecision({ actuator, queue, pool }, decision),
  }
}
