import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import type { JobNotice } from '#controller/proxied/job-runner.ts'
import { createLocalJobs } from '#controller/proxied/local-jobs.ts'
import type { StandInJobMode } from '#test/fixtures/stand-in-job.ts'
import type { StandInMode } from '#test/fixtures/stand-in-worker.ts'
import { eventually } from '#test/helpers/eventually.ts'

const fixtures = resolve(import.meta.dirname, '../../../fixtures')
const failAtStart: StandInJobMode = 'end-at-start'
const failing = { entry: resolve(fixtures, 'stand-in-job.ts'), env: { STAND_IN_MODE: failAtStart } }
const worker = (mode: StandInMode) => ({ entry: resolve(fixtures, 'stand-in-worker.ts'), env: { STAND_IN_MODE: mode } })

const begin = (t: Test, of: { entry: string; env: Record<string, string> }, lifeMs = 60_000) => {
  const notices: JobNotice[] = []
  const runner = createLocalJobs({ ...of, lifeMs, killAfterMs: 10_000, notice: (notice) => notices.push(notice) })
  t.teardown(() => runner[Symbol.asyncDispose]())
  const names = async () => (await runner.list()).jobs.map(({ name }) => name)
  return { runner, notices, names }
}

t.test('local jobs: starts the requested number of processes, each with a unique name', async (t) => {
  const { runner, notices, names } = begin(t, worker('never-ready'))
  await runner.create(2)
  await runner.create(0)
  t.match(await names(), [/^job-1-[0-9a-f]{8}$/, /^job-2-[0-9a-f]{8}$/])
  t.match(notices, [{ kind: 'created' }, { kind: 'created' }])
})

t.test('local jobs: lists the claim of a running process', async (t) => {
  const { runner, names } = begin(t, worker('never-ready'))
  await runner.create(1)
  const [name] = await names()
  await runner.claim(name!, 'c')
  await runner.claim('unknown', 'd')
  t.match((await runner.list()).jobs, [{ name, captureId: 'c' }])
})

t.test('local jobs: removes an exited process, and counts one that failed before it claimed', async (t) => {
  const { runner, notices, names } = begin(t, failing)
  await runner.create(2)
  const [claimed] = await names()
  await runner.claim(claimed!, 'c')
  await eventually(async () => (await names()).length === 0)
  t.match(await runner.list(), { failed: 1, last: { reason: 'crash-looping', message: /exit code 1/ } })
  t.equal(notices.filter(({ kind }) => kind === 'ended').length, 2)
})

t.test('local jobs: an unrequested exit with code 0 is no failure', async (t) => {
  const { runner, notices, names } = begin(t, worker('end-at-start'))
  await runner.create(1)
  await eventually(async () => (await names()).length === 0)
  t.equal((await runner.list()).failed, 0)
  t.match(notices.at(-1), { kind: 'ended', how: 'succeeded' })
})

t.test('local jobs: stops a process that exceeds its wait and its service time', async (t) => {
  const { runner, names } = begin(t, worker('never-ready'), 500)
  await runner.create(1)
  await eventually(async () => (await names()).length === 0)
  t.equal((await runner.list()).failed, 0)
})

t.test('local jobs: lists a process as stopping once its stop is requested', async (t) => {
  const { runner, names } = begin(t, worker('ignore-stop'))
  await runner.create(1)
  const [name] = await names()
  await runner.giveUp(name!)
  t.match((await runner.list()).jobs, [{ name, worker: 'stopping' }])
})

t.test('local jobs: leaves no process behind when disposed', async (t) => {
  const { runner, names } = begin(t, worker('never-ready'))
  await runner.create(3)
  await runner[Symbol.asyncDispose]()
  t.strictSame(await names(), [])
})
