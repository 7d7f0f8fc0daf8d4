import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { generateSealingKeys, readSealingKey } from '#shared/queue/seal.ts'
import { declareStreams } from '#shared/queue/streams.ts'
import { type sendCapture, startObjectSink, startWorker, type WorkerProcess } from '#test/helpers/browser-worker.ts'
import { startNats, type TestNats } from '#test/helpers/nats.ts'

/** A worker with a separate queue and object store, without gateway and ledger. */
export type LoneWorker = {
  readonly worker: WorkerProcess
  readonly queue: Queue
  readonly nats: TestNats
  readonly store: Awaited<ReturnType<typeof startObjectSink>>
  /** Its settings. */
  readonly settings: Readonly<Record<string, string>> & { readonly TMPDIR: string }
  /** First argument of `sendCapture`. */
  readonly to: Parameters<typeof sendCapture>[0]
}

/** Starts a worker of one slot with egress on a local port; stopped at the test's end. */
export const startLoneWorker = async (
  t: Test,
  egressPort: number,
  more: Readonly<Record<string, string>> = {},
): Promise<LoneWorker> => {
  const nats = await startNats(t)
  const queue = await connectQueue({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test', notice: () => {} })
  await declareStreams(queue)
  const store = await startObjectSink()
  const keys = generateSealingKeys()
  const folder = await mkdtemp(join(tmpdir(), 'worker-'))
  // The browser's user has to traverse the folder.
  await chmod(folder, 0o711)
  const settings = {
    TMPDIR: folder,
    SHUTTERFLEET_NATS_URL: nats.url,
    SHUTTERFLEET_WORKER_EGRESS: `127.0.0.1:${egressPort}`,
    SHUTTERFLEET_WORKER_OPENING_KEYS: keys.private,
    SHUTTERFLEET_WORKER_POD: 'pod-1',
    ...more,
  }
  const worker = await startWorker(settings)
  t.teardown(async () => {
    await worker[Symbol.asyncDispose]()
    await queue[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    worker,
    queue,
    nats,
    store,
    settings,
    to: { queue, sealingKey: readSealingKey(keys.public), storeUrl: store.url },
  }
}
