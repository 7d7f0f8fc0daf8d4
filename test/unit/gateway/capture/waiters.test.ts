import t from 'tap'
import type { Incoming } from '#shared/queue/connection.ts'
import { eventCodec, resultCodec } from '#shared/queue/messages.ts'
import { eventFilter, eventSubject, resultFilter, resultSubject } from '#shared/queue/subjects.ts'
import { createWaiters, waitForEnd } from '#gateway/capture/waiters.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { completedCapture, pendingCapture } from '#test/helpers/gateway-context.ts'

const id = '22222222-2222-4222-8222-222222222222'
const objectKey = `captures/2026-01-01T00/${id}/${'0'.repeat(32)}`
const reported = resultSubject({ pool: 'standard', id })
const longMs = 60_000

const start = (waitersMax = 10) => {
  const listeners = new Map<string, (message: Incoming) => void>()
  const reads: string[] = []
  const waiters = createWaiters({
    queue: {
      subscribe: (filter, onMessage) => {
        listeners.set(filter, onMessage)
        return { [Symbol.dispose]: () => listeners.delete(filter) }
      },
    },
    readSmall: async (key) => {
      reads.push(key)
      return Buffer.from('image')
    },
    waitersMax,
  })
  const say = (filter: string, subject: string, data: Uint8Array) =>
    listeners.get(filter)?.({ subject, data, reply: undefined, traceparent: undefined, statusCode: 0 })
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
      warnings: [],
      ...changes,
    })
  return { waiters, listeners, reads, say, result }
}

t.test('waiters: an event wakes the waiter of its capture, also when it came before the wait', async (t) => {
  const { waiters, say } = start()
  using waiter = waiters.begin(id)
  say(eventFilter, eventSubject({ accountId: 'a', id }), eventCodec.encode({ id, status: 'completed' }))
  await waiter?.waitForChange(longMs)
  const again = waiter?.waitForChange(longMs)
  say(eventFilter, eventSubject({ accountId: 'a', id }), eventCodec.encode({ id, status: 'completed' }))
  await again
  t.equal(waiters.count(), 1)
})

t.test('waiters: a result begins the reading of its object, once, and wakes nobody', async (t) => {
  const { waiters, reads, say, result } = start()
  using waiter = waiters.begin(id)
  say(resultFilter, reported, result())
  say(resultFilter, reported, result({ objectKey: objectKey.replace(/0$/, '1') }))
  t.same(reads, [objectKey])
  t.equal(waiter?.prefetch()?.objectKey, objectKey)
  t.same(await waiter?.prefetch()?.bytes, Buffer.from('image'))
})

t.test("a result that names another capture's object, or is malformed, begins nothing", async (t) => {
  const { waiters, reads, say, result } = start()
  using waiter = waiters.begin(id)
  const other = id.replace(/2$/, '3')
  say(resultFilter, reported, result({ objectKey: objectKey.replace(id, other) }))
  say(resultFilter, reported, result({ id: other }))
  say(resultFilter, reported, result({ objectKey: '../../etc/passwd' }))
  say(resultFilter, reported, Buffer.from('{'))
  say(eventFilter, eventSubject({ accountId: 'a', id }), Buffer.from('{'))
  say(
    resultFilter,
    resultSubject({ pool: 'standard', id: other }),
    result({ id: other, objectKey: objectKey.replace(id, other) }),
  )
  t.same([reads, waiter?.prefetch()], [[], undefined])
})

t.test('waiters: the time bounds a wait that nothing wakes', async (t) => {
  const { waiters } = start()
  using waiter = waiters.begin(id)
  await waiter?.waitForChange(1)
  t.pass()
})

t.test('waiters: stopping wakes all waiters, and none waits after it', async (t) => {
  const { waiters } = start()
  using waiter = waiters.begin(id)
  const waiting = waiter?.waitForChange(longMs)
  waiters.stop()
  await waiting
  await waiter?.waitForChange(longMs)
  t.equal(waiters.isStopping(), true)
})

t.test('waiters: waiters are bounded, and their places become free', async (t) => {
  const { waiters } = start(1)
  const first = waiters.begin(id)
  t.equal(first?.takeSlot('a'), true)
  t.equal(waiters.begin('other')?.takeSlot('b'), false)
  const unknown = [waiters.begin('third'), waiters.begin('fourth')]
  t.same(
    unknown.map((waiter) => waiter !== undefined),
    [true, false],
    'those whose account is not known are bounded too',
  )
  first?.[Symbol.dispose]()
  t.equal(waiters.begin('other')?.takeSlot('b'), true)
})

t.test('waiters: disposing ends both subscriptions', async (t) => {
  const { waiters, listeners } = start()
  t.equal(listeners.size, 2)
  waiters[Symbol.dispose]()
  t.equal(listeners.size, 0)
})

t.test('waiters: an event wakes all that follow its capture or its account, and nobody else', async (t) => {
  const { waiters, reads, say, result } = start(1)
  using capture = waiters.watch(id)
  using again = waiters.watch(id)
  using account = waiters.watch('a')
  using other = waiters.watch('b')
  let others = 0
  void other.waitForChange(longMs).then(() => (others += 1))
  say(eventFilter, eventSubject({ accountId: 'a', id }), eventCodec.encode({ id, status: 'completed' }))
  await Promise.all([capture.waitForChange(longMs), again.waitForChange(longMs), account.waitForChange(longMs)])
  t.equal(others, 0)
  say(resultFilter, reported, result())
  t.same(reads, [], 'followers want no image')
  t.ok(waiters.begin(id), 'and take no place of a synchronous capture')
  other.wake()
})

t.test('waiters: one of several that listen for a capture may go', async (t) => {
  const { waiters, say } = start()
  using stays = waiters.watch(id)
  const goes = waiters.watch(id)
  goes[Symbol.dispose]()
  goes[Symbol.dispose]()
  t.equal(waiters.count(), 1)
  say(eventFilter, eventSubject({ accountId: 'a', id }), eventCodec.encode({ id, status: 'completed' }))
  await stays.waitForChange(longMs)
})

t.test('waiters: one account leaves places for others, which share what there is', async (t) => {
  const { waiters } = start(12)
  const hold = (accountId: string) => waiters.begin(`of ${accountId}`)?.takeSlot(accountId) === true
  const fill = (accountId: string) => Array.from({ length: 12 }, () => hold(accountId)).filter(Boolean).length
  t.same([fill('busy'), fill('second'), fill('third')], [6, 4, 2])
  t.equal(hold('busy'), false)
})

t.test('waiters: a place is given up once, whoever gives it up first', async (t) => {
  const { waiters } = start(2)
  using first = waiters.begin(id)
  t.equal(first?.takeSlot('a'), true)
  t.equal(first?.takeSlot('a'), true, 'the second time it has it already')
  const second = waiters.begin(id)
  t.equal(second?.takeSlot('a'), false)
  second?.[Symbol.dispose]()
  first?.[Symbol.dispose]()
  first?.[Symbol.dispose]()
  t.equal(waiters.count(), 0)
  t.same([waiters.begin(id)?.takeSlot('a'), waiters.begin(id)?.takeSlot('b')], [true, true])
})

const of = { id: completedCapture.id, accountId: completedCapture.accountId }

const startLooks = (looks: (() => typeof pendingCapture | undefined)[]) => {
  const waits: number[] = []
  const deps = {
    captures: { find: async () => looks.shift()?.() },
    waiters: { isStopping: () => false },
  }
  const waiter = {
    waitForChange: async (ms: number) => {
      waits.push(ms)
    },
  }
  return { deps, waiter, waits }
}

t.test('wait for end: the row decides, however often it is woken', async (t) => {
  const { deps, waiter, waits } = startLooks([
    () => pendingCapture,
    () => ({ ...pendingCapture, status: 'processing' }),
    () => completedCapture,
  ])
  t.same(await waitForEnd(deps, waiter, of, longMs), { capture: completedCapture })
  t.same(waits, [1000, 1000, 1000], 'it looks every second at least')
})

t.test('wait for end: a database that is away for a while does not end the wait', async (t) => {
  const away = () => {
    throw new AppError('SERVICE_UNAVAILABLE')
  }
  const { deps, waiter } = startLooks([away, away, () => completedCapture])
  t.same(await waitForEnd(deps, waiter, of, longMs), { capture: completedCapture })
})

t.test('wait for end: a deleted capture ends the wait, and so does any other fault', async (t) => {
  const gone = startLooks([() => undefined])
  await t.rejects(waitForEnd(gone.deps, gone.waiter, of, longMs), { code: 'NOT_FOUND' })
  const broken = startLooks([
    () => {
      throw new TypeError('broken')
    },
  ])
  await t.rejects(waitForEnd(broken.deps, broken.waiter, of, longMs), { message: 'broken' })
})

t.test('wait for end: the capture goes on when the time is over or the gateway stops', async (t) => {
  const { deps, waiter } = startLooks([])
  t.equal(await waitForEnd(deps, waiter, of, 0), 'goes-on')
  t.equal(await waitForEnd({ ...deps, waiters: { isStopping: () => true } }, waiter, of, longMs), 'goes-on')
})
