import t from 'tap'
import { carryOut } from '#controller/act/carry-out.ts'
import type { Decision } from '#controller/pool.ts'

const common = { wanted: 1, reason: 'steady' } as const

const cases: { name: string; decision: Decision; want: string[] }[] = [
  { name: 'does nothing to hold', decision: { ...common, kind: 'hold' }, want: [] },
  { name: 'does nothing when frozen', decision: { ...common, kind: 'freeze' }, want: [] },
  {
    name: 'takes leaving workers back before it starts others',
    decision: { ...common, kind: 'scale-up', to: 5, undrain: ['a', 'b'] },
    want: ['worker.stealth.a.undrain', 'worker.stealth.b.undrain', 'start 5'],
  },
  {
    name: 'tells each worker to drain',
    decision: { ...common, kind: 'drain', pods: ['a', 'b'] },
    want: ['worker.stealth.a.drain', 'worker.stealth.b.drain'],
  },
  { name: 'stops what is named', decision: { ...common, kind: 'stop', pods: ['a', 'b'] }, want: ['stop a,b'] },
]

for (const { name, decision, want } of cases) {
  t.test(name, async (t) => {
    const done: string[] = []
    const deps = {
      pool: 'stealth',
      queue: { publish: (subject: string) => void done.push(subject) },
      actuator: {
        start: async (total: number) => void done.push(`start ${total}`),
        stop: async (pods: readonly string[]) => void done.push(`stop ${pods.join()}`),
      },
    } as const
    await carryOut(deps, decision)
    t.strictSame(done, want)
  })
}
