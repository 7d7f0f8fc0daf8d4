import t from 'tap'
import type { Actuator } from '#controller/act/actuator.ts'
import { scaledWorkload } from '#controller/loop/scaled-workload.ts'
import type { Decision } from '#controller/decide/pool.ts'
import { observedPool, poolPolicy } from '#test/helpers/observed-pool.ts'
import { createQueueDouble } from '#test/helpers/queue-double.ts'

const common = { desired: 1, reason: 'steady' } as const

const cases: { name: string; decision: Decision; want: string[] }[] = [
  { name: 'does nothing on hold', decision: { ...common, kind: 'hold' }, want: [] },
  { name: 'does nothing when frozen', decision: { ...common, kind: 'freeze' }, want: [] },
  {
    name: 'undrains workers before it starts others',
    decision: { ...common, kind: 'scale-up', to: 5, undrain: ['a', 'b'] },
    want: ['keep a,b', 'worker.stealth.a.undrain', 'worker.stealth.b.undrain', 'start 5'],
  },
  {
    name: 'publishes a drain to each named worker',
    decision: { ...common, kind: 'drain', pods: ['a', 'b'] },
    want: ['worker.stealth.a.drain', 'worker.stealth.b.drain'],
  },
  { name: 'replaces the named workers', decision: { ...common, kind: 'replace', pods: ['a'] }, want: ['replace a'] },
  { name: 'stops the named workers', decision: { ...common, kind: 'stop', pods: ['a', 'b'] }, want: ['stop a,b'] },
]

/** Acts on a decision; returns the calls and published subjects in order. */
const act = async (decision: Decision, keep?: Actuator['keep']) => {
  const done: string[] = []
  const note = (word: string) => async (pods: readonly string[]) => void done.push(`${word} ${pods.join()}`)
  const observation = observedPool()
  const workload = scaledWorkload({
    pool: 'stealth',
    queue: createQueueDouble({ publish: (subject) => void done.push(subject) }),
    now: () => observation.nowMs,
    policy: poolPolicy,
    subscription: { backlog: () => 'unknown', heartbeats: new Map(), listeningMs: () => 0 },
    actuator: {
      list: async () => ({ workers: [], starts: observation.starts, startMs: undefined }),
      start: async (total) => void done.push(`start ${total}`),
      stop: note('stop'),
      replace: note('replace'),
      keep: keep ?? note('keep'),
    },
  })
  const failure = await workload.act({ observation, decision }).catch((thrown: unknown) => thrown)
  return { done, failure }
}

for (const { name, decision, want } of cases) {
  t.test(`scaled workload: ${name}`, async (t) => {
    t.strictSame(await act(decision), { done: want, failure: undefined })
  })
}

t.test('scaled workload: publishes no undrain if its deletion mark could not be removed', async (t) => {
  const planted = new Error('planted')
  const decision: Decision = { ...common, kind: 'scale-up', to: 5, undrain: ['a'] }
  t.strictSame(await act(decision, () => Promise.reject(planted)), { done: [], failure: planted })
})
