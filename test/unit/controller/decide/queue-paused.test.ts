import t from 'tap'
import { decide } from '#controller/decide/decide.ts'
import { blankMemory, type Observation, type PoolMemory } from '#controller/decide/pool.ts'
import { emptyBacklog, observedPool, observedWorkers, poolPolicy } from '#test/helpers/observed-pool.ts'

const policy = poolPolicy({ min: 2 })
const waiting: Partial<Observation> = {
  backlog: { ...emptyBacklog, pending: 500, oldestMs: 60_000 },
  workers: observedWorkers(2),
}
const held = { kind: 'hold', desired: 2, reason: 'queue-paused' }
const decideOn = (depth: Observation['depth'], memory: PoolMemory) =>
  decide(observedPool({ ...waiting, depth }), policy, memory)

t.test('decide: starts nothing above the minimum while an operator has paused the queue', async (t) => {
  const paused = decideOn({ waiting: 500, inFlight: 0, isPaused: true }, blankMemory)
  t.match(paused.decision, held)
  const unread = decideOn('unknown', paused.memory)
  t.match(unread.decision, held, 'nor while the depth of the queue cannot be read')
  const resumed = decideOn({ waiting: 500, inFlight: 0 }, unread.memory)
  t.match(resumed.decision, { kind: 'scale-up' })
  t.match(decideOn('unknown', resumed.memory).decision, { kind: 'scale-up' }, 'a queue that was resumed last is not')
})
