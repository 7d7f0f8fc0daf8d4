import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { eventStream } from '#gateway/live/event-stream.ts'

const longMs = 60_000

t.test('texts are produced only while the client takes them', async (t) => {
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
  t.equal(produced, 1, 'one is held, no more')
  t.equal(await text(stream), '1;2;3;4;5;')
  if (!stream.closed) await once(stream, 'close')
  t.equal(released, 1)
})

t.test('a client that goes frees its place at once, whatever is waited for', async (t) => {
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

t.test('a stream of which nothing is taken is broken off in the end', async (t) => {
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

t.test('what goes wrong breaks the stream off', async (t) => {
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
