import { mock } from 'node:test'
import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { createSharing, createSlot } from '#worker/host/slot.ts'
import { holdAfterFailures } from '#worker/host/slots.ts'
import type { Host } from '#worker/host/steer-host.ts'
import { createPullGate } from '#worker/lifecycle/pull-gate.ts'

const never = new AbortController().signal

const makeHost = () => {
  const ending = new AbortController()
  let disposed = 0
  const host: Host = {
    gone: ending.signal,
    capture: () => Promise.reject(new Error('not used')),
    [Symbol.asyncDispose]: async () => void (disposed += 1),
  }
  return { host, end: () => ending.abort('it ended'), disposed: () => disposed }
}

const noEvents = { hostUp: () => {}, hostFailed: () => {}, hostGone: () => {} }

t.test('slots: keeps its host until the host exits, then replaces it', async (t) => {
  const hosts = [makeHost(), makeHost()]
  let starts = 0
  const reasons: string[] = []
  const events = { ...noEvents, hostGone: (reason: string) => void reasons.push(reason) }
  const slot = createSlot(async () => hosts[starts++]!.host, createSharing('pool'), events)
  t.notOk(slot.isWarm())
  t.equal(await slot.host(never), hosts[0]?.host)
  t.equal(await slot.host(never), hosts[0]?.host)
  t.ok(slot.isWarm())
  t.equal(slot.coldForMs(), 0)
  hosts[0]?.end()
  t.notOk(slot.isWarm())
  t.equal(await slot.host(never), hosts[1]?.host)
  t.equal(hosts[0]?.disposed(), 1)
  t.same(reasons, ['it ended'])
  await slot[Symbol.asyncDispose]()
  t.equal(hosts[1]?.disposed(), 1)
})

t.test('slots: retries failed starts of a host, and reports each', async (t) => {
  const { host } = makeHost()
  const failures: string[] = []
  let starts = 0
  const start = async () => {
    starts += 1
    if (starts < 3) throw new AppError('SERVICE_UNAVAILABLE', { message: `try ${starts}` })
    return host
  }
  const slot = createSlot(start, createSharing('pool'), {
    ...noEvents,
    hostFailed: ({ message }) => failures.push(message),
  })
  t.equal(await slot.host(never), host)
  t.strictSame(failures, ['try 1', 'try 2'])
})

t.test(
  'slots: the bound of a start doubles with each failure up to four minutes, and a success resets it',
  async (t) => {
    const made = [makeHost(), makeHost()]
    const bounds: number[] = []
    let failuresLeft = 4
    const start = async (_stop: AbortSignal, startMs: number) => {
      bounds.push(startMs)
      if (failuresLeft-- > 0) throw new AppError('SERVICE_UNAVAILABLE', { message: 'slow' })
      return made.shift()!.host
    }
    const [first] = made
    const slot = createSlot(start, createSharing('pool'), noEvents)
    await slot.host(never)
    t.strictSame(bounds, [30_000, 60_000, 120_000, 240_000, 240_000])
    first?.end()
    await slot.host(never)
    t.equal(bounds.at(-1), 30_000)
  },
)

t.test('slots: gives up when stopped', async (t) => {
  const stop = new AbortController()
  const slot = createSlot(() => Promise.reject(new Error('never')), createSharing('pool'), {
    ...noEvents,
    hostFailed: () => stop.abort(),
  })
  t.equal(await slot.host(stop.signal), undefined)
})

t.test('slots: aborts a start in progress when stopped, without a failure', async (t) => {
  const stop = new AbortController()
  const failures: string[] = []
  const begun = Promise.withResolvers<void>()
  const start = (signal: AbortSignal) =>
    new Promise<Host>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('ended')))
      begun.resolve()
    })
  const slot = createSlot(start, createSharing('pool'), {
    ...noEvents,
    hostFailed: ({ message }) => failures.push(message),
  })
  const pending = slot.host(stop.signal)
  await begun.promise
  stop.abort()
  t.equal(await pending, undefined)
  t.strictSame(failures, [])
})

/** A slot with its hosts in the order of their starts. */
const startSlot = (by: 'pool' | 'account' | 'capture') => {
  const made: ReturnType<typeof makeHost>[] = []
  const start = async () => {
    const one = makeHost()
    made.push(one)
    return one.host
  }
  const slot = createSlot(start, createSharing(by), noEvents)
  const takeHostIndex = async (accountId?: string) => {
    const host = await slot.host(never, accountId)
    return made.findIndex((each) => each.host === host)
  }
  return { made, slot, takeHostIndex, ended: () => made.map(({ disposed }) => disposed()) }
}

t.test('slots: with `account` a host serves one account, and a spare one only a second account starts', async (t) => {
  const { slot, takeHostIndex, ended, made } = startSlot('account')
  t.equal(await takeHostIndex(), 0)
  t.equal(slot.preference(), undefined)
  t.equal(await takeHostIndex('a'), 0, 'an unused host serves any account')
  t.equal(slot.preference()?.accountId, 'a')
  t.equal(await takeHostIndex(), 0)
  t.equal(await takeHostIndex('a'), 0)
  t.equal(made.length, 1, 'one account needs no spare host')
  t.equal(await takeHostIndex('b'), 1)
  t.same(ended(), [1, 0, 0], 'the used host has ended, and a spare one is started')
  t.equal(await takeHostIndex('a'), 2)
  t.same(ended(), [1, 1, 0, 0], 'an account that returns gets another host')
  await slot[Symbol.asyncDispose]()
  t.same(ended(), [1, 1, 1, 1])
})

t.test('slots: with `capture` each capture gets a spare host', async (t) => {
  const { slot, takeHostIndex, ended } = startSlot('capture')
  t.equal(await takeHostIndex(), 0)
  t.equal(await takeHostIndex('a'), 0)
  t.equal(await takeHostIndex(), 1, 'before the next capture is pulled')
  t.equal(await takeHostIndex('a'), 1)
  t.same(ended(), [1, 0, 0])
  t.equal(slot.preference(), undefined)
  await slot[Symbol.asyncDispose]()
})

t.test('slots: with `pool` a host serves all accounts', async (t) => {
  const { slot, takeHostIndex, made } = startSlot('pool')
  t.same([await takeHostIndex('a'), await takeHostIndex('b')], [0, 0])
  t.equal(slot.preference(), undefined)
  t.equal(made.length, 1)
})

t.test('slots: an account passes others for eight captures or five seconds, then waits for its turn', async (t) => {
  const { slot, takeHostIndex } = startSlot('account')
  let at = 100_000
  const now = mock.method(performance, 'now', () => at)
  t.teardown(() => now.mock.restore())
  const mayPass = () => slot.preference()?.mayPass
  for (let capture = 1; capture <= 7; capture += 1) {
    await takeHostIndex('a')
    t.equal(mayPass(), true, `after ${capture}`)
  }
  await takeHostIndex('a')
  t.equal(mayPass(), false, 'after eight')
  await takeHostIndex('a')
  t.equal(mayPass(), true, 'its turn came again')
  at += 5000
  t.equal(mayPass(), false, 'after five seconds')
  await takeHostIndex('b')
  t.same(slot.preference(), { accountId: 'b', mayPass: true })
  await slot[Symbol.asyncDispose]()
})

t.test('slots: the next host is not handed out before the used one has ended', async (t) => {
  const { made, slot, takeHostIndex } = startSlot('account')
  await takeHostIndex('a')
  const end = Promise.withResolvers<void>()
  Object.assign(made[0]!.host, { [Symbol.asyncDispose]: () => end.promise })
  let isHandedOut = false
  const next = takeHostIndex('b').then(() => (isHandedOut = true))
  await new Promise((resume) => setImmediate(resume))
  t.notOk(isHandedOut)
  end.resolve()
  await next
  await slot[Symbol.asyncDispose]()
})

t.test('slots: a spare host that has ended or failed to start is replaced', async (t) => {
  const { made, takeHostIndex, slot } = startSlot('account')
  await takeHostIndex('a')
  await takeHostIndex('b')
  made[2]?.end()
  t.equal(await takeHostIndex('c'), 3)
  await slot[Symbol.asyncDispose]()
})

t.test('slots: a capture is not held by a slot whose next host fails to start', async (t) => {
  const { host } = makeHost()
  let starts = 0
  const failures: string[] = []
  const start = async () => {
    starts += 1
    if (starts > 1) throw new AppError('SERVICE_UNAVAILABLE', { message: 'no memory' })
    return host
  }
  const events = { ...noEvents, hostFailed: ({ message }: AppError) => void failures.push(message) }
  const slot = createSlot(start, createSharing('account'), events)
  t.equal(await slot.host(never, 'a'), host)
  t.equal(await slot.host(never, 'b'), undefined)
  t.same(failures, ['no memory'])
  t.ok(slot.coldForMs() > 0)
})

t.test('slots: three failed browser starts in a row suspend pulling until one succeeds', async (t) => {
  const gate = createPullGate()
  const calls: string[] = []
  const { hostUp, hostFailed } = holdAfterFailures(
    { hostUp: () => void calls.push('up'), hostFailed: () => void calls.push('failed'), hostGone: () => {} },
    gate,
  )
  const fail = () => hostFailed(new AppError('SERVICE_UNAVAILABLE', { message: 'no sandbox' }))
  fail()
  fail()
  hostUp(1)
  fail()
  fail()
  t.notOk(gate.pulling().aborted, 'the failures are not in a row')
  fail()
  t.ok(gate.pulling().aborted)
  t.same([...gate.holds()], [['browser', 'failed to start 3 times in a row: no sandbox']])
  hostUp(1)
  t.notOk(gate.pulling().aborted)
  t.same(calls, ['failed', 'failed', 'up', 'failed', 'failed', 'failed', 'up'])
})
