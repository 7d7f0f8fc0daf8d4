import t from 'tap'
import { check, featureInvariants } from '#test/chaos/check.ts'
import { captureId, cleanLimits, type DoctoredRun, exchange } from '#test/chaos/clean-run.ts'
import { featureRun, uploadKey } from '#test/chaos/feature-run.ts'
import type { MovableAccount, OldRow } from '#test/chaos/snapshot.ts'

const changeUpload = ({ snapshot }: DoctoredRun, changes: Partial<DoctoredRun['snapshot']['deliveries'][number]>) => {
  snapshot.deliveries = snapshot.deliveries.map((row) => ({ ...row, ...changes }))
}
const changeRows = ({ snapshot }: DoctoredRun, change: (row: OldRow) => Partial<OldRow>) => {
  snapshot.oldRows = snapshot.oldRows.map((row) => ({ ...row, ...change(row) }))
}
const move = ({ snapshot }: DoctoredRun, changes: Partial<MovableAccount>) => {
  snapshot.movable = snapshot.movable.map((account) => ({ ...account, ...changes }))
}
const upload = (changes: { readonly key?: string; readonly sha256?: string }) => ({
  ...({ kind: 'upload', atMs: 7, captureId: captureId(0), answered: 200 } as const),
  ...{ key: uploadKey, sha256: 'other', ...changes },
})
const use = (credential: string, startMs: number) => exchange({ operation: 'account', startMs, credential })

/** Changes that the named invariant must reject. */
const doctored: readonly (readonly [invariant: string, what: string, change: (run: DoctoredRun) => unknown])[] = [
  ['uploads arrive', 'none queued', (run) => (run.snapshot.deliveries = [])],
  [
    'uploads arrive',
    'two queued',
    (run) => (run.snapshot.deliveries = [...run.snapshot.deliveries, ...run.snapshot.deliveries]),
  ],
  ['uploads arrive', 'one that waits', (run) => changeUpload(run, { state: 'pending' })],
  ['uploads arrive', 'one given up early', (run) => changeUpload(run, { state: 'failed', attempts: 1 })],
  [
    'uploads arrive',
    'one that no bucket stored',
    (run) => (run.history = run.history.filter((event) => event.kind !== 'upload' || event.answered !== 200)),
  ],
  ['same upload', 'other bytes', (run) => run.history.push(upload({}))],
  [
    'same upload',
    'another key',
    (run) => run.history.push({ ...run.history.find((each) => each.kind === 'upload')!, key: 'ok/other.png' }),
  ],
  [
    'one image per link',
    'another capture',
    (run) =>
      run.history.push(
        exchange({
          ...{ operation: 'render', startMs: 8, link: 'first' },
          captures: [{ id: captureId(2), status: 'completed' }],
        }),
      ),
  ],
  [
    'one image per link',
    'other bytes',
    (run) => run.history.push(exchange({ operation: 'render', startMs: 8, link: 'first', imageSha256: 'other' })),
  ],
  [
    'one charge per link',
    'two charges',
    (run) => {
      const [, row] = run.snapshot.captures
      run.snapshot.captures = [...run.snapshot.captures, { ...row!, id: captureId(2) }]
    },
  ],
  [
    'files are whole',
    'no rendition',
    (run) => (run.snapshot.captures = run.snapshot.captures.map((row) => ({ ...row, files: row.files.slice(0, 1) }))),
  ],
  [
    'files are whole',
    'half a file',
    (run) =>
      (run.snapshot.objects = run.snapshot.objects.map((object) => ({
        ...object,
        files: object.files.map(() => 'half'),
      }))),
  ],
  [
    'files are whole',
    'other bytes in a download',
    (run) =>
      run.history.push(
        exchange({ operation: 'file', startMs: 9, target: captureId(0), files: ['text'], fileSha256: 'other' }),
      ),
  ],
  ['an ended credential is refused', 'a session after its end', (run) => run.history.push(use('session', 40))],
  ['an ended credential is refused', 'a key after its revocation', (run) => run.history.push(use('key', 40))],
  [
    'a paused pool captures nothing',
    'a page loaded meanwhile',
    (run) => run.history.push({ kind: 'load', atMs: 55, path: '/meanwhile' }),
  ],
  ['one cell serves an account', 'two that do', (run) => move(run, { servedBy: 2 })],
  ['one cell serves an account', 'none that does', (run) => move(run, { servedBy: 0 })],
  ['one cell serves an account', 'changes that are held up', (run) => move(run, { isHeld: true })],
  ['one cell serves an account', 'a move that never succeeds', (run) => move(run, { isStill: true })],
  ['old records are removed', 'one that is left', (run) => changeRows(run, () => ({ isThere: true }))],
  ['records are kept for their retention', 'one removed early', (run) => changeRows(run, () => ({ isThere: false }))],
]

t.test(
  'chaos checker: accepts a clean history of uploads, links, files, sessions, keys, pauses and old records',
  async (t) => {
    const { history, snapshot } = featureRun()
    t.strictSame(check(history, snapshot, cleanLimits).violations, [])
  },
)

for (const [invariant, what, change] of doctored) {
  t.test(`chaos checker: '${invariant}' rejects a history with ${what}`, async (t) => {
    const run = featureRun()
    change(run)
    const { violations } = check(run.history, run.snapshot, cleanLimits)
    t.ok(violations.some((violation) => violation.invariant === invariant))
  })
}

t.test('chaos checker: every invariant of a feature rejects a doctored history', async (t) => {
  const names = new Set(doctored.map(([invariant]) => invariant))
  t.strictSame(
    featureInvariants.map(({ name }) => name).filter((name) => !names.has(name)),
    [],
  )
})

t.test(
  'chaos checker: an output that could not be read in time may be missing, a record may wait for the next turn',
  async (t) => {
    const run = featureRun()
    run.snapshot.captures = run.snapshot.captures.map((row) => ({ ...row, files: row.files.slice(1) }))
    run.snapshot.objects = run.snapshot.objects.map((object) => ({ ...object, files: object.files.slice(1) }))
    run.history = run.history.filter(
      (event) => event.kind !== 'exchange' || event.files?.[0] !== 'text' || event.operation === 'create',
    )
    changeRows(run, () => ({ isThere: true, plantedMs: 9000 }))
    t.strictSame(check(run.history, run.snapshot, cleanLimits).violations, [])
  },
)

t.test(
  'chaos checker: a page may load while the clock of the report jumps, or in a pause that was never drained',
  async (t) => {
    const run = featureRun()
    const load = { kind: 'load', atMs: 55, path: '/meanwhile' } as const
    const undrained = run.history.map((event) => (event.kind === 'pause' ? { ...event, drainedMs: undefined } : event))
    t.strictSame(check([...undrained, load], run.snapshot, cleanLimits).violations, [])
    const jump = { kind: 'fault', name: 'clock forward', startMs: 40, endMs: 45 } as const
    t.strictSame(check([...run.history, load, jump], run.snapshot, cleanLimits).violations, [])
  },
)
