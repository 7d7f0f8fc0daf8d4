import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { type ChangeReporter, eventStream, type StreamBounds, streamUntilEnd } from '#gateway/live/event-stream.ts'
import type { StreamEnd } from '#gateway/telemetry/events.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { streamBounds } from '#gateway/live/answer-stream.ts'

const longMs = 60_000

t.test('event stream: produces text only as the client reads it', async (t) => {
  let produced = 0
  let released = 0
  const stream = eventStream(
    async function* texts() {
      for (produced = 1; produced <= 5; produced += 1) yield `${produced};`
    },
    longMs,
    () => (released += 1),
  )
  stream.read(0)
  for (let turns = 0; turns < 20; turns += 1) await turn()
  t.equal(produced, 1, 'one text is buffered, no more')
  t.equal(await text(stream), '1;2;3;4;5;')
  if (!stream.closed) await once(stream, 'close')
  t.equal(released, 1)
})

t.test('event stream: a client that disconnects frees its slot immediately', async (t) => {
  const released = Promise.withResolvers<void>()
  let gone: AbortSignal | undefined
  const stream = eventStream(
    async function* texts(signal) {
      gone = signal
      yield 'a'
      await new Promise(() => {})
    },
    longMs,
    released.resolve,
  )
  stream.resume()
  await once(stream, 'data')
  stream.destroy()
  await released.promise
  t.equal(gone?.aborted, true)
})

t.test('event stream: closes a stream whose client does not read', async (t) => {
  const released = Promise.withResolvers<void>()
  const stream = eventStream(
    async function* texts() {
      for (;;) yield 'a'
    },
    1,
    released.resolve,
  )
  await released.promise
  t.equal(stream.destroyed, true)
})

t.test('event stream: an error closes the stream', async (t) => {
  const stream = eventStream(
    async function* texts() {
      yield 'a'
      throw new Error('broken')
    },
    longMs,
    () => {},
  )
  await t.rejects(text(stream), /broken/)
})

const calm: StreamBounds = { pollMs: 1, gapMs: 0, keyCheckMs: 60_000, heartbeatMs: 60_000, lifeMs: 60_000 }
const unauthorized =
  'event: unauthorized\ndata: {"code":"INVALID_API_KEY","message":"The API key is missing, invalid, expired or revoked."}\n\n'

const start = (
  report: ChangeReporter,
  {
    bounds = calm,
    isStopping = (): boolean => false,
    gone = new AbortController().signal,
    isAuthorized = async (): Promise<boolean> => true,
  } = {},
) => {
  const ends: StreamEnd[] = []
  const watcher = { waitForChange: async () => turn(false) }
  const texts = streamUntilEnd(
    { watcher, isStopping, isAuthorized, bounds, ended: (end) => ends.push(end) },
    report,
  )(gone)
  return { ends, texts, all: async () => Array.fromAsync(texts) }
}

/** Yields one list of texts each time, and ends with the last. */
const reporting = (...lists: string[][]): ChangeReporter =>
  async function* report() {
    yield* lists.shift() ?? []
    return lists.length === 0 ? 'over' : 'pending'
  }

t.test('event stream: reports until the end is reported', async (t) => {
  const { ends, all } = start(reporting(['a', 'b'], [], ['c']))
  t.same(await all(), ['retry: 2000\n\n', 'a', 'b', 'c'])
  t.same(ends, ['over'])
})

t.test('event stream: sends comments as heartbeats while there are no changes', async (t) => {
  const { all } = start(reporting(['a'], [], ['c']), { bounds: { ...calm, heartbeatMs: 0 } })
  t.same(await all(), ['retry: 2000\n\n', 'a', ': still here\n\n', ': still here\n\n', 'c'])
})

t.test('event stream: ends with a comment at its maximum age or when the gateway stops', async (t) => {
  const late = start(reporting(['a'], ['b']), { bounds: { ...calm, lifeMs: 0 } })
  t.match(await late.all(), ['retry: 2000\n\n', 'a', /lasted as long/])
  const stopped = start(reporting(['a'], ['b']), { isStopping: () => true })
  t.match(await stopped.all(), ['retry: 2000\n\n', 'a', /is stopping/])
  t.same([late.ends, stopped.ends], [['time'], ['stopping']])
})

t.test('event stream: ends when the client has disconnected', async (t) => {
  const leaving = new AbortController()
  const report: ChangeReporter = async function* report() {
    leaving.abort()
    yield 'a'
    return 'pending'
  }
  const { ends, all } = start(report, { gone: leaving.signal })
  t.same(await all(), ['retry: 2000\n\n', 'a'])
  t.same(ends, ['gone'])
})

t.test('event stream: continues while the database is temporarily unavailable; any other error ends it', async (t) => {
  const throws = (error: AppError, then: ChangeReporter): ChangeReporter => {
    let thrown = false
    return async function* report() {
      if (thrown) return yield* then(true)
      thrown = true
      throw error
    }
  }
  const { all } = start(throws(new AppError('SERVICE_UNAVAILABLE'), reporting(['a'])))
  t.same(await all(), ['retry: 2000\n\n', 'a'])
  await t.rejects(start(throws(new AppError('SERVER_ERROR'), reporting(['a']))).all(), { code: 'SERVER_ERROR' })
})

t.test('event stream: ends with an unauthorized event, and no further changes, once the key is invalid', async (t) => {
  let checks = 0
  const isAuthorized = async () => {
    checks += 1
    return checks < 3
  }
  const { ends, all } = start(reporting(['a'], ['b', 'c'], ['d']), { isAuthorized, bounds: { ...calm, keyCheckMs: 0 } })
  t.same(await all(), ['retry: 2000\n\n', 'a', unauthorized])
  t.same(ends, ['unauthorized'])
})

t.test(
  'event stream: continues while the key check is unavailable; any other error of it ends the stream',
  async (t) => {
    const answers: (() => Promise<boolean>)[] = [
      () => Promise.reject(new AppError('SERVICE_UNAVAILABLE')),
      () => Promise.resolve(true),
      () => Promise.resolve(false),
    ]
    const bounds = { ...calm, keyCheckMs: 0 }
    const isAuthorized = () => answers.shift()?.() ?? Promise.resolve(true)
    t.same(await start(reporting(['a'], ['b']), { isAuthorized, bounds }).all(), ['retry: 2000\n\n', 'a', unauthorized])
    const broken = start(reporting(['a']), { isAuthorized: () => Promise.reject(new Error('broken')), bounds })
    await t.rejects(broken.all(), { message: 'broken' })
  },
)

t.test(
  'event stream: checks its authorization at least every 12 s with the default bounds and slow reads',
  async (t) => {
    let now = 0
    const checkedMs = [0]
    const watcher = {
      waitForChange: async (waitMs: number) => {
        now += waitMs
        return false
      },
    }
    const isAuthorized = async () => {
      checkedMs.push(now)
      return checkedMs.length < 10
    }
    const bounds = { ...streamBounds, gapMs: 0, lifeMs: 900_000 }
    const report: ChangeReporter = async function* report() {
      // As long as the statement timeout.
      now += 10_000
      yield 'a'
      return 'pending'
    }
    const deps = { watcher, isStopping: () => false, isAuthorized, bounds, ended: () => {}, nowMs: () => now }
    await Array.fromAsync(streamUntilEnd(deps, report)(new AbortController().signal))
    const gaps = checkedMs.slice(1).map((at, index) => at - checkedMs[index]!)
    t.equal(gaps.length, 9)
    t.ok(Math.max(...gaps) <= 12_000, `${Math.max(...gaps)} ms`)
  },
)
