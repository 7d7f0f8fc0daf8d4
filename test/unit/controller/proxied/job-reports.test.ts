import t from 'tap'
import { createJobReports } from '#controller/proxied/job-reports.ts'
import type { HeartbeatMessage, StartedMessage } from '#shared/queue/messages.ts'

const heartbeat = (pod: string, state: HeartbeatMessage['state'], captures: string[] = []): HeartbeatMessage => ({
  ...{ pod, pool: 'proxied', pid: 1, slots: 1 },
  ...{ busy: captures.length, state, captures },
})
const started = (pod: string, kind: StartedMessage['kind'] = 'begun'): StartedMessage => ({
  id: 'c',
  attempt: 1,
  kind,
  pod,
})

const begin = () => {
  let nowMs = 0
  const reports = createJobReports(() => nowMs)
  return {
    reports,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

t.test('job reports: a starting worker has no report', (t) => {
  const { reports } = begin()
  reports.heartbeat(heartbeat('a', 'starting'))
  t.equal(reports.get('a'), undefined)
  t.equal(reports.ready(), 0)
  t.end()
})

t.test('job reports: keeps a claim from a heartbeat or a report until the worker has served it', (t) => {
  const { reports } = begin()
  reports.heartbeat(heartbeat('a', 'ready'))
  t.match(reports.get('a'), { captureId: undefined, isSpent: false })
  reports.heartbeat(heartbeat('a', 'ready', ['c']))
  t.match(reports.get('a'), { captureId: 'c', isSpent: false })
  reports.heartbeat(heartbeat('a', 'draining', ['c']))
  t.match(reports.get('a'), { captureId: 'c', isSpent: false })
  reports.heartbeat(heartbeat('a', 'drained'))
  t.match(reports.get('a'), { captureId: 'c', isSpent: true })
  reports.started(started('b'))
  t.match(reports.get('b'), { captureId: 'c', isSpent: false })
  t.equal(reports.ready(), 2)
  t.end()
})

t.test('job reports: an attempt that was handed back or unreadable is no claim', (t) => {
  const { reports } = begin()
  reports.started(started('a', 'handed-back'))
  reports.started(started('b', 'unreadable'))
  t.equal(reports.get('a') ?? reports.get('b'), undefined)
  t.end()
})

t.test('job reports: a worker that drains without ever having been ready does not count as a successful start', (t) => {
  const { reports } = begin()
  reports.heartbeat(heartbeat('a', 'drained'))
  t.match(reports.get('a'), { isSpent: true })
  t.equal(reports.ready(), 0)
  t.end()
})

t.test('job reports: removes Jobs that are gone, a minute after their last report', (t) => {
  const { reports, pass } = begin()
  reports.started(started('a'))
  reports.started(started('b'))
  reports.keep(new Set(['b']))
  t.ok(reports.get('a'), 'it may not be listed yet')
  pass(60_001)
  reports.keep(new Set(['b']))
  t.equal(reports.get('a'), undefined)
  t.ok(reports.get('b'))
  t.end()
})

t.test('job reports: keeps a bounded number', (t) => {
  const { reports } = begin()
  for (let turn = 0; turn <= 8192; turn += 1) reports.started(started(`job-${turn}`))
  t.equal(reports.get('job-0'), undefined)
  t.ok(reports.get('job-8192'))
  t.end()
})
