import t from 'tap'
import { applyDecision } from '#controller/act/apply-decision.ts'
import type { Decision } from '#controller/decide/pool.ts'

const common = { wanted: 1, reason: 'steady' } as const

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

for (const { name, decision, want } of cases) {
  t.test(`apply decision: ${name}`, async (t) => {
    const done: string[] = []
    const note = (word: string) => async (pods: readonly string[]) => void done.push(`${word} ${pods.join()}`)
    const deps = {
      pool: 'stealth',
      queue: { publish: (subject: string) => void done.push(subject) },
      actuator: {
        start: async (total: number) => void done.push(`start ${total}`),
        stop: note('stop'),
        replace: note('replace'),
        keep: note('keep'),
      },
    } as const
    await applyDecision(deps, decision)
    t.strictSame(done, want)
  })
}

t.test('apply decision: publishes no undrain if its deletion mark could not be removed', async (t) => {
  const done: string[] = []
  const nothing = async () => {}
  const deps = {
    pool: 'stealth',
    queue: { publish: (subject: string) => void done.push(subject) },
    actuator: { start: nothing, stop: nothing, replace: nothing, keep: () => Promise.reject(new Error('planted')) },
  } as const
  await t.rejects(applyDecision(deps, { ...common, kind: 'scale-up', to: 5, undrain: ['a'] }), /planted/)
  t.strictSame(done, [])
})
