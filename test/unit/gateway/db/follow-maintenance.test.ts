import t from 'tap'
import { followMaintenance } from '#gateway/db/follow-maintenance.ts'
import { Rest } from '#shared/process/rest.ts'
import { eventually } from '#test/helpers/eventually.ts'

const pace = { everyMs: 1, rest: new Rest() }
/** Never reads again by itself. */
const resting = { wait: () => new Promise<void>(() => {}) }
const since = '2026-01-01T00:00:00Z'

t.test('follow maintenance: returns the state that was read last, also while reads fail', async (t) => {
  const answers: (string | null | Error)[] = [null, since, new Error('away'), null]
  const states: boolean[] = []
  let isOn = () => false
  using watch = followMaintenance(async () => {
    states.push(isOn())
    const answer = answers.shift() ?? null
    if (answer instanceof Error) throw answer
    return answer
  }, pace)
  isOn = watch.isOn
  await eventually(() => states.length >= 5)
  t.same(states.slice(0, 5), [false, false, true, true, false])
})

t.test(
  'follow maintenance: what is accepted first after a rest waits for a new read, for one interval at most',
  async (t) => {
    let state: string | null = null
    let reads = 0
    let isAway = false
    const read = async () => {
      reads += 1
      return isAway ? new Promise<never>(() => {}) : state
    }
    using watch = followMaintenance(read, { everyMs: 50, rest: resting })
    await eventually(() => reads === 1)
    state = since
    await eventually(watch.check)
    t.same([watch.isOn(), reads], [true, 2], 'it is read again only once it is old')
    isAway = true
    state = null
    await eventually(async () => (await watch.check()) && reads === 3)
    t.equal(await watch.check(), true, 'the last state counts while the database does not respond')
  },
)

t.test('follow maintenance: stops reading once disposed', async (t) => {
  const reads = { first: 0, second: 0 }
  const begin = (name: keyof typeof reads) =>
    followMaintenance(async () => {
      reads[name] += 1
      return null
    }, pace)
  const first = begin('first')
  using _second = begin('second')
  await eventually(() => reads.first >= 2)
  first[Symbol.dispose]()
  const before = { ...reads }
  await eventually(() => reads.second > before.second + 20)
  t.equal(reads.first, before.first)
})
