import t from 'tap'
import { createEvents, summarize } from '#controller/events.ts'
import type { Decision, Observation } from '#controller/pool.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { quietBacklog, seenCrew, seenPool, stuckCrew } from '#test/helpers/seen-pool.ts'

const hold: Decision = { kind: 'hold', wanted: 2, reason: 'steady' }
const troubled: Partial<Observation> = {
  backlog: { ...quietBacklog, pending: 7 },
  workers: [...seenCrew(2, { busy: 1 }), ...stuckCrew(3), ...stuckCrew(1, { trouble: 'image-pull' })],
  refused: { count: 2, trouble: 'quota' },
}

const begin = () => {
  const lines: [unknown, string][] = []
  const log = (fields: unknown, words: string) => void lines.push([fields, words])
  const logger = { debug: log, info: log, warn: log, error: log } as unknown as Logger
  const metrics = createMetrics('controller')
  const events = createEvents(logger, metrics)
  /** Lines of one metric without those of the process. */
  const shown = async (name: string) =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith(`shutterfleet_${name}{`))
      .map((line) => line.replace(',service="controller"', '').replace(`shutterfleet_${name}`, ''))
  return { events, lines, shown }
}

t.test('counts stuck and refused workers by trouble, for each pool on its own', async (t) => {
  const { events, shown } = begin()
  events.of('a').decided({ seen: seenPool(troubled), decision: hold })
  events.of('b').decided({ seen: seenPool({ workers: stuckCrew(1) }), decision: hold })
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

t.test('shows no pool that is gone', async (t) => {
  const { events, shown } = begin()
  const of = events.of('a')
  of.decided({ seen: seenPool(troubled), decision: hold })
  events.of('b').decided({ seen: seenPool(troubled), decision: hold })
  of[Symbol.dispose]()
  const gauges = [
    'pool_workers',
    'pool_workers_stuck',
    'pool_workers_wanted',
    'pool_slots_busy',
    'pool_captures_waiting',
  ]
  for (const gauge of gauges) {
    const lines = await shown(gauge)
    t.strictSame(
      lines.filter((line) => line.includes('pool="a"')),
      [],
    )
    t.not(lines.length, 0, `${gauge} of the other pool`)
  }
})

t.test('counts what could not be read, and shows no number for it', async (t) => {
  const { events, shown } = begin()
  const seen = seenPool({ workers: 'unknown', backlog: 'unknown', depth: { waiting: 0, inFlight: 0 } })
  events.of('a').decided({ seen, decision: { kind: 'freeze', wanted: 1, reason: 'workers-unknown' } })
  t.strictSame(await shown('pool_reads_unknown_total'), [
    '{pool="a",source="workers"} 1',
    '{pool="a",source="backlog"} 1',
  ])
  for (const gauge of ['pool_workers', 'pool_workers_stuck', 'pool_slots_busy', 'pool_captures_waiting']) {
    t.strictSame(await shown(gauge), [], gauge)
  }
})

t.test('logs a decision when it does something or says something new, with the name of the pool', (t) => {
  const { events, lines } = begin()
  const of = events.of('a')
  const seen = seenPool(troubled)
  const drain: Decision = { kind: 'drain', pods: ['w1'], wanted: 1, reason: 'excess' }
  for (const decision of [hold, hold, drain, drain, hold]) of.decided({ seen, decision })
  t.strictSame(
    lines.map(([, words]) => words),
    ['hold steady', 'drain excess', 'drain excess', 'hold steady'],
  )
  t.match(lines[1], [{ pool: 'a', decision: 'drain', pods: ['w1'], ready: 2, stuck: 6, busy: 2, queue: 7 }])
  t.end()
})

t.test('sums up what is unknown as unknown', (t) => {
  t.strictSame(summarize(seenPool({ workers: 'unknown', backlog: 'unknown' })), {
    ready: 'unknown',
    stuck: 'unknown',
    busy: 'unknown',
    queue: 'unknown',
  })
  t.end()
})
