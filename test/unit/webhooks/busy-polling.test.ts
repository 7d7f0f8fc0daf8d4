import t from 'tap'
import type { Sql } from '#shared/db/connection.ts'
import { BusyPolling } from '#webhooks/busy-polling.ts'

/** A sender's polling by a clock that the test sets; `announced` has the milliseconds and whether others were woken. */
const setUp = () => {
  const clock = { ms: 10_000 }
  const announced: unknown[] = []
  const query = async <Row>(_statement: string, parameters: readonly unknown[] = []): Promise<Row[]> => {
    announced.push(parameters)
    return []
  }
  const database: Sql = { query }
  return { clock, announced, polling: new BusyPolling(database, () => clock.ms) }
}

t.test('busy polling: a sender with few deliveries is notified', async (t) => {
  const { clock, announced, polling } = setUp()
  for (let turn = 0; turn < 10; turn += 1) {
    await polling.count(99, false)
    clock.ms += 500
  }
  t.same([announced, polling.isOn()], [[], false])
})

t.test(
  'busy polling: a busy sender announces once in a window that it polls, and polls longer than announced',
  async (t) => {
    const { clock, announced, polling } = setUp()
    await polling.count(0, false)
    for (let turn = 0; turn < 10; turn += 1) await polling.count(10, false)
    t.same([announced, polling.isOn()], [[], false])
    clock.ms += 500
    await polling.count(1, false)
    t.same([announced, polling.isOn()], [[[1500, false]], true])
    for (let turn = 0; turn < 20; turn += 1) await polling.count(100, false)
    t.equal(announced.length, 1)
    clock.ms += 1999
    t.equal(polling.isOn(), true)
    clock.ms += 1
    t.equal(polling.isOn(), false)
  },
)

t.test('busy polling: a sender that took as many as it can wakes the others, and so does one that ends', async (t) => {
  const { announced, polling } = setUp()
  await polling.end()
  t.same(announced, [], 'nothing was announced')
  await polling.count(100, true)
  await polling.end()
  t.same(
    [announced, polling.isOn()],
    [
      [
        [1500, true],
        [0, true],
      ],
      false,
    ],
  )
})
