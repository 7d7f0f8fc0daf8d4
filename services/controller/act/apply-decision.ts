import type { Decision } from '#controller/decide/pool.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { drainSubject, undrainSubject } from '#shared/queue/subjects.ts'
import type { Actuator } from './actuator.ts'

const nothing = new Uint8Array()

/** Applies a decision. Idempotent: a repeat, before the effect of the first is observed, changes nothing. */
export const applyDecision = async (
  deps: { actuator: Omit<Actuator, 'list' | typeof Symbol.asyncDispose>; queue: Pick<Queue, 'publish'>; pool: Pool },
  decision: Decision,
): Promise<void> => {
  const publish = (subject: typeof drainSubject, pods: readonly string[]) => {
    for (const pod of pods) deps.queue.publish(subject({ pool: deps.pool, pod }), nothing)
  }
  switch (decision.kind) {
    case 'hold':
    case 'freeze':
      return
    case 'scale-up':
      // Before undraining, because a marked pod may be the next one to be removed.
      await deps.actuator.keep(decision.undrain)
      publish(undrainSubject, decision.undrain)
      return deps.actuator.start(decision.to)
    case 'drain':
      return publish(drainSubject, decision.pods)
    case 'stop':
      return deps.actuator.stop(decision.pods)
    case 'replace':
      return deps.actuator.replace(decision.pods)
  }
}
