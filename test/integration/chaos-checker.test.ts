import t from 'tap'
import { captureInvariants, check } from '#test/chaos/check.ts'
import { cleanLimits, cleanRun, type DoctoredRun, captureId, imageHash, objectKey } from '#test/chaos/clean-run.ts'
import type { Exchange } from '#test/chaos/history.ts'
import { faults } from '#test/chaos/faults.ts'
import { planRepresentative, planRun } from '#test/chaos/plan.ts'
import { operations } from '#test/chaos/steps.ts'
import type { CaptureRow } from '#test/chaos/snapshot.ts'

const count = 8
/** A capture that is kept, and one that is deleted. */
const [kept, gone] = [0, 3]

const exchangeOf = ({ history }: DoctoredRun, operation: Exchange['operation'], n = kept): Exchange => {
  const found = history.find(
    (event) =>
      event.kind === 'exchange' &&
      event.operation === operation &&
      (operation === 'usage' || event.target === captureId(n) || event.captures.some(({ id }) => id === captureId(n))),
  )
  return found as Exchange
}

const add = (run: DoctoredRun, exchange: Exchange, changes: Partial<Exchange>) =>
  run.history.push({ ...exchange, startMs: 1000, endMs: 1001, ...changes })

const changeRow = ({ snapshot }: DoctoredRun, changes: Partial<CaptureRow>) => {
  snapshot.captures = snapshot.captures.map((row) => (row.id === captureId(kept) ? { ...row, ...changes } : row))
}

const changeDelivery = ({ snapshot }: DoctoredRun, changes: Partial<DoctoredRun['snapshot']['deliveries'][number]>) => {
  snapshot.deliveries = snapshot.deliveries.map((row) =>
    row.captureId === captureId(kept) ? { ...row, ...changes } : row,
  )
}

const settle = ({ snapshot }: DoctoredRun, settled: number) => {
  snapshot.usage = snapshot.usage.map((usage) => ({ ...usage, settled }))
}

const object = (n: number, key = objectKey(n)) => ({ key, captureId: captureId(n), sha256: imageHash(n), files: [] })

/** All that a list shows at the end. */
const wholeList = ({ snapshot }: DoctoredRun) => snapshot.captures.map(({ id, status }) => ({ id, status }))

/** Changes that only the named invariant, or it among others, must reject. */
const doctored: readonly (readonly [invariant: string, what: string, change: (run: DoctoredRun) => unknown])[] = [
  [
    'status moves forward',
    'pending after completed',
    (run) =>
      add(run, exchangeOf(run, 'list'), {
        operation: 'status',
        captures: [{ id: captureId(kept), status: 'pending' }],
      }),
  ],
  [
    'one end',
    'failed after completed',
    (run) =>
      add(run, exchangeOf(run, 'list'), {
        captures: [{ id: captureId(kept), status: 'failed', errorCode: 'TIMEOUT' }],
      }),
  ],
  ['one end', 'another size', (run) => changeRow(run, { fileSize: 11 })],
  ['same image', 'two digests', (run) => add(run, exchangeOf(run, 'image'), { imageSha256: 'other' })],
  [
    'repeat gives the same capture',
    'another id',
    (run) => add(run, exchangeOf(run, 'create'), { captures: [{ id: captureId(1), status: 'completed' }] }),
  ],
  [
    'lists are complete',
    'a list without an accepted capture',
    (run) => add(run, exchangeOf(run, 'list'), { isWhole: true, captures: wholeList(run).slice(1) }),
  ],
  [
    'accepted is found',
    'a status that is not found',
    (run) => add(run, exchangeOf(run, 'status'), { status: 404, captures: [] }),
  ],
  ['accepted is kept', 'no row', (run) => (run.snapshot.captures = run.snapshot.captures.slice(1))],
  ['ends in time', 'no end', (run) => changeRow(run, { status: 'processing', charge: 'reserved' })],
  [
    'ends in time',
    'a late end',
    (run) => {
      run.history = run.history.filter((event) => event.kind !== 'exchange' || event.operation !== 'list')
      add(run, exchangeOf(run, 'status'), {
        startMs: 40_000,
        endMs: 40_001,
        captures: [{ id: captureId(kept), status: 'completed' }],
      })
    },
  ],
  [
    'nobody is blamed for a fault',
    'a first attempt',
    (run) => changeRow(run, { status: 'failed', errorCode: 'RENDER_ERROR', charge: 'released' }),
  ],
  [
    'nobody is blamed for a fault',
    'the page',
    (run) => changeRow(run, { status: 'failed', errorCode: 'TIMEOUT', charge: 'released', attempts: 3 }),
  ],
  ['usage is shown', 'one less', (run) => add(run, exchangeOf(run, 'usage'), { used: count - 1 })],
  ['charged by its end', 'a failure charged', (run) => changeRow(run, { status: 'failed', errorCode: 'RENDER_ERROR' })],
  ['charged by its end', 'a completion released', (run) => changeRow(run, { charge: 'released' })],
  ['usage equals what ended', 'charged twice', (run) => settle(run, count + 1)],
  ['usage equals what ended', 'never charged', (run) => settle(run, count - 1)],
  ['quota holds', 'one above', (run) => (run.snapshot.quotas = { a: count - 1 })],
  ['meters agree', 'a difference', (run) => (run.snapshot.meterDifferences = ['pending 1, counted 0'])],
  ['nothing is left in the queue', 'a message', (run) => (run.snapshot.messages = [captureId(kept)])],
  ['nothing is left in the queue', 'an outbox row', (run) => (run.snapshot.outbox = [captureId(gone)])],
  ['one whole object', 'none', (run) => (run.snapshot.objects = run.snapshot.objects.slice(1))],
  [
    'one whole object',
    'half of it',
    (run) => (run.snapshot.objects = [{ ...object(kept), sha256: 'half' }, ...run.snapshot.objects.slice(1)]),
  ],
  [
    'one object per attempt',
    'a second one',
    (run) => (run.snapshot.objects = [...run.snapshot.objects, object(kept, 'second')]),
  ],
  [
    'nothing is readable after deletion',
    'its status',
    (run) => add(run, exchangeOf(run, 'status', gone), { captures: [{ id: captureId(gone), status: 'completed' }] }),
  ],
  [
    'nothing is readable after deletion',
    'by a link',
    (run) => add(run, exchangeOf(run, 'image', gone), { operation: 'linked-image' }),
  ],
  ['nothing is readable after deletion', 'in a list', (run) => add(run, exchangeOf(run, 'list', gone), {})],
  [
    'nothing is stored after deletion',
    'its object',
    (run) => (run.snapshot.objects = [...run.snapshot.objects, object(gone)]),
  ],
  [
    'nothing is stored after deletion',
    'its row',
    (run) =>
      (run.snapshot.captures = [...run.snapshot.captures, { ...run.snapshot.captures[0]!, id: captureId(gone) }]),
  ],
  [
    'nothing is readable after retention',
    'downloaded after expires_at',
    (run) => add(run, exchangeOf(run, 'image'), { startMs: 2000, endMs: 2001 }),
  ],
  [
    'nothing is readable after retention',
    'downloaded after a 410',
    (run) => {
      add(run, exchangeOf(run, 'image'), { startMs: 500, endMs: 501, status: 410, imageSha256: undefined })
      add(run, exchangeOf(run, 'image'), { startMs: 600, endMs: 601 })
    },
  ],
  ['webhooks are attempted', 'never queued', (run) => (run.snapshot.deliveries = run.snapshot.deliveries.slice(1))],
  [
    'webhooks are attempted',
    'queued twice',
    (run) => (run.snapshot.deliveries = [run.snapshot.deliveries[0]!, ...run.snapshot.deliveries]),
  ],
  [
    'webhooks are attempted',
    'none to a webhook of the account',
    (run) => (run.snapshot.webhooks = [{ account: 'a', path: '/hook-of-account' }]),
  ],
  ['webhooks are attempted', 'stuck', (run) => changeDelivery(run, { state: 'pending' })],
  ['webhooks are attempted', 'given up early', (run) => changeDelivery(run, { state: 'failed', attempts: 1 })],
  [
    'webhooks are attempted',
    'delivered without being accepted',
    (run) => {
      run.history = run.history.filter((event) => event.kind !== 'delivery' || event.answered !== 200)
    },
  ],
  [
    'same body',
    'another body',
    (run) => {
      run.history.push({
        kind: 'delivery',
        path: '/hook',
        captureId: captureId(kept),
        atMs: 20,
        bodySha256: 'other',
        answered: 200,
      })
    },
  ],
  [
    'no webhook after deletion',
    'seconds later',
    (run) => {
      const sent = run.history.find((event) => event.kind === 'delivery' && event.captureId === captureId(gone))
      if (sent?.kind === 'delivery') run.history.push({ ...sent, atMs: 5000 })
    },
  ],
]

t.test('chaos checker: accepts a clean history', async (t) => {
  const { history, snapshot } = cleanRun(count)
  t.strictSame(check(history, snapshot, cleanLimits), { violations: [], recoveryMs: 6, captures: count, late: 0 })
})

t.test(
  'chaos checker: a capture has one more object for an attempt whose beginning NATS lost, and no others',
  async (t) => {
    const run = cleanRun(count)
    run.history.push({ kind: 'fault', name: 'nats loses writes', startMs: 0, endMs: 0 })
    run.snapshot.objects = [...run.snapshot.objects, object(kept, 'second')]
    t.strictSame(check(run.history, run.snapshot, cleanLimits).violations, [])
    run.snapshot.objects = [...run.snapshot.objects, object(kept, 'third')]
    t.match(check(run.history, run.snapshot, cleanLimits).violations, [{ invariant: 'one object per attempt' }])
  },
)

t.test('chaos checker: a list is complete without captures that were deleted, or accepted after it', async (t) => {
  const run = cleanRun(count)
  const list = { ...exchangeOf(run, 'list'), isWhole: true }
  add(run, list, { captures: wholeList(run) })
  run.history.push({ ...list, startMs: 1, endMs: 2, captures: [] })
  t.strictSame(check(run.history, run.snapshot, cleanLimits).violations, [])
})

for (const [invariant, what, change] of doctored) {
  t.test(`chaos checker: '${invariant}' rejects a history with ${what}`, async (t) => {
    const run = cleanRun(count)
    change(run)
    const { violations } = check(run.history, run.snapshot, cleanLimits)
    t.ok(violations.some((violation) => violation.invariant === invariant))
  })
}

t.test('chaos checker: every invariant rejects a doctored history', async (t) => {
  const names = new Set(doctored.map(([invariant]) => invariant))
  t.strictSame(
    captureInvariants.map(({ name }) => name).filter((name) => !names.has(name)),
    [],
  )
})

t.test('chaos plan: a seed repeats its decisions, and other seeds decide otherwise', async (t) => {
  t.strictSame(planRun(7), planRun(7))
  t.not(JSON.stringify(planRun(7).load), JSON.stringify(planRun(8).load))
})

t.test('chaos plan: named faults that last are given their time, and kills take none', async (t) => {
  const { faults: planned } = planRun(7, { only: ['fill postgres', 'kill ledger'], forMs: 30_000 })
  t.strictSame(
    planned.map(({ name, forMs }) => [name, forMs]),
    [
      ['fill postgres', 30_000],
      ['kill ledger', 0],
    ],
  )
})

t.test('chaos plan: the representative runs have each fault once', async (t) => {
  const names = planRepresentative(1).flatMap((plan) => plan.faults.map(({ name }) => name))
  t.strictSame(names.toSorted(), Object.keys(faults).toSorted())
})

t.test('chaos plan: the representative runs have each operation, one pause and one move', async (t) => {
  const plans = planRepresentative(1)
  t.strictSame(
    new Set(plans.flatMap(({ load }) => load.map(({ operation }) => operation))),
    new Set(Object.keys(operations)),
  )
  t.strictSame(
    plans.filter(({ pause, moveAtMs }) => pause !== undefined || moveAtMs !== undefined).map(({ world }) => world),
    ['files', 'cells'],
  )
})

/** Ends after which captures are late in `cleanRun`: acceptance, budget and recovery. */
const deadlineMs = 26_000

/** A run without deletions whose captures end one after the other, the nth at `endMs(n)`. */
const runWithEnds = (endMs: (n: number) => number) => {
  const run = cleanRun(count)
  run.history = run.history.filter(
    (event) => event.kind !== 'exchange' || event.operation === 'create' || event.operation === 'usage',
  )
  const created = exchangeOf(run, 'create')
  for (let n = 0; n < count; n += 1) {
    const sight = { id: captureId(n), status: 'completed' } as const
    add(run, created, { operation: 'status', target: sight.id, captures: [sight], endMs: endMs(n) })
  }
  return run
}

const lateEnds = (endMs: (n: number) => number) => {
  const { history, snapshot } = runWithEnds(endMs)
  const { violations, late } = check(history, snapshot, cleanLimits)
  return { late, stuck: violations.filter(({ invariant }) => invariant === 'ends in time').map(({ what }) => what) }
}

t.test('chaos checker: captures that end late one after the other are late, not stuck', async (t) => {
  t.strictSame(
    lateEnds((n) => deadlineMs - 1000 + 2000 * n),
    { late: count - 1, stuck: [] },
  )
})

t.test('chaos checker: a capture that ends long after all others, or without any other, is stuck', async (t) => {
  t.match(lateEnds((n) => (n === kept ? deadlineMs + 20_000 : deadlineMs + 1000 + n)).stuck.join(), /capture-0: ended/)
  t.match(
    lateEnds((n) => (n === kept ? deadlineMs + 3000 : 100)),
    { late: 0, stuck: [/capture-0: ended/] },
  )
})
