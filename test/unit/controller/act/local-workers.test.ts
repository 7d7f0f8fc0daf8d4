import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import type { WorkerNotice } from '#controller/act/actuator.ts'
import { createLocalWorkers } from '#controller/act/local-workers.ts'
import type { StandInMode } from '#test/fixtures/stand-in-worker.ts'
import { eventually } from '#test/helpers/eventually.ts'

const entry = resolve(import.meta.dirname, '../../../fixtures/stand-in-worker.ts')

const begin = (t: Test, mode: StandInMode, killAfterMs = 10_000) => {
  const notices: WorkerNotice[] = []
  const actuator = createLocalWorkers({
    entry,
    env: { STAND_IN_MODE: mode },
    killAfterMs,
    notice: (notice) => notices.push(notice),
  })
  t.teardown(() => actuator[Symbol.asyncDispose]())
  const count = async () => (await actuator.list()).workers.length
  return { actuator, notices, count }
}

t.test('local workers: starts up to a total, and no more on repeated calls', async (t) => {
  const { actuator, count } = begin(t, 'never-ready')
  await actuator.start(2)
  await actuator.start(2)
  await actuator.start(1)
  t.equal(await count(), 2)
  const pods = (await actuator.list()).workers.map(({ pod }) => pod)
  t.match(pods, [/^worker-1-[0-9a-f]{8}$/, /^worker-2-[0-9a-f]{8}$/])
})

t.test('local workers: stops exactly the named workers, and counts them no longer', async (t) => {
  const { actuator, notices, count } = begin(t, 'never-ready')
  await actuator.start(2)
  const [first, second] = (await actuator.list()).workers
  await actuator.stop([first!.pod, 'worker-unknown'])
  await actuator.stop([first!.pod])
  t.strictSame(
    (await actuator.list()).workers.map(({ stopping }) => stopping),
    [true, false],
  )
  await actuator.start(2)
  t.equal(await count(), 3)
  await eventually(async () => (await count()) === 2)
  t.match(
    notices.filter(({ kind }) => kind === 'ended'),
    [{ pod: first!.pod, isExpected: true }],
  )
  t.ok((await actuator.list()).workers.some(({ pod }) => pod === second!.pod))
})

t.test('local workers: replace leaves new starts to the controller, and keep does nothing', async (t) => {
  const { actuator, notices, count } = begin(t, 'never-ready')
  await actuator.start(2)
  const [first, second] = (await actuator.list()).workers
  await actuator.replace([first!.pod])
  await actuator.keep([second!.pod])
  await eventually(async () => (await count()) === 1)
  t.equal(notices.filter(({ kind }) => kind === 'started').length, 2)
})

t.test('local workers: counts starts that became ready, with their duration', async (t) => {
  const { actuator, notices } = begin(t, 'ignore-stop', 100)
  await actuator.start(1)
  await eventually(async () => (await actuator.list()).starts.ready === 1)
  t.ok(((await actuator.list()).startMs ?? 0) > 0)
  t.ok(notices.some(({ kind }) => kind === 'ready'))
})

t.test('local workers: counts workers that exit before they are ready as failed, without a restart', async (t) => {
  const { actuator, notices, count } = begin(t, 'end-at-start')
  await actuator.start(2)
  await eventually(async () => (await count()) === 0)
  t.strictSame((await actuator.list()).starts, { ready: 0, failed: 2 })
  t.match(
    notices.filter(({ kind }) => kind === 'ended'),
    [
      { how: 'exit code 0', isExpected: false },
      { how: 'exit code 0', isExpected: false },
    ],
  )
})

t.test('local workers: kills a worker that does not exit in time', async (t) => {
  const { actuator, notices, count } = begin(t, 'ignore-stop', 100)
  await actuator.start(1)
  await eventually(async () => (await actuator.list()).starts.ready === 1)
  await actuator.stop((await actuator.list()).workers.map(({ pod }) => pod))
  await eventually(async () => (await count()) === 0)
  t.match(notices.at(-1), { kind: 'ended', how: 'signal SIGKILL', isExpected: true })
})

t.test('local workers: leaves no process behind when disposed', async (t) => {
  const { actuator, count } = begin(t, 'never-ready')
  await actuator.start(3)
  await actuator[Symbol.asyncDispose]()
  t.equal(await count(), 0)
})

t.test('local workers: reports a worker that cannot be started as a failed start', async (t) => {
  const notices: WorkerNotice[] = []
  await using actuator = createLocalWorkers({
    entry: resolve(import.meta.dirname, 'missing.ts'),
    env: {},
    killAfterMs: 1000,
    notice: (notice) => notices.push(notice),
  })
  await actuator.start(1)
  await eventually(async () => (await actuator.list()).starts.failed === 1)
  t.match(notices.at(-1), { kind: 'ended', how: 'exit code 1', isExpected: false })
})
