import t from 'tap'
import { listBrowsers } from '#gateway/admin/list-browsers.ts'

const nowMs = Date.UTC(2026, 2, 31)
const day = 86_400_000

t.test('list browsers: counts workers with the same browser, the oldest first, unknown ages last', async (t) => {
  const shell = { browser: 'shell', version: '156.0', builtAtMs: nowMs - 4 * day } as const
  const old = { browser: 'full', version: '140.0', builtAtMs: nowMs - 31 * day } as const
  const unknown = { browser: 'full', version: '139.0' } as const
  const workers = [{ browsers: [shell] }, {}, { browsers: [unknown] }, { browsers: [shell, old] }]
  const listed = listBrowsers(workers, { nowMs, daysMax: 30 })
  t.match(listed, [
    { browser: 'full', version: '140.0', age_days: 31, advice: /^31 days old/, workers: 1 },
    { browser: 'shell', version: '156.0', built_at: '2026-03-27T00:00:00.000Z', age_days: 4, advice: null, workers: 2 },
    { browser: 'full', version: '139.0', built_at: null, age_days: null, advice: null, workers: 1 },
  ])
  t.equal(listed.length, 3)
})
