import { captureId, type DoctoredRun, exchange, imageHash, objectKey, pageRow } from './clean-run.ts'
import { sha256 } from './history.ts'

const account = 'a'
const digest = (name: string) => sha256(name)
const files = ['text', 'rendition-1']
/** Key of the image in the bucket of its account. */
export const uploadKey = `ok/${captureId(0)}.png`

/**
 * A run without a violation in which capture 0 is uploaded and has an output and a rendition, capture 1 is that of a link, a session and a
 * key end, the pool is paused, and old records are removed.
 */
export const featureRun = (): DoctoredRun => {
  const [uploaded, linked] = [captureId(0), captureId(1)]
  const shown = { captures: [{ id: linked, status: 'completed' }], imageSha256: imageHash(1) } as const
  const stored = files.map((name) => ({ name, bytes: 10, sha256: digest(name) }))
  const pending = { id: uploaded, status: 'pending' } as const
  return {
    history: [
      exchange({ operation: 'create', startMs: 0, status: 202, captures: [pending], budgetMs: 25_000, files }),
      exchange({ operation: 'render', startMs: 1, link: 'first', ...shown }),
      exchange({ operation: 'render', startMs: 2, link: 'first', ...shown }),
      exchange({ operation: 'list', startMs: 4, captures: [{ id: uploaded, status: 'completed' }] }),
      ...files.map((name) =>
        exchange({ operation: 'file', startMs: 6, target: uploaded, files: [name], fileSha256: digest(name) }),
      ),
      { kind: 'upload', atMs: 5, captureId: uploaded, key: uploadKey, sha256: imageHash(0), answered: 503 },
      { kind: 'upload', atMs: 6, captureId: uploaded, key: uploadKey, sha256: imageHash(0), answered: 200 },
      ...['session', 'key'].flatMap((credential) => [
        exchange({ operation: 'account', startMs: 10, credential }),
        exchange({ operation: 'end', startMs: 20, status: 204, ends: credential }),
        exchange({ operation: 'account', startMs: 30, status: 401, credential }),
      ]),
      { kind: 'pause', startMs: 40, drainedMs: 50, heldUntilMs: 60, endMs: 70 },
      { kind: 'load', atMs: 45, path: '/before' },
      { kind: 'load', atMs: 65, path: '/after' },
      exchange({ operation: 'usage', startMs: 100, used: 2 }),
    ],
    snapshot: {
      captures: [{ ...pageRow(0), files: stored, isUploaded: true }, pageRow(1)],
      deleted: [],
      usage: [{ account, reserved: 0, settled: 2 }],
      quotas: {},
      deliveries: [{ captureId: uploaded, isUpload: true, path: '/bucket', state: 'delivered', attempts: 2 }],
      webhooks: [],
      oldRows: [
        { id: 'due', isDue: true, plantedMs: 0, isThere: false },
        { id: 'young', isDue: false, plantedMs: 0, isThere: true },
      ],
      movable: [{ account, servedBy: 1, isHeld: false, isStill: false }],
      atMs: 10_000,
      objects: [0, 1].map((n) => ({
        key: objectKey(n),
        captureId: captureId(n),
        sha256: imageHash(n),
        files: n === 0 ? stored.map((file) => file.sha256) : [],
      })),
      removals: [],
      deletions: [],
      outbox: [],
      messages: [],
      meterDifferences: [],
    },
  }
}
