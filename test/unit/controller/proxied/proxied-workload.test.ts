import t from 'tap'
import type { ProxiedObservation } from '#controller/proxied/proxied.ts'
import { proxiedWorkload } from '#controller/proxied/proxied-workload.ts'
import { createJobReports } from '#controller/proxied/job-reports.ts'
import { runLoop } from '#controller/loop/loop.ts'
import type { PoolStateMessage } from '#shared/queue/messages.ts'

const empty: ProxiedObservation = {
  nowMs: 0,
  jobs: [],
  depth: { waiting: 0, inFlight: 0 },
  backlog: 'unknown',
  claims: [],
  starts: { ready: 0, failed: 0, last: undefined },
}

/** Runs the real loop over these observations without pause; returns its calls and published states. */
const run = async (observation: readonly Partial<ProxiedObservation>[], isPaused = false) => {
  const stop = new AbortController()
  const calls: string[] = []
  const states: PoolStateMessage[] = []
  const left = observation.map((each, index) => ({ ...empty, nowMs: index * 1000, ...each }))
  const failures: Error[] = []
  const workload = proxiedWorkload({
    runner: {
      list: async () => ({ jobs: [], unclaimed: [], failed: 0, last: undefined }),
      create: async (count) => void calls.push(`create ${count}`),
      claim: async (job, captureId) => {
        calls.push(`claim ${job} ${captureId}`)
        if (job === 'broken') throw new Error('planted')
      },
      giveUp: async (job) => void calls.push(`give up ${job}`),
    },
    reports: createJobReports(() => 0),
    subscription: { backlog: () => 'unknown', heartbeats: new Map(), listeningMs: () => 0 },
    readDepth: async () => ({ waiting: 0, inFlight: 0 }),
    now: () => 0,
    policy: () => ({ isPaused, max: 10, spares: 0, revision: 'new' }),
    publishState: (state) => void states.push(state),
  })
  await runLoop(
    {
      ...workload,
      observe: async () => left.shift() ?? empty,
      summarize: () => ({ status: undefined, isCalm: false }),
    },
    {
      wakeup: { wait: async () => (left.length === 0 ? stop.abort() : undefined) },
      timing: { tickMs: 1000, limitMs: 1000 },
      report: () => {},
      failed: (error) => void failures.push(error),
      took: () => {},
    },
    stop.signal,
  )
  return { calls, states, failures }
}

t.test(
  'proxied workload: creates Jobs, and calls create even with nothing to create, to check unconfirmed ones',
  async (t) => {
    const { calls } = await run([{ depth: { waiting: 3, inFlight: 0 } }, {}])
    t.strictSame(calls, ['create 3', 'create 0'])
  },
)

t.test(
  'proxied workload: creates nothing while the Jobs are unknown or the pool is paused, but records claims',
  async (t) => {
    const claims = [{ job: 'a', captureId: 'c' }]
    t.strictSame((await run([{ jobs: 'unknown' }])).calls, [])
    t.strictSame((await run([{ claims, depth: { waiting: 3, inFlight: 0 } }], true)).calls, ['claim a c'])
  },
)

t.test('proxied workload: gives up stuck Jobs of an old revision, and continues after a failed claim', async (t) => {
  const trouble = { reason: 'image-pull', message: '', forMs: 1000 } as const
  const { calls, failures } = await run([
    {
      jobs: [{ name: 'stuck', state: 'stuck', revision: 'old', trouble }],
      claims: [{ job: 'broken', captureId: 'c' }],
    },
  ])
  t.strictSame(calls, ['create 0', 'give up stuck', 'claim broken c'])
  t.match(failures, [{ message: 'planted' }])
})

t.test(
  'proxied workload: publishes each second whether Jobs can start, changes at once, and nothing while unknown',
  async (t) => {
    const failed = { starts: { ready: 0, failed: 1, last: { reason: 'quota', message: '' } } } as const
    const { states } = await run([
      { nowMs: 0 },
      { nowMs: 500 },
      { nowMs: 900 },
      { nowMs: 1000, ...failed },
      { nowMs: 1100, ...failed, jobs: 'unknown' },
      { nowMs: 2000, ...failed, jobs: 'unknown' },
    ])
    t.match(states, [
      { pool: 'proxied', canStart: true, forMs: 0, reason: 'steady' },
      { canStart: true, forMs: 900 },
      { canStart: false, forMs: 0, reason: 'quota' },
    ])
    t.equal(states.length, 3)
  },
)
