import t from 'tap'
import { runLoop } from '#controller/loop.ts'
import { createBell } from '#shared/process/bell.ts'
import type { Decision, Observation, PoolPolicy } from '#controller/pool.ts'
import type { AppError } from '#shared/errors/app-error.ts'

const policy: PoolPolicy = { min: 2, max: 4, slots: 1, buffer: 0, queueWaitMs: 2000, holdMs: 30_000, drainStepMs: 5000 }

const empty: Observation = {
  nowMs: 0,
  backlog: 'unknown',
  depth: 'unknown',
  workers: [],
  starts: { ready: 0, failed: 0 },
  startMs: undefined,
  serviceMs: undefined,
}

/** Runs the loop without pause until `ticks` have ended. */
const run = async (
  ticks: number,
  of: { observe?: () => Promise<Observation>; act?: (decision: Decision) => Promise<void> },
) => {
  const stop = new AbortController()
  const decisions: Decision[] = []
  const failures: AppError[] = []
  let ended = 0
  const end = () => {
    ended += 1
    if (ended === ticks) stop.abort()
  }
  await runLoop(
    {
      observer: { observe: of.observe ?? (async () => empty) },
      act: of.act ?? (async () => {}),
      bell: { ...createBell(), wait: async () => end() },
      decided: ({ decision }) => decisions.push(decision),
      failed: (error) => failures.push(error),
    },
    policy,
    { tickMs: 1000, limitMs: 50 },
    stop.signal,
  )
  return { decisions, failures }
}

t.test('observes, decides and acts until it is stopped', async (t) => {
  const acted: Decision[] = []
  const { decisions } = await run(3, { act: async (decision) => void acted.push(decision) })
  t.match(
    decisions,
    Array.from({ length: 3 }, () => ({ kind: 'scale-up', to: 2 })),
  )
  t.strictSame(acted, decisions)
})

t.test('passes the memory of one decision to the next', async (t) => {
  let failed = 0
  const observe = async () => ({ ...empty, starts: { ready: 0, failed: (failed += 1) } })
  const { decisions } = await run(2, { observe })
  t.match(decisions, [{ reason: 'crash-looping' }, { reason: 'crash-looping' }])
})

t.test('goes on after a tick that failed', async (t) => {
  let turn = 0
  const act = async () => {
    turn += 1
    if (turn === 1) throw new Error('planted')
  }
  const { decisions, failures } = await run(2, { act })
  t.equal(decisions.length, 2)
  t.match(failures, [{ code: 'SERVER_ERROR', message: 'planted' }])
})

t.test('gives up a tick that takes longer than its limit', async (t) => {
  const act = () => new Promise<void>(() => {})
  t.match((await run(1, { act })).failures, [{ code: 'SERVICE_UNAVAILABLE' }])
})
