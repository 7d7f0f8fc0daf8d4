import t from 'tap'
import type { Child } from '#local/child.ts'
import { type PartPlan, supervise } from '#local/supervise.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { eventually } from '#test/helpers/eventually.ts'

/** A process that exits when told to. */
const fakeChild = (pid: number) => {
  const exited = Promise.withResolvers<string>()
  let ended = false
  const end = (how: string) => {
    ended = true
    exited.resolve(how)
  }
  const child: Child = {
    pid,
    exited: exited.promise,
    hasExited: () => ended,
    announced: new Promise(() => {}),
    kill: (signal) => end(`signal ${signal}`),
  }
  return { child, end }
}

/** A part whose starts give the `starts` in order: a process, or an error. */
const createPart = (starts: readonly (ReturnType<typeof fakeChild> | Error)[]) => {
  let started = 0
  const notices: string[] = []
  const plan: PartPlan = {
    name: 'part',
    stopSignal: 'SIGTERM',
    stopMs: 1000,
    start: async () => {
      const next = starts[started]
      started += 1
      if (next === undefined || next instanceof Error) throw next ?? new Error('no more starts')
      return { child: next.child, addresses: {} }
    },
  }
  const watcher = {
    down: (name: string, reason: string, waitMs: number) => void notices.push(`${name} down, ${reason}, ${waitMs}`),
    back: async (name: string, pid: number) => void notices.push(`${name} back as ${pid}`),
  }
  return { plan, watcher, notices, started: () => started }
}

const never = new AbortController().signal

t.test('supervise: the first start throws its error', async (t) => {
  const { plan, watcher } = createPart([new AppError('SERVICE_UNAVAILABLE', { message: 'no' })])
  await t.rejects(supervise(plan, never, watcher), { message: 'no' })
})

t.test('supervise: restarts a part that exits; failed restarts lengthen the wait', async (t) => {
  const [one, two] = [fakeChild(1), fakeChild(2)]
  const { plan, watcher, notices } = createPart([one, new Error('too early'), two])
  const part = await supervise(plan, never, watcher)
  one.end('exit code 1')
  await eventually(() => notices.length === 3)
  t.strictSame(notices, ['part down, exit code 1, 250', 'part down, too early, 500', 'part back as 2'])
  t.equal(part.current().child.pid, 2)
  await part.stop()
})

t.test('supervise: a stopped part is not restarted', async (t) => {
  const one = fakeChild(1)
  const { plan, watcher, notices, started } = createPart([one, fakeChild(2)])
  const part = await supervise(plan, never, watcher)
  await part.stop()
  t.equal(await one.child.exited, 'signal SIGTERM')
  t.strictSame([notices, started()], [[], 1])
})

t.test('supervise: a stop ends the wait before a restart', async (t) => {
  const one = fakeChild(1)
  const { plan, watcher, notices, started } = createPart([one, fakeChild(2)])
  const part = await supervise(plan, never, watcher)
  one.end('exit code 1')
  await eventually(() => notices.length === 1)
  await part.stop()
  t.equal(started(), 1)
})

t.test('supervise: a process that starts during the stop is stopped too', async (t) => {
  const [one, two] = [fakeChild(1), fakeChild(2)]
  const { plan, watcher } = createPart([one])
  const starting = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const part = await supervise(plan, never, watcher)
  Object.assign(plan, {
    start: async () => {
      starting.resolve()
      await gate.promise
      return { child: two.child, addresses: {} }
    },
  })
  one.end('exit code 1')
  await starting.promise
  const stopped = part.stop()
  gate.resolve()
  await stopped
  t.equal(two.child.hasExited(), true)
})

t.test('supervise: kills a process that ignores the signal', async (t) => {
  const exited = Promise.withResolvers<string>()
  const child: Child = {
    ...fakeChild(1).child,
    exited: exited.promise,
    kill: (signal) => signal === 'SIGKILL' && exited.resolve(signal),
  }
  const { watcher } = createPart([])
  const start = async () => ({ child, addresses: {} })
  const part = await supervise({ name: 'part', stopSignal: 'SIGTERM', stopMs: 10, start }, never, watcher)
  await part.stop()
  t.equal(await exited.promise, 'SIGKILL')
})

t.test('watchdog: a part that no longer responds is killed and restarted', async (t) => {
  const [one, two] = [fakeChild(1), fakeChild(2)]
  const { plan, watcher, notices } = createPart([one, two])
  const untilUnresponsive: PartPlan['untilUnresponsive'] = ({ child }) =>
    child.pid === 1 ? Promise.resolve('blocked') : new Promise(() => {})
  const part = await supervise({ ...plan, untilUnresponsive }, never, watcher)
  await eventually(() => notices.length === 2)
  t.equal(await one.child.exited, 'signal SIGKILL')
  t.strictSame(notices, ['part down, blocked, 250', 'part back as 2'])
  await part.stop()
})

t.test('watchdog: a part that is stopping gets its full stop time, responsive or not', async (t) => {
  const { child, end } = fakeChild(1)
  const signals: string[] = []
  const { watcher } = createPart([])
  const part = await supervise(
    {
      name: 'part',
      stopSignal: 'SIGTERM',
      stopMs: 60_000,
      start: async () => ({ child: { ...child, kill: (signal) => void signals.push(signal) }, addresses: {} }),
      untilUnresponsive: (_running, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
    },
    never,
    watcher,
  )
  const stopped = part.stop()
  await new Promise(setImmediate)
  end('exit code 0')
  await stopped
  t.strictSame(signals, ['SIGTERM'])
})
