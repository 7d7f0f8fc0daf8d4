import t from 'tap'
import type { StoredCapture } from '#shared/db/find-capture.ts'
import type { Progress } from '#gateway/db/find-progress.ts'
import { reportCapture } from '#gateway/operations/captures/events.ts'
import { completedCapture, pendingCapture } from '#test/helpers/gateway-context.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

const { id } = pendingCapture
const waiting: Progress = { id, status: 'pending', startedAt: null, position: 3 }
const begun: Progress = { id, status: 'processing', startedAt: '2026-01-01T00:00:00.000000Z', position: null }

const start = (stored: StoredCapture | undefined, ...reads: (Progress | undefined)[]) => {
  const loads = { count: 0 }
  const loadProgress = async () => {
    loads.count += 1
    return reads.shift()
  }
  const publicUrl = () => 'https://shots.example'
  const row = stored && testRecords.openCapture(stored)
  const report = reportCapture(id, { find: async () => row, loadProgress, publicUrl })
  return { loads, next: (woken: boolean) => Array.fromAsync(report(woken)) }
}

t.test('report capture: reports each state once', async (t) => {
  const { next } = start(pendingCapture, waiting, waiting, { ...waiting, position: 2 }, begun, begun)
  t.same(await next(true), ['event: status\nid: pending-3\ndata: {"status":"pending","position":3}\n\n'])
  t.same(await next(false), [])
  t.match(await next(false), [/"position":2/])
  t.same(await next(false), [
    'event: status\nid: processing\ndata: {"status":"processing"}\n\n',
    'event: started\nid: processing\ndata: {"started_at":"2026-01-01T00:00:00.000000Z"}\n\n',
  ])
  t.same(await next(true), [])
})

t.test('report capture: reports an end on its event, without the batched lookup', async (t) => {
  const { loads, next } = start(completedCapture)
  t.match(await next(true), [/^event: result\nid: result\ndata: {.*"status":"completed"/])
  t.equal(loads.count, 0)
})

t.test('report capture: detects an end or a deletion without an event', async (t) => {
  const ended = start(completedCapture, { ...begun, status: 'completed' })
  t.match(await ended.next(false), [/^event: result\n/])
  const deleted = start(undefined, undefined)
  t.same(await deleted.next(false), [`event: deleted\nid: result\ndata: {"id":"${id}"}\n\n`])
})
