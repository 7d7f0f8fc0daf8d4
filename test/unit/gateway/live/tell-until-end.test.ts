import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { type StreamBounds, type StreamEnd, type Tell, tellUntilEnd } from '#gateway/live/tell-until-end.ts'

const calm: StreamBounds = { lookMs: 1, gapMs: 0, heartbeatMs: 60_000, lifeMs: 60_000 }

const start = (
  tell: Tell,
  { bounds = calm, isStopping = (): boolean => false, gone = new AbortController().signal } = {},
) => {
  const ends: StreamEnd[] = []
  const follower = { news: async () => turn(false) }
  const texts = tellUntilEnd({ follower, isStopping, bounds, ended: (end) => ends.push(end) }, tell)(gone)
  return { ends, texts, all: async () => Array.fromAsync(texts) }
}

/** Yields one list of texts at each look, and the end with the last. */
const looks = (...lists: string[][]): Tell =>
  async function* tell() {
    yield* lists.shift() ?? []
    return lists.length === 0 ? 'over' : 'goes-on'
  }

t.test('it looks until the end has been told', async (t) => {
  const { ends, all } = start(looks(['a', 'b'], [], ['c']))
  t.same(await all(), ['retry: 2000\n\n', 'a', 'b', 'c'])
  t.same(ends, ['over'])
})

t.test('silence is broken by comments', async (t) => {
  const { all } = start(looks(['a'], [], ['c']), { bounds: { ...calm, heartbeatMs: 0 } })
  t.same(await all(), ['retry: 2000\n\n', 'a', ': still here\n\n', ': still here\n\n', 'c'])
})

t.test('time and a stopping gateway end it with a word', async (t) => {
  const late = start(looks(['a'], ['b']), { bounds: { ...calm, lifeMs: 0 } })
  t.match(await late.all(), ['retry: 2000\n\n', 'a', /lasted as long/])
  const stopped = start(looks(['a'], ['b']), { isStopping: () => true })
  t.match(await stopped.all(), ['retry: 2000\n\n', 'a', /is stopping/])
  t.same([late.ends, stopped.ends], [['time'], ['stopping']])
})

t.test('a client that has gone ends it', async (t) => {
  const leaving = new AbortController()
  const tell: Tell = async function* tell() {
    leaving.abort()
    yield 'a'
    return 'goes-on'
  }
  const { ends, all } = start(tell, { gone: leaving.signal })
  t.same(await all(), ['retry: 2000\n\n', 'a'])
  t.same(ends, ['gone'])
})

t.test('a database that is away for a while does not end it; what is broken does', async (t) => {
  const throws = (error: AppError, then: Tell): Tell => {
    let thrown = false
    return async function* tell() {
      if (thrown) return yield* then(true)
      thrown = true
      throw error
    }
  }
  const { all } = start(throws(new AppError('SERVICE_UNAVAILABLE'), looks(['a'])))
  t.same(await all(), ['retry: 2000\n\n', 'a'])
  await t.rejects(start(throws(new AppError('SERVER_ERROR'), looks(['a']))).all(), { code: 'SERVER_ERROR' })
})
