import t from 'tap'
import type { Database } from '#shared/db/connection.ts'
import { SignInFailures } from '#gateway/http/identification/sign-in-failures.ts'

const minuteMs = 60_000

const start = () => {
  const state = { written: 0, nowMs: 0, failed: 0 }
  const database: Pick<Database, 'entities'> = {
    entities: async () => {
      state.written += 1
      throw new Error('down')
    },
  }
  const failures = new SignInFailures({ database, failed: () => (state.failed += 1) }, () => state.nowMs)
  const note = (network: string) =>
    failures.note({ how: 'link', reason: 'UNAUTHORIZED', client: { network, site: network } })
  return { state, note }
}

t.test('sign-in failures: a client gets five entries at once, then one a minute', async (t) => {
  const { state, note } = start()
  for (let index = 0; index < 100; index += 1) await note('192.0.2.1')
  t.equal(state.written, 5)
  state.nowMs += minuteMs
  for (let index = 0; index < 100; index += 1) await note('192.0.2.1')
  t.equal(state.written, 6)
})

t.test('sign-in failures: all clients together get fifty, then one a minute', async (t) => {
  const { state, note } = start()
  for (let index = 0; index < 1000; index += 1) await note(`client ${index}`)
  t.equal(state.written, 50)
  state.nowMs += 10 * minuteMs
  for (let index = 0; index < 1000; index += 1) await note(`client ${index}`)
  t.equal(state.written, 60)
})

t.test('sign-in failures: an entry that cannot be written is reported, and fails nothing', async (t) => {
  const { state, note } = start()
  await note('192.0.2.1')
  t.equal(state.failed, 1)
})
