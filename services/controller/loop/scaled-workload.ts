import type { Actuator } from '#controller/act/actuator.ts'
import { decide } from '#controller/decide/decide.ts'
import { blankMemory, type Decision, type Observation, type PoolPolicy } from '#controller/decide/pool.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { drainSubject, undrainSubject } from '#shared/queue/subjects.ts'
import { createDecider, type Workload } from './loop.ts'
import { createObserver, type ObserverDeps } from './observe.ts'

type ScaledWorkloadDeps = Omit<ObserverDeps, 'readDepth' | 'policy'> & {
  readonly pool: Pool
  readonly queue: Queue
  readonly actuator: Actuator
  /** The current policy. */
  readonly policy: () => PoolPolicy
}

const empty = { waiting: 0, inFlight: 0 }
const nothing = new Uint8Array()

/** Applies a decision. Idempotent: a repeat, before the effect of the first is observed, changes nothing. */
const applyDecision = async (
  { actuator, queue, pool }: Pick<ScaledWorkloadDeps, 'actuator' | 'queue' | 'pool'>,
  decision: Decision,
): Promise<void> => {
  const publish = (subject: typeof drainSubject, pods: readonly string[]) => {
    for (const pod of pods) queue.publish(subject({ pool, pod }), nothing)
  }
  switch (decision.kind) {
    case 'hold':
    case 'freeze':
      return
    case 'scale-up':
      // Before undraining, because a marked pod may be the next one to be removed.
      await actuator.keep(decision.undrain)
      publish(undrainSubject, decision.undrain)
      return actuator.start(decision.to)
    case 'drain':
      return publish(drainSubject, decision.pods)
    case 'stop':
      return actuator.stop(decision.pods)
    case 'replace':
      return actuator.replace(decision.pods)
  }
}

/** Long-lived workers, whatever runs them: as many as the queue needs, or a fixed number, which does not read the queue. */
export const scaledWorkload = (deps: ScaledWorkloadDeps): Omit<Workload<Observation, Decision, never>, 'summarize'> => {
  const { pool, queue, policy } = deps
  const readDepth = async () => (policy().size === 'by-queue' ? poolDepth(queue, pool) : empty)
  return {
    observe: createObserver({ ...deps, readDepth }),
    decide: createDecider(decide, policy, blankMemory),
    act: ({ decision }) => applyDecision(deps, decision),
  }
}
