import t from 'tap'
import { StatusWriter } from '#controller/operator/status/status-writer.ts'
import type { BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import type { Patch } from '#shared/kube/client.ts'
import { KubeError, type Outcome } from '#shared/kube/kube-error.ts'
import type { Ref } from '#shared/kube/resource.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'
import { asKubeApi } from '#test/helpers/object-api.ts'

type Written = { readonly name: string; readonly atMs: number; readonly status: BrowserPoolStatus }

const setUp = () => {
  const clock = createHandClock()
  const written: Written[] = []
  const occurred: string[] = []
  const reported: string[] = []
  const failures: string[] = []
  const state = { fails: undefined as Outcome | undefined, asked: {}, version: 1 }
  const patch = async (ref: Ref, { body }: Patch) => {
    if (state.fails) throw new KubeError(state.fails, { message: 'no', ...state.asked })
    const { status } = body as { status: BrowserPoolStatus }
    written.push({ name: `${ref.name}/${ref.subresource}`, atMs: clock.nowMs(), status })
    state.version += 1
    return { metadata: { resourceVersion: String(state.version) } }
  }
  const writer = new StatusWriter({
    api: asKubeApi({ patch }),
    clock,
    instance: 'one',
    occurred: ({ metadata }, { reason }) => occurred.push(`${metadata.name} ${reason}`),
    reported: (pool, status) => reported.push(`${pool.metadata.name} ${status?.queue}`),
    failed: (pool) => failures.push(pool),
  })
  return { clock, written, occurred, reported, failures, state, writer }
}

const status = (queue: number, reason: 'AsExpected' | 'ImagePull' = 'AsExpected'): BrowserPoolStatus => ({
  queue,
  conditions: [
    {
      type: 'Degraded',
      status: reason === 'AsExpected' ? 'False' : 'True',
      reason,
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration: 1,
    },
  ],
})

t.test('status writer: conditions are written at once, through the subresource, and then reported', async (t) => {
  const { clock, writer, written, occurred } = setUp()
  writer.write(poolObject(), () => status(0))
  await clock.advance(2000)
  writer.write(poolObject(), () => status(0, 'ImagePull'))
  await clock.advance(0)
  t.match(written, [
    { name: 'web/status', atMs: 0 },
    { name: 'web/status', atMs: 2000 },
  ])
  t.strictSame(occurred, ['web ImagePull'])
})

t.test(
  'status writer: changing conditions are written at most once a second, and not if they have changed back',
  async (t) => {
    const { clock, writer, written } = setUp()
    const writeFor = async (ms: number) => {
      for (const endMs = clock.nowMs() + ms; clock.nowMs() < endMs;) {
        writer.write(poolObject(), () => status(0, clock.nowMs() % 100 === 0 ? 'AsExpected' : 'ImagePull'))
        await clock.advance(50)
      }
    }
    await writeFor(10_000)
    t.ok(written.length <= 10, `${written.length} writes in 10 s`)
    const before = written.length
    writer.write(poolObject(), () => status(0, 'ImagePull'))
    await clock.advance(10_000)
    t.match(written.at(-1), { status: status(0, 'ImagePull') }, 'although no status is reported any more')
    t.ok(written.length <= before + 1)
    const calm = written.length
    writer.write(poolObject(), () => status(0))
    await clock.advance(0)
    t.equal(written.length, calm + 1, 'a change after a quiet period is written at once')
  },
)

t.test('status writer: a recent write of numbers does not delay conditions', async (t) => {
  const { clock, writer, written } = setUp()
  writer.write(poolObject(), () => status(0))
  await clock.advance(5000)
  writer.write(poolObject(), () => status(1))
  await clock.advance(10)
  writer.write(poolObject(), () => status(1, 'ImagePull'))
  await clock.advance(0)
  t.strictSame(
    written.map(({ atMs }) => atMs),
    [0, 5000, 5010],
  )
})

t.test('status writer: no status is written while the server throttles', async (t) => {
  const { clock, writer, written, failures, state } = setUp()
  const writeAll = () => {
    for (const name of ['a', 'b', 'c']) writer.write(poolObject(name), () => status(clock.nowMs(), 'ImagePull'))
  }
  state.asked = { retryAfterSeconds: 7 }
  state.fails = 'too-many-requests'
  writeAll()
  await clock.advance(0)
  t.equal(failures.length, 3, 'writes in flight')
  state.fails = undefined
  for (let tenth = 0; tenth < 69; tenth += 1) {
    writeAll()
    await clock.advance(100)
  }
  t.strictSame(written, [])
  await clock.advance(100)
  writeAll()
  await clock.advance(0)
  t.equal(written.length, 3)
})

t.test('status writer: an unchanged status is not written, by whichever process it was written', async (t) => {
  const { clock, writer, written } = setUp()
  writer.write(poolObject('web', {}, { status: status(3) }), () => status(3))
  await clock.advance(0)
  t.strictSame(written, [])
  writer.write(poolObject(), () => status(3))
  await clock.advance(0)
  writer.write(poolObject(), () => status(3))
  await clock.advance(0)
  t.equal(written.length, 1, 'the cache does not show it yet')
})

t.test('status writer: numbers of a pool are written at most every five seconds, with the newest values', async (t) => {
  const { clock, writer, written } = setUp()
  for (let second = 0; second <= 10; second += 1) {
    writer.write(poolObject(), () => status(second))
    await clock.advance(1000)
  }
  t.strictSame(
    written.map(({ atMs, status: { queue } }) => [atMs, queue]),
    [
      [0, 0],
      [5000, 5],
      [10_000, 10],
    ],
  )
})

t.test('status writer: numbers of all pools are written at most twice a second, each pool in turn', async (t) => {
  const { clock, writer, written } = setUp()
  const names = Array.from({ length: 50 }, (_, index) => `p${index}`)
  /** The pool as the cache shows it. */
  const shown = (name: string) => {
    const last = written.findLast((each) => each.name === `${name}/status`)
    return poolObject(name, {}, last && { status: last.status })
  }
  const writeAll = async (queue: number) => {
    for (const name of names) writer.write(shown(name), () => status(queue))
    await clock.advance(1000)
  }
  await writeAll(0)
  for (let second = 1; second <= 60; second += 1) await writeAll(second)
  const numbers = written.slice(names.length)
  t.ok(numbers.length <= 2 * 60 && numbers.length >= 2 * 50, `${numbers.length} writes in a minute`)
  t.equal(new Set(numbers.map(({ name }) => name)).size, 50)
  const gaps = numbers.slice(1).map(({ atMs }, index) => atMs - numbers[index]!.atMs)
  t.ok(Math.min(...gaps) >= 500)
})

t.test('status writer: a failed write is reported, and retried a second later', async (t) => {
  const { clock, writer, written, failures, occurred, state } = setUp()
  state.fails = 'unavailable'
  for (let tenth = 0; tenth < 10; tenth += 1) {
    writer.write(poolObject(), () => status(0, 'ImagePull'))
    await clock.advance(99)
  }
  t.strictSame(failures, ['web'])
  state.fails = undefined
  await clock.advance(10)
  writer.write(poolObject(), () => status(0, 'ImagePull'))
  await clock.advance(0)
  t.equal(written.length, 1)
  t.strictSame(occurred, ['web ImagePull'])
})

t.test('status writer: repeated failures back off to a minute', async (t) => {
  const { clock, writer, failures, state } = setUp()
  state.fails = 'invalid'
  const failuresIn = async (seconds: number) => {
    const before = failures.length
    for (let second = 0; second < seconds; second += 1) {
      writer.write(poolObject(), () => status(0, 'ImagePull'))
      await clock.advance(1000)
    }
    return failures.length - before
  }
  t.equal(await failuresIn(64), 7)
  t.equal(await failuresIn(600), 10)
})

t.test('status writer: a deleted pool is no failure', async (t) => {
  const { clock, writer, failures, state } = setUp()
  state.fails = 'not-found'
  writer.write(poolObject(), () => status(0))
  await clock.advance(0)
  t.strictSame(failures, [])
})

t.test('status writer: the last write counts before the informer shows it', async (t) => {
  const { clock, writer } = setUp()
  writer.write(poolObject(), () => status(1))
  await clock.advance(0)
  const queues: unknown[] = []
  const newer = poolObject('web', {}, { status: status(9), metadata: { resourceVersion: '7' } })
  for (const shown of [poolObject(), newer])
    writer.write(shown, ({ pool }) => {
      queues.push(pool.status?.queue)
      return status(1)
    })
  t.strictSame(queues, [1, 9])
})

t.test('status writer: writes nothing once disposed', async (t) => {
  const { clock, writer, written } = setUp()
  writer.write(poolObject(), () => status(0))
  await clock.advance(0)
  writer.write(poolObject(), () => status(0, 'ImagePull'))
  await writer[Symbol.asyncDispose]()
  writer.write(poolObject(), () => status(0, 'ImagePull'))
  await clock.advance(10_000)
  t.equal(written.length, 1)
})

t.test('status writer: each status is reported, and the deletion of the pool', async (t) => {
  const { clock, writer, reported } = setUp()
  writer.write(poolObject('a'), () => status(1))
  writer.write(poolObject('a'), () => status(1))
  writer.write(poolObject('b'), () => status(2))
  await clock.advance(0)
  writer.keep(new Set(['uid-b']))
  await writer[Symbol.asyncDispose]()
  t.strictSame(reported, ['a 1', 'a 1', 'b 2', 'a undefined', 'b undefined'])
})
