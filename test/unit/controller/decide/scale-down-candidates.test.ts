import t from 'tap'
import { scaleDownCandidates } from '#controller/decide/scale-down-candidates.ts'
import type { ObservedWorker } from '#controller/decide/pool.ts'
import { observedWorker as worker } from '#test/helpers/observed-pool.ts'

const byQueue = { size: 'by-queue', max: 100 } as const
const full = (count: number): ObservedWorker[] =>
  Array.from({ length: count }, (_, index) => worker(`full-${index}`, { busy: 1 }))
const drained = (ready: readonly ObservedWorker[], policy: Parameters<typeof scaleDownCandidates>[1] = byQueue) =>
  scaleDownCandidates({ ready, size: ready.length, excess: ready.length - 1 }, policy)

t.test('scale down candidates: are at most a quarter of the workers, and no more than are in excess', (t) => {
  const idle = Array.from({ length: 20 }, (_, index) => worker(`w${index}`))
  t.equal(drained(idle).length, 5)
  t.equal(scaleDownCandidates({ ready: idle, size: 20, excess: 2 }, byQueue).length, 2)
  t.end()
})

t.test('scale down candidates: are the least busy workers first, and of those the youngest', (t) => {
  const [old, young] = [worker('old', { ageMs: 900_000 }), worker('young', { ageMs: 20_000 })]
  t.strictSame(drained([...full(3), old, young]), ['young'])
  const busy = [3, 2, 1, 2, 3, 2, 3, 3].map((count, index) => worker(`w${index}`, { slots: 4, busy: count }))
  t.strictSame(drained(busy), ['w2', 'w1'])
  t.end()
})

t.test('scale down candidates: contain no full worker while others have a free slot, whatever their slots', (t) => {
  t.strictSame(drained([...full(7), worker('free', { slots: 4, busy: 3 })]), ['free'])
  t.end()
})

t.test('scale down candidates: contain full workers one at a time, in whole steps if another has set the size', (t) => {
  t.strictSame(drained(full(20)), ['full-0'])
  t.equal(drained(full(20), { size: 4, max: 100 }).length, 5)
  t.equal(drained(full(20), { size: 'by-queue', max: 10 }).length, 5)
  t.end()
})
