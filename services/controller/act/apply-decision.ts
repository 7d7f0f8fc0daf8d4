import type { Decision } from '#controller/pool.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { drainSubject, undrainSubject } from '#shared/queue/subjects.ts'
import type { Actuator } from './actuator.ts'

const nothing = new Uint8Array()

/** Does what was decided. Idempotent: what is repeated because nothing was seen of it yet changes nothing. */
export const carryOut = async (
  deps: { actuator: Omit<Actuator, 'list' | typeof Symbol.asyncDispose>; queue: Pick<Queue, 'publish'>; pool: Pool },
  decision: Decision,
): Promise<void> => {
  const tell = (subject: typeof drainSubject, pods: readonly string[]) => {
    for (const pod of pods) deps.queue.publish(subject({ pool: deps.pool, pod }), nothing)
  }
  switch (decision.kind) {
    case 'hold':
    case 'freeze':
      return
    case 'scale-up':
      // Before it takes work: what is still marked might be the next to be taken away.
      await deps.actuator.keep(decision.undrain)
      tell(undrainSubject, decision.undrain)
      return deps.actuator.start(decision.to)
    case 'drain':
      return tell(drainSubject, decision.pods)
    case 'stop':
      return deps.actuator.stop(decision.pods)
    case 'replace':
      return deps.actuator.replace(decision.pods)
  }
}
