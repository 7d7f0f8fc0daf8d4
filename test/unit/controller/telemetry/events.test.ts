import t from 'tap'
import { createEvents, countWorkers } from '#controller/telemetry/events.ts'
import type { Decision, Observation } from '#controller/decide/pool.ts'
import type { JobNotice } from '#controller/proxied/job-runner.ts'
import type { ProxiedDecision, ProxiedObservation } from '#controller/proxied/proxied.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { DecisionMessage } from '#shared/queue/messages.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { emptyBacklog } from '#controller/decide/pool.ts'
import { observedWorkers, observedPool, poolPolicy, stuckWorkers } from '#test/helpers/observed-pool.ts'
import { createRecordingLog } from '#test/helpers/recording-log.ts'

const policy = poolPolicy({ min: 1, max: 5 })
const hold: Decision = { kind: 'hold', desired: 2, reason: 'steady' }
const troubled: Partial<Observation> = {
  backlog: { ...emptyBacklog, pending: 7 },
  workers: [...observedWorkers(2, { busy: 1 }), ...stuckWorkers(3), ...stuckWorkers(1, { trouble: 'image-pull' })],
  refused: { count: 2, trouble: 'quota' },
}

const seenJobs: ProxiedObservation = {
  nowMs: 0,
  jobs: [],
  depth: { waiting: 1, inFlight: 0 },
  backlog: 'unknown',
  claims: [],
  starts: { ready: 0, failed: 0, last: undefined },
}
const jobDecision: ProxiedDecision = {
  create: 1,
  giveUp: [],
  claims: [],
  desired: 1,
  reason: 'quota',
  state: undefined,
  trouble: { reason: 'quota', message: '' },
}

const jobPolicy = { spares: 1, max: 9 }

const begin = () => {
  const lines: [unknown, string][] = []
  const logger = createRecordingLog(({ fields, message }) => lines.push([fields, message]))
  const metrics = createMetrics('controller')
  const reports: DecisionMessage[] = []
  const made = createEvents(logger, metrics, (report) => reports.push(report))
  const events = {
    ...made,
    of: (browserpool: string) => made.forPool({ queue: 'standard', browserpool }),
    jobs: (browserpool: string) => made.jobs({ queue: 'standard', browserpool }),
  }
  /** Lines of one metric without those of the process. */
  const shown = async (name: string) =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith(`shutterfleet_${name}{`))
      .map((line) => line.replace(',component="controller"', '').replace('queue="standard",browserpool', 'pool'))
      .map((line) => line.replace(`shutterfleet_${name}`, ''))
  /** Lines of a pool in all metrics. */
  const all = async (pool: string) =>
    (await metrics.text()).split('\n').filter((line) => line.includes(`browserpool="${pool}"`))
  return { events, lines, reports, shown, all }
}

t.test('events: counts stuck and refused workers by trouble, separately for each pool', async (t) => {
  const { events, shown } = begin()
  events.of('a').decided({ observation: observedPool(troubled), decision: hold }, policy)
  events.of('b').decided({ observation: observedPool({ workers: stuckWorkers(1) }), decision: hold }, policy)
  const stuck = await shown('pool_workers_stuck')
  for (const line of [
    '{pool="a",trouble="unschedulable"} 3',
    '{pool="a",trouble="image-pull"} 1',
    '{pool="a",trouble="quota"} 2',
    '{pool="a",trouble="config-error"} 0',
    '{pool="b",trouble="unschedulable"} 1',
  ]) {
    t.ok(stuck.includes(line), line)
  }
  const workers = await shown('pool_workers')
  t.ok(workers.includes('{pool="a",state="ready"} 2'))
  t.ok(workers.includes('{pool="a",state="stuck"} 4'))
})

t.test('events: reports each decision, with bounds and objectives', async (t) => {
  const { events, reports } = begin()
  events.of('a').decided({ observation: observedPool(troubled), decision: hold }, policy)
  const names = { pool: 'standard', browserpool: 'a', decision: 'hold', reason: 'steady' }
  t.strictSame(reports, [{ ...names, desired: 2, min: 1, max: 5, ready: 2, objectivesMs: policy.objectivesMs }])
})

t.test('events: exports bounds and desired number of workers; a fixed size is both bounds', async (t) => {
  const { events, shown } = begin()
  const observation = observedPool(troubled)
  events.of('a').decided({ observation, decision: hold }, policy)
  events.of('b').decided({ observation, decision: hold }, { ...policy, size: 3 })
  t.strictSame(await shown('pool_workers_min'), ['{pool="a"} 1', '{pool="b"} 3'])
  t.strictSame(await shown('pool_workers_max'), ['{pool="a"} 5', '{pool="b"} 3'])
  t.strictSame(await shown('pool_workers_desired'), ['{pool="a"} 2', '{pool="b"} 2'])
})

t.test("events: exports the lanes' objectives", async (t) => {
  const { events, shown } = begin()
  events.of('a').decided({ observation: observedPool(troubled), decision: hold }, policy)
  t.strictSame(await shown('pool_lane_objective_seconds'), [
    '{pool="a",lane="interactive"} 2',
    '{pool="a",lane="normal"} 10',
    '{pool="a",lane="bulk"} 120',
  ])
})

t.test(
  "events: exports the captures that wait or run, by the larger of the ledger's count and JetStream's",
  async (t) => {
    const { events, shown } = begin()
    const bulk = { ...emptyBacklog.lanes.bulk, pending: 6, processing: 2, oldestMs: 90_000 }
    const normal = { ...emptyBacklog.lanes.normal, pending: 1, processing: 1 }
    const backlog = { ...emptyBacklog, pending: 7, processing: 3, lanes: { ...emptyBacklog.lanes, normal, bulk } }
    const decided = (pool: string, depth: Observation['depth']) =>
      events.of(pool).decided({ observation: observedPool({ backlog, depth }), decision: hold }, policy)
    decided('a', 'unknown')
    decided('b', { waiting: 8, inFlight: 4 })
    const observation = { ...seenJobs, backlog }
    events.jobs('c').decided({ observation, decision: jobDecision }, jobPolicy)
    t.strictSame(await shown('pool_captures_unfinished'), ['{pool="a"} 10', '{pool="b"} 12', '{pool="c"} 10'])
    const byLane = ['interactive"} 0', 'normal"} 2', 'bulk"} 8']
    t.strictSame(
      await shown('pool_lane_captures_unfinished'),
      ['a', 'b', 'c'].flatMap((pool) => byLane.map((lane) => `{pool="${pool}",lane="${lane}`)),
    )
    t.ok((await shown('pool_lane_oldest_seconds')).includes('{pool="a",lane="bulk"} 90'))
  },
)

t.test(
  'events: counts a change of the size apart from the reconciliations, and its drained workers once',
  async (t) => {
    const { events, shown } = begin()
    const pool = events.of('a')
    t.strictSame(await shown('pool_scale_events_total'), [
      '{pool="a",direction="up"} 0',
      '{pool="a",direction="down"} 0',
    ])
    const decisions: Decision[] = [
      { kind: 'scale-up', to: 3, undrain: [], desired: 3, reason: 'load' },
      hold,
      hold,
      { kind: 'drain', pods: ['w1'], desired: 2, reason: 'excess' },
      { kind: 'stop', pods: ['w1'], desired: 2, reason: 'drained' },
      { kind: 'replace', pods: ['w2'], desired: 2, reason: 'lost' },
    ]
    for (const decision of decisions) pool.decided({ observation: observedPool(troubled), decision }, policy)
    t.strictSame(await shown('pool_scale_events_total'), [
      '{pool="a",direction="up"} 1',
      '{pool="a",direction="down"} 1',
    ])
  },
)

t.test('events: counts the creation of Jobs as a change of the size', async (t) => {
  const { events, shown } = begin()
  const state = { canStart: true, forMs: 0, reason: 'backlog' } as const
  for (const create of [2, 0]) {
    const decision = { ...jobDecision, state, create, reason: state.reason }
    events.jobs('a').decided({ observation: seenJobs, decision }, jobPolicy)
  }
  t.strictSame(await shown('pool_scale_events_total'), ['{pool="a",direction="up"} 1'])
})

t.test('events: exports Jobs with the states of other workers', async (t) => {
  const { events, shown } = begin()
  const states = ['coming', 'idle', 'serving', 'serving', 'lost', 'stuck'] as const
  const jobs = states.map((state) => ({ name: state, state, revision: '' }))
  events.jobs('a').decided({ observation: { ...seenJobs, jobs }, decision: jobDecision }, jobPolicy)
  const workers = await shown('pool_workers')
  for (const [state, count] of Object.entries({ starting: 1, ready: 3, lost: 1, stuck: 1, draining: 0 })) {
    t.ok(workers.includes(`{pool="a",state="${state}"} ${count}`), state)
  }
  t.strictSame(await shown('pool_slots_busy'), ['{pool="a"} 2'])
  t.strictSame(await shown('pool_workers_min'), ['{pool="a"} 1'])
  t.strictSame(await shown('pool_workers_max'), ['{pool="a"} 9'])
  t.ok((await shown('pool_workers_stuck')).includes('{pool="a",trouble="quota"} 1'))
  t.strictSame(await shown('pool_decisions_total'), ['{pool="a",decision="freeze",reason="quota"} 1'])
})

t.test('events: removes the series of a deleted pool', async (t) => {
  const { events, all } = begin()
  const worker = { pod: 'w', ageMs: 1000 }
  const noticed = { created: {}, claimed: {}, 'given-up': {}, refused: { reason: 'quota', message: '' } } as const
  const ends = ['succeeded', 'failed', 'vanished'] as const
  const sayAll = (pool: string) => {
    const of = events.of(pool)
    of.decided({ observation: observedPool(troubled), decision: hold }, policy)
    of.decided(
      {
        observation: observedPool({ workers: 'unknown', backlog: 'unknown', depth: 'unknown' }),
        decision: { kind: 'freeze', desired: 1, reason: 'workers-unknown' },
      },
      policy,
    )
    of.reconciled(5)
    of.tickFailed(new AppError('SERVER_ERROR'))
    of.worker({ ...worker, kind: 'ready' })
    for (const isExpected of [true, false]) of.worker({ ...worker, kind: 'ended', how: '0', isExpected })
    const jobs = events.jobs(pool)
    jobs.decided({ observation: seenJobs, decision: jobDecision }, jobPolicy)
    jobs.decided({ observation: { ...seenJobs, jobs: 'unknown', depth: 'unknown' }, decision: jobDecision }, jobPolicy)
    for (const [kind, more] of Object.entries(noticed)) jobs.noticed({ kind, job: 'j', ...more } as JobNotice)
    for (const how of ends) jobs.noticed({ kind: 'ended', job: 'j', how })
    return [of, jobs]
  }
  const gone = sayAll('a')
  sayAll('b')
  const before = await all('b')
  t.equal((await all('a')).length, before.length)
  t.ok(before.length > 50)
  for (const each of gone) each[Symbol.dispose]()
  t.strictSame(await all('a'), [])
  t.strictSame(await all('b'), before)
})

t.test('events: counts failed reads, and exports no value for them', async (t) => {
  const { events, shown } = begin()
  const observation = observedPool({ workers: 'unknown', backlog: 'unknown', depth: { waiting: 0, inFlight: 0 } })
  events.of('a').decided({ observation, decision: { kind: 'freeze', desired: 1, reason: 'workers-unknown' } }, policy)
  t.strictSame(await shown('pool_reads_unknown_total'), [
    '{pool="a",source="workers"} 1',
    '{pool="a",source="backlog"} 1',
  ])
  for (const gauge of ['workers', 'workers_stuck', 'slots_busy', 'captures_waiting', 'captures_unfinished']) {
    t.strictSame(await shown(`pool_${gauge}`), [], gauge)
  }
})

t.test('events: logs a decision that acts or differs from the last, with the name of the pool', (t) => {
  const { events, lines } = begin()
  const of = events.of('a')
  const observation = observedPool(troubled)
  const drain: Decision = { kind: 'drain', pods: ['w1'], desired: 1, reason: 'excess' }
  for (const decision of [hold, hold, drain, drain, hold]) of.decided({ observation, decision }, policy)
  t.strictSame(
    lines.map(([, words]) => words),
    ['hold steady', 'drain excess', 'drain excess', 'hold steady'],
  )
  t.match(lines[1], [{ pool: 'a', decision: 'drain', pods: ['w1'], ready: 2, stuck: 6, busy: 2, queue: 7 }])
  t.end()
})

t.test('events: summarizes unknown values as unknown', (t) => {
  t.strictSame(countWorkers(observedPool({ workers: 'unknown', backlog: 'unknown' })), {
    ready: 'unknown',
    stuck: 'unknown',
    busy: 'unknown',
    queue: 'unknown',
  })
  t.end()
})
