import t from 'tap'
import { captureMany, type CaptureManyDeps } from '#cli/capture/capture-many.ts'
import type { Progress } from '#cli/command/progress.ts'
import type { CompletedScreenshot, FailedScreenshot } from '#client/shutterfleet.js'
import { AppError } from '#shared/errors/app-error.ts'

const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ line: index + 1, url: `https://${index + 1}.example/` }))

const accepted = { id: 'x', url: null, options: { width: 1280, height: 800, format: 'png' as const }, created_at: '' }
const record: CompletedScreenshot = {
  ...{ ...accepted, status: 'completed', completed_at: '', image_url: '', cached: false, warnings: [] },
  ...{ mime_type: 'image/png', file_size: 5, width: 1, height: 1, processing_time_ms: 1 },
}
const failed: FailedScreenshot = { ...accepted, status: 'failed', error: { code: 'BLOCKED', message: 'no' } }
const image = Buffer.from('image')

const world = (over: Partial<CaptureManyDeps> = {}) => {
  const shown: Progress[] = []
  const deps: CaptureManyDeps = {
    capture: async () => ({ record, image }),
    store: async ({ line }) => `${line}.png`,
    progressed: (progress) => void shown.push(progress),
    ended: () => {},
    stop: new AbortController().signal,
    ...over,
  }
  return { deps, shown }
}

t.test('capture many: returns the end of each in the order of the list, and reports progress', async (t) => {
  const capture = async (url: string) => {
    if (url.includes('2.')) return { record: failed, image: undefined }
    if (url.includes('3.')) throw new AppError('SERVICE_UNAVAILABLE', { message: 'the service rejected it' })
    return { record, image }
  }
  const { deps, shown } = world({ capture })
  t.match(await captureMany(deps, addresses(4), 2), [
    { line: 1, file: '1.png' },
    { line: 2, error: { code: 'BLOCKED', message: 'no' } },
    { line: 3, error: { code: 'NOT_CAPTURED', message: 'the service rejected it' } },
    { line: 4, file: '4.png' },
  ])
  t.strictSame(
    [shown[0], shown.at(-1)],
    [
      { done: 0, failed: 0, total: 4 },
      { done: 4, failed: 2, total: 4 },
    ],
  )
})

t.test('capture many: runs as many at a time as allowed, and no more', async (t) => {
  const waiting: (() => void)[] = []
  let most = 0
  const capture = async () => {
    await new Promise<void>((resolve) => {
      most = Math.max(most, waiting.push(resolve))
      if (waiting.length === 3) for (const each of waiting.splice(0)) each()
    })
    return { record, image }
  }
  t.equal((await captureMany(world({ capture }).deps, addresses(9), 3)).length, 9)
  t.equal(most, 3)
})

t.test('capture many: captures no more once an image cannot be stored', async (t) => {
  let calls = 0
  const capture = async () => {
    calls += 1
    return { record, image }
  }
  const store = async () => {
    throw new AppError('CONFIGURATION', { message: 'disk full' })
  }
  await t.rejects(captureMany(world({ capture, store }).deps, addresses(100), 2), { message: 'disk full' })
  t.ok(calls <= 4)
})

t.test('capture many: ends when it is stopped, and says how far it came', async (t) => {
  const stopping = new AbortController()
  let calls = 0
  const capture = async () => {
    calls += 1
    if (calls === 2) stopping.abort()
    return { record, image }
  }
  const many = captureMany(world({ capture, stop: stopping.signal }).deps, addresses(5), 1)
  await t.rejects(many, { message: 'stopped after 2 of 5 captures' })
  t.equal(calls, 2)
})
