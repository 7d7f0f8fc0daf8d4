import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { byLane } from '#shared/capture/lane.ts'
import { draw, shortTime } from '#cli/top/draw.ts'
import type { PoolFigures } from '#cli/top/read-pools.ts'
import type { CaptureFigures, Snapshot } from '#cli/top/snapshot.ts'

const standard: PoolFigures = {
  ...{ pool: 'standard', queue: 'standard', ready: 3, coming: 1, desired: 4, min: 1, max: 10 },
  ...{ slots: 6, busy: 5, waiting: 12, objectivesMs: { interactive: 2000, normal: 10_000 } },
}
const silent: PoolFigures = {
  ...{ pool: 'proxied', queue: 'proxied', ready: undefined, coming: undefined, desired: 0, min: 0, max: 20 },
  ...{ slots: undefined, busy: undefined, waiting: undefined, objectivesMs: {} },
}
const none = { pending: 0, processing: 0, oldestMs: 0, accepted: 0 }
const lanes = {
  interactive: { ...none, pending: 4, oldestMs: 4200 },
  normal: none,
  bulk: { ...none, pending: 8, oldestMs: 900 },
}
const captures: CaptureFigures = {
  queues: [
    { queue: 'proxied', ...none, lanes: byLane(() => none), completed: 0, failed: 0 },
    { queue: 'standard', pending: 12, processing: 5, oldestMs: 4200, lanes, accepted: 240, completed: 228, failed: 3 },
  ],
  pauses: [],
  stages: ['navigate', 'shoot', 'encode', 'store', 'queue', 'settle'].map((stage, index) => ({
    stage,
    p50Ms: 600 / (index + 1),
    p95Ms: 2400 / (index + 1),
  })),
  total: { stage: 'total', p50Ms: 900, p95Ms: 3100 },
  failures: [
    {
      ...{
        id: '0198c0de-0000-7000-8000-000000000001',
        at: '1970-01-01T00:00:00.000000Z',
        queue: 'standard',
        code: 'DNS_FAILED',
      },
      ...{ message: 'The host\u001B[2J does\u0007 not exist', host: 'nobody.example' },
    },
  ],
}
const snapshot: Snapshot = { at: new Date(0), source: 'http://127.0.0.1:8080', pools: [standard, silent], captures }
const wide = { columns: 120, colour: false }

t.test('top: draws pools, queues, the slowest stages and the last errors', async (t) => {
  const text = draw(snapshot, wide).join('\n')
  t.match(text, /POOL +QUEUE +READY +STARTING +MIN–MAX +SLOTS +WAITING/)
  t.match(text, /^standard +standard +3\/4 +1 +1–10 +5\/6 +█{8}░░ +12$/m)
  t.match(text, /^proxied +proxied +–\/0 +– +0–20 +–\/– +–$/m, 'unknown values are not shown as zero')
  t.match(text, /^standard +12 +4\.2s +5 +240 +228 +3$/m)
  t.match(text, /^navigate +600ms +2\.4s +█{10}$/m)
  t.notMatch(text, /settle/, 'only the five slowest stages are shown')
  t.match(text, /^total +900ms +3\.1s$/m)
  t.match(text, /DNS_FAILED +nobody\.example: The host does not exist +0198c0de/)
})

t.test(
  'top: draws the lanes in which captures wait, the oldest one in red if it waits for longer than the objective',
  async (t) => {
    const text = draw(snapshot, wide).join('\n')
    t.match(text, /^standard +interactive +4 +4\.2s +2\.0s$/m)
    t.match(text, /^standard +bulk +8 +900ms +–$/m)
    t.notMatch(text, /^standard +normal/m)
    const red = (waited: string) => `\u001B[31m${waited.padStart('OLDEST'.length)}`
    const fast = { ...standard, objectivesMs: { interactive: 5000, bulk: 800 } }
    const coloured = (...pools: PoolFigures[]) => draw({ ...snapshot, pools }, { ...wide, colour: true }).join('\n')
    t.ok(coloured(standard).includes(red('4.2s')))
    t.notOk(coloured(fast).includes(red('4.2s')))
    t.ok(coloured(standard, fast).includes(red('4.2s')), 'the shortest one of the pools that serve the queue')
    t.ok(coloured(fast).includes(red('900ms')))
    t.notMatch(draw({ ...snapshot, captures: { ...captures, queues: [] } }, wide).join('\n'), /LANE/)
  },
)

t.test('top: names a paused pool below the queues, with who paused it, until when and why', async (t) => {
  const pause = {
    since: '2026-01-01T10:00:00Z',
    by: 'admin:ann',
    reason: 'new egress',
    until: null,
    state: 'drained',
  } as const
  const pauses = [
    { pool: 'standard', ...pause },
    { pool: 'stealth', ...pause, until: '2026-01-01T12:00:00Z' },
  ] as const
  const lines = draw({ ...snapshot, captures: { ...captures, pauses: [...pauses] } }, wide)
  const at = lines.findIndex((line) => /^standard +12/.test(line))
  t.strictSame(lines.slice(at + 1, at + 3), [
    'standard is drained, paused since 2026-01-01T10:00Z by admin:ann: new egress',
    'stealth is drained, paused since 2026-01-01T10:00Z until 2026-01-01T12:00Z by admin:ann: new egress',
  ])
})

t.test('top: columns are aligned, and no line is wider than the screen', async (t) => {
  for (let columns = 20; columns <= 140; columns += 1) {
    const lines = draw(snapshot, { columns, colour: false })
    const widest = Math.max(...lines.map((line) => line.length))
    t.ok(widest <= columns, `${widest} of ${columns}`)
  }
  const at = (heading: string) => {
    const [head = '', row = ''] = draw(snapshot, wide).filter((line) => /^(POOL|standard +standard)/.test(line))
    const end = head.indexOf(heading) + heading.length
    return row.slice(0, end).match(/\S+$/)?.[0]
  }
  t.equal(at('READY'), '3/4')
  t.equal(at('SLOTS'), '5/6')
  t.equal(at('WAITING'), '12')
})

t.test('top: uses colours only on request, without an effect on the layout', async (t) => {
  const plain = draw(snapshot, wide)
  const coloured = draw(snapshot, { ...wide, colour: true })
  t.notOk(plain.join('').includes('\u001B'))
  t.ok(coloured.join('').includes('\u001B[31m'))
  t.strictSame(coloured.map(stripVTControlCharacters), plain)
})

t.test('top: draws no more lines than the screen has rows', async (t) => {
  t.equal(draw(snapshot, { ...wide, rows: 7 }).length, 7)
})

t.test('top: shows a read error in place of its section', async (t) => {
  const text = draw({ ...snapshot, pools: 'no answer', captures: 'database away' }, wide).join('\n')
  t.match(text, /pools not read: no answer/)
  t.match(text, /captures not read: database away/)
  t.match(draw({ ...snapshot, pools: [] }, wide).join('\n'), /the one that leads/)
  const quiet = { ...captures, stages: [], total: undefined, failures: [] }
  t.match(draw({ ...snapshot, captures: quiet }, wide).join('\n'), /no capture completed[^]*no capture failed/)
})

t.test('top: formats times briefly', async (t) => {
  for (const [ms, text] of [
    [0, '0ms'],
    [999, '999ms'],
    [1000, '1.0s'],
    [59_000, '59s'],
    [119_000, '119s'],
    [600_000, '10m'],
    [86_400_000, '24h'],
  ] as const) {
    t.equal(shortTime(ms), text)
  }
})
