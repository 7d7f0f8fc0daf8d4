import t from 'tap'
import { followMaintenance } from '#gateway/db/follow-maintenance.ts'
import { eventually } from '#test/helpers/eventually.ts'

t.test('follow maintenance: returns the state that was read last, also while reads fail', async (t) => {
  const answers: (string | null | Error)[] = [null, '2026-01-01T00:00:00Z', new Error('away'), null]
  const states: boolean[] = []
  let isOn = () => false
  using watch = followMaintenance(async () => {
    states.push(isOn())
    const answer = answers.shift() ?? null
    if (answer instanceof Error) throw answer
    return answer
  }, 1)
  isOn = watch.isOn
  await eventually(() => states.length >= 5)
  t.same(states.slice(0, 5), [false, false, true, true, false])
})

t.test('follow maintenance: stops reading once disposed', async (t) => {
  const reads = { first: 0, second: 0 }
  const begin = (name: keyof typeof reads) =>
    followMaintenance(async () => {
      reads[name] += 1
      return null
    }, 1)
  const first = begin('first')
  using _second = begin('second')
  await eventually(() => reads.first >= 2)
  first[Symbol.dispose]()
  const before = { ...reads }
  await eventually(() => reads.second > before.second + 20)
  t.equal(reads.first, before.first)
})
