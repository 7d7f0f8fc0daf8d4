import t from 'tap'
import type { Screenshot } from '#client/responses.js'
import { summarize } from '#console/views/overview/summary.ts'

const capture = (status: Screenshot['status'], ms = 0): Screenshot => ({
  id: 'id',
  url: null,
  options: { width: 1, height: 1, format: 'png' },
  status,
  created_at: '2026-03-01T00:00:00.000000Z',
  ...(status === 'completed' && { completed_at: new Date(Date.UTC(2026, 2, 1) + ms).toISOString() }),
})

t.test('summary: of nothing has no rates and no times', async (t) => {
  t.same(summarize([]), { open: 0, successShare: undefined, medianMs: undefined, slowMs: undefined })
})

t.test('summary: captures in progress do not lower the success rate', async (t) => {
  const captures = [capture('pending'), capture('processing'), capture('failed'), capture('completed', 100)]
  t.same(summarize(captures), { open: 2, successShare: 0.5, medianMs: 100, slowMs: 100 })
})

t.test('summary: times are quantiles, whatever the order', async (t) => {
  const times = Array.from({ length: 100 }, (_, index) => ((index * 37) % 100) + 1)
  const { medianMs, slowMs } = summarize(times.map((ms) => capture('completed', ms)))
  t.same([medianMs, slowMs], [50, 95])
})
