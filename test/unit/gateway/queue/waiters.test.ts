import t from 'tap'
import type { Incoming } from '#shared/queue/connection.ts'
import { resultCodec } from '#shared/queue/messages.ts'
import { eventFilter, eventSubject, resultSubject } from '#shared/queue/subjects.ts'
import { createBufferedBytes } from '#gateway/images/read-image.ts'
import { createWaiters, waitForEnd } from '#gateway/queue/waiters.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { completedCapture, pendingCapture } from '#test/helpers/gateway-context.ts'

const id = '22222222-2222-4222-8222-222222222222'
const objectKey = `captures/2026-01-01T00/${id}/${'0'.repeat(32)}`
const capture = { accountId: 'a', id, pool: 'standard' } as const
const of = (accountId: string) => ({ ...capture, accountId })
const reported = resultSubject(capture)
const ended = eventSubject(capture)
const longMs = 60_000

const start = (waitersMax = 10, bytesMax = 1000) => {
  const bufferedImages = createBufferedBytes(bytesMax)
  const subscriptions = new Set<{ readonly filter: string; readonly onMessage: (message: Incoming) => void }>()
  const reads: string[] = []
  const waiters = createWaiters({
    queue: {
      subscribe: (filter, onMessage) => {
        const subscription = { filter, onMessage }
        subscriptions.add(subscription)
        return { [Symbol.dispose]: () => subscriptions.delete(subscription) }
      },
    },
    readSmall: async (key) => {
      reads.push(key)
      return Buffer.from('image')
    },
    bufferedImages,
    waitersMax,
  })
  const filters = () => [...subscriptions].map(({ filter }) => filter)
  const deliver = (subject: string, data: Uint8Array = Buffer.of()) => {
    for (const { filter, onMessage } of subscriptions)
      if (filter === subject || (filter.endsWith('.*') && subject.startsWith(filter.slice(0, -1))))
        onMessage({ subject, data, reply: undefined, traceparent: undefined, statusCode: 0 })
  }
  const result = (changes: object = {}) =>
    resultCodec.encode({
      id,
      attempt: 1,
      token: 't',
      outcome: 'completed',
      objectKey,
      bytes: 5,
      sha256: 'a'.repeat(64),
      width: 1,
      height: 1,
      timings: {},
      ...changes,
    })
  return { waiters, filters, reads, deliver, result, bufferedImages }
}

t.test('waiters: an event wakes the waiter of its capture, even if it arrives before the wait', async (t) => {
  const { waiters, deliver } = start()
  using waiter = waiters.begin(capture)
  deliver(ended)
  await waiter.waitForChange(longMs)
  const again = waiter.waitForChange(longMs)
  deliver(ended)
  await again
  t.equal(waiters.count(), 1)
})

t.test('waiters: a result starts to read its object, once, and wakes no waiter', async (t) => {
  const { waiters, reads, deliver, result } = start()
  using waiter = waiters.begin(capture)
  deliver(reported, result())
  deliver(reported, result({ objectKey: objectKey.replace(/0$/, '1') }))
  t.same(reads, [objectKey])
  t.equal(waiter.prefetch()?.objectKey, objectKey)
  t.same(await waiter.prefetch()?.bytes, Buffer.from('image'))
})

t.test('waiters: an image that was read ahead counts as buffered while its waiter waits', async (t) => {
  const { waiters, deliver, result, bufferedImages } = start(10, 7)
  {
    using first = waiters.begin(capture)
    using second = waiters.begin(capture)
    deliver(reported, result())
    t.same(await first.prefetch()?.bytes, Buffer.from('image'))
    t.equal(await second.prefetch()?.bytes, undefined, 'there is no room for another')
    t.equal(bufferedImages.count(), 5)
  }
  t.equal(bufferedImages.count(), 0)
  const left = waiters.begin(capture)
  deliver(reported, result())
  left[Symbol.dispose]()
  t.equal(await left.prefetch()?.bytes, undefined)
  t.equal(bufferedImages.count(), 0)
})

t.test('waiters: ignores malformed results, and results that name another capture or its object', async (t) => {
  const { waiters, reads, deliver, result } = start()
  using waiter = waiters.begin(capture)
  const other = id.replace(/2$/, '3')
  deliver(reported, result({ objectKey: objectKey.replace(id, other) }))
  deliver(reported, result({ id: other }))
  deliver(reported, result({ objectKey: '../../etc/passwd' }))
  deliver(reported, Buffer.from('{'))
  t.same([reads, waiter.prefetch()], [[], undefined])
})

t.test('waiters: a wait without an event ends at its timeout', async (t) => {
  const { waiters } = start()
  using waiter = waiters.begin(capture)
  t.equal(await waiter.waitForChange(1), false)
})

t.test('waiters: stopping wakes all waiters, and later waits end immediately', async (t) => {
  const { waiters } = start()
  using waiter = waiters.begin(capture)
  const waiting = waiter.waitForChange(longMs)
  waiters.stop()
  await waiting
  await waiter.waitForChange(longMs)
  t.equal(waiters.isStopping(), true)
})

t.test('waiters: the number of waiters is bounded, and disposing of one frees its slot', async (t) => {
  const { waiters } = start(1)
  const first = waiters.begin(capture)
  t.equal(first.takeSlot(), true)
  t.equal(waiters.begin(of('b')).takeSlot(), false)
  first[Symbol.dispose]()
  t.equal(waiters.begin(of('b')).takeSlot(), true)
})

t.test('waiters: a gateway subscribes only to what somebody there waits for', async (t) => {
  const { waiters, filters } = start()
  const waiter = waiters.begin(capture)
  t.strictSame(filters(), [ended, reported])
  const one = waiters.watch(capture)
  const all = waiters.watch({ accountId: 'a' })
  t.strictSame(filters().slice(2), [ended, eventFilter('a')])
  for (const each of [waiter, one, all]) each[Symbol.dispose]()
  t.strictSame(filters(), [])
})

t.test('waiters: an event wakes all followers of its capture or its account, and no others', async (t) => {
  const { waiters, reads, deliver, result } = start(1)
  using one = waiters.watch(capture)
  using again = waiters.watch(capture)
  using account = waiters.watch({ accountId: 'a' })
  using other = waiters.watch({ accountId: 'b' })
  let others = 0
  void other.waitForChange(longMs).then(() => (others += 1))
  deliver(ended)
  await Promise.all([one.waitForChange(longMs), again.waitForChange(longMs), account.waitForChange(longMs)])
  t.equal(others, 0)
  deliver(reported, result())
  t.same(reads, [], 'followers read no image')
  t.ok(waiters.begin(capture).takeSlot(), 'followers take no slot of a synchronous capture')
  other.wake()
})

t.test('waiters: one of several followers of a capture can unsubscribe', async (t) => {
  const { waiters, deliver } = start()
  using stays = waiters.watch(capture)
  const goes = waiters.watch(capture)
  goes[Symbol.dispose]()
  goes[Symbol.dispose]()
  t.equal(waiters.count(), 1)
  deliver(ended)
  await stays.waitForChange(longMs)
})

t.test('waiters: accounts share the slots; each leaves free slots for others', async (t) => {
  const { waiters } = start(12)
  const hold = (accountId: string) => waiters.begin(of(accountId)).takeSlot()
  const fill = (accountId: string) => Array.from({ length: 12 }, () => hold(accountId)).filter(Boolean).length
  t.same([fill('busy'), fill('second'), fill('third')], [6, 4, 2])
  t.equal(hold('busy'), false)
})

t.test('waiters: a slot is released once, even if disposed of twice', async (t) => {
  const { waiters } = start(2)
  const [first, second] = [waiters.begin(capture), waiters.begin(capture)]
  t.strictSame([first.takeSlot(), second.takeSlot()], [true, false])
  for (const waiter of [first, first, second]) waiter[Symbol.dispose]()
  t.equal(waiters.count(), 0)
  t.strictSame([waiters.begin(capture).takeSlot(), waiters.begin(of('b')).takeSlot()], [true, true])
})

const startWait = (reads: (() => typeof pendingCapture | undefined)[]) => {
  const waits: number[] = []
  const deps = {
    find: async () => reads.shift()?.(),
    isStopping: () => false,
    watchClient: () => ({ signal: new AbortController().signal, [Symbol.dispose]: () => {} }),
  }
  const waiter = {
    wake: () => {},
    waitForChange: async (ms: number) => {
      waits.push(ms)
    },
  }
  return { deps, waiter, waits }
}

t.test('wait for end: only the row ends the wait, however often it is woken', async (t) => {
  const { deps, waiter, waits } = startWait([
    () => pendingCapture,
    () => ({ ...pendingCapture, status: 'processing' }),
    () => completedCapture,
  ])
  t.same(await waitForEnd(deps, waiter, longMs), { capture: completedCapture })
  t.same(waits, [1000, 1000, 1000], 'it reads the row at least every second')
})

t.test('wait for end: continues while the database is temporarily unavailable', async (t) => {
  const away = () => {
    throw new AppError('SERVICE_UNAVAILABLE')
  }
  const { deps, waiter } = startWait([away, away, () => completedCapture])
  t.same(await waitForEnd(deps, waiter, longMs), { capture: completedCapture })
})

t.test('wait for end: ends when the capture is deleted, or on any other error', async (t) => {
  const gone = startWait([() => undefined])
  await t.rejects(waitForEnd(gone.deps, gone.waiter, longMs), { code: 'NOT_FOUND' })
  const broken = startWait([
    () => {
      throw new TypeError('broken')
    },
  ])
  await t.rejects(waitForEnd(broken.deps, broken.waiter, longMs), { message: 'broken' })
})

t.test('wait for end: returns accepted at the timeout or when the gateway stops', async (t) => {
  const { deps, waiter } = startWait([])
  t.equal(await waitForEnd(deps, waiter, 0), 'accepted')
  t.equal(await waitForEnd({ ...deps, isStopping: () => true }, waiter, longMs), 'accepted')
})

t.test('wait for end: a client that leaves takes its waiter along', async (t) => {
  const gone = new AbortController()
  const { deps } = startWait([() => pendingCapture])
  const { promise, resolve } = Promise.withResolvers<void>()
  const watchClient = () => ({ signal: gone.signal, [Symbol.dispose]: () => {} })
  const waiting = waitForEnd({ ...deps, watchClient }, { waitForChange: () => promise, wake: resolve }, longMs)
  gone.abort()
  t.equal(await waiting, 'accepted')
})
