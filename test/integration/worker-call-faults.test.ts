import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import t, { type Test } from 'tap'
import type { Ledger } from '#ledger/context.ts'
import { maxAttempts } from '#shared/capture/budget.ts'
import { withDefaults } from '#shared/capture/options.ts'
import type { Database } from '#shared/db/connection.ts'
import type { connectQueue, Queue } from '#shared/queue/connection.ts'
import { sealedCodec } from '#shared/queue/messages.ts'
import { generateSealingKeys, readOpeningKey, readSealingKey, seal } from '#shared/queue/seal.ts'
import { publishCapture } from '#shared/queue/publish-capture.ts'
import { lastMessage } from '#shared/queue/stored.ts'
import { captureSubject } from '#shared/queue/subjects.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import type { Outcome } from '#worker/protocol/protocol.ts'
import { serveDelivery, type Worker } from '#worker/delivery/serve-delivery.ts'
import { createEvents } from '#worker/telemetry/events.ts'
import { callOutside } from '#test/helpers/call-faults.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { createImageStore } from '#test/helpers/image-store.ts'
import { createTestLedger } from '#test/helpers/ledger.ts'
import { applyReports, turns } from '#test/helpers/ledger-turns.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept } from '#test/helpers/running-ledger.ts'
import { createTenant, type Tenant, token } from '#test/helpers/tenant.ts'
import { openPair, type Stores, type UseCase } from '#test/helpers/use-case-faults.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

// A worker serves a capture, once for every fault at every call that it makes to NATS, its browser and the object store. The
// capture is then delivered to another worker, and the ledger does its work: it ends once, is charged once, and its one image
// is stored.

const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
t.setTimeout(300_000)

type World = Stores & { readonly tenant: Tenant; readonly ledger: Ledger; readonly files: Files }
type Served = UseCase<Worker, World>

const keys = generateSealingKeys()
const lane = { pool: 'standard', lane: 'normal' } as const
/** An object of that age without a record is removed at once. */
const acceptedAt = () => new Date(Date.now() - 72 * 3_600_000)

const arrange = async (world: World) => {
  const { id } = world.tenant.capture()
  const puts = Array.from({ length: maxAttempts }, () => {
    const key = newObjectKey(id, acceptedAt())
    return { key, url: `${world.files.url}/${key}` }
  })
  const plain = Buffer.from(
    sealedCodec.encode({ options: withDefaults({ html: 'x' }), token, resultKey: testRecords.resultKey(id), puts }),
  )
  const capture = await accept(world, { id, ...lane, sealed: seal(readSealingKey(keys.public), id, plain) })
  await publishCapture(world.queue, { ...capture, attempts: 0 })
  await world.database.query('delete from outbox')
}

const shot = { bytes: Buffer.from('image'), sha256: 'ab'.repeat(32), width: 1, height: 1, mimeType: 'image/png' }
const completed: Outcome = { outcome: 'completed', shot: { ...shot, warnings: [] }, timings: {} }
const failed: Outcome = {
  outcome: 'failed',
  code: 'TIMEOUT',
  blame: 'target',
  message: 'slow',
  detail: '',
  timings: {},
}
const crashed: Outcome = { outcome: 'interrupted', by: 'browser', isLoaded: false, detail: 'planted', timings: {} }

/** Serves the capture, if its message is still in the queue. Its ack removes just this message; `isHasty`: before it is served. */
const serve =
  (outcome: Outcome, isHasty = false) =>
  async (worker: Worker, { database, queue, tenant, files }: World) => {
    const [{ id } = { id: '' }] = await database.query<{ id: string }>('select id from capture')
    const subject = captureSubject({ ...lane, accountId: tenant.accountId, id })
    const message = await lastMessage(queue, capturesStream.name, subject)
    if (!message) return
    const { promise: acked, resolve } = Promise.withResolvers<void>()
    const remove = async () => {
      const { streams } = await jetstreamManager(queue.connection)
      // Without effect if it was removed meanwhile.
      await streams.deleteMessage(capturesStream.name, message.sequence).catch(() => false)
    }
    const ack = () => resolve(callOutside('ack', remove, { refused: undefined }))
    if (isHasty) await remove()
    const delivery = { ...message, subject, traceparent: undefined, ack, nak: () => resolve(), working() {} }
    const capture = async () => {
      const end = await callOutside('capture', async () => outcome, { refused: crashed })
      files.deadline = AsyncLocalStorage.snapshot()
      return end
    }
    const { ended } = await serveDelivery(worker, async () => ({ capture }), delivery)
    await ended
    await acked
  }

const rows = async (database: Database) => ({
  captures: await database.query('select status, error_code from capture'),
  usage: await database.query('select settled, reserved from usage'),
  objects: await database.query('select count(*) from stored_object'),
})

/** An object store. `within` calls a function in the context of the worker that uploads next. */
type Files = { readonly url: string; deadline: <T>(work: () => T) => T }

const startFiles = async (test: Test, { objects }: Stores): Promise<Files> => {
  const put = async (key: string, bytes: Buffer) => {
    const upload = await objects.beginUpload(key)
    await finished(upload.sink.end(bytes))
    return (await upload.commit()) ? 200 : 412
  }
  const handler = createServer(async (request, response) => {
    const bytes = await buffer(request)
    const store = () => put(request.url?.slice(1) ?? '', bytes)
    const status = await files.deadline(() => callOutside('put', store, { refused: 503, unanswered: 0 }))
    if (status === 0) response.destroy()
    else response.writeHead(status).end()
  })
  const listener = await listening(handler)
  test.teardown(() => listener[Symbol.asyncDispose]())
  const files: Files = { url: `http://127.0.0.1:${listener.port}`, deadline: (work) => work() }
  return files
}

const workerOf = (queue: Queue): Worker => ({
  queue,
  pool: lane.pool,
  pod: 'pod',
  openingKeys: [readOpeningKey(keys.private)],
  egress: { outages: () => 0, isUpSince: async () => true, [Symbol.dispose]() {} },
  store: createImageStore().store,
  events: createEvents(createLogger({ service: 'worker', level: 'silent' }), createMetrics('worker')),
})

/** What the ledger does in time: it learns of reports, ends the attempts of dead workers, and sends captures again. */
const runLedger = async ({ ledger, queue, database }: World) => {
  await applyReports(ledger, { queue })
  await database.query(`update capture set attempt_started_at = now() - interval '10 minutes'`)
  await turns('reaper', 'unstarted', 'relay', 'deletions', 'removals')(ledger)
  const open = await database.query(`select from capture where status in ('pending', 'processing')`)
  if (open.length === 0) await turns('orphans', 'removals')(ledger)
}

const openWorkers = (test: Test) =>
  openPair<Worker, World>(
    test,
    { server, nats },
    {
      open: async ({ SHUTTERFLEET_NATS_URL: url = '' }, by: { connectQueue: typeof connectQueue }) => {
        const queue = await by.connectQueue({ url, name: 'worker', inboxPrefix: '_INBOX_worker', notice: () => {} })
        return { ...workerOf(queue), [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose]() }
      },
      prepare: async (stores) => {
        const { database, queue, objects } = stores
        const ledger = createTestLedger(database, queue, { objects })
        return { ...stores, ledger, tenant: await createTenant(database), files: await startFiles(test, stores) }
      },
      meanwhile: runLedger,
      rows,
    },
  )

const useCases: Readonly<Record<string, Served>> = {
  'a capture completes': { arrange, act: serve(completed) },
  'a capture fails': { arrange, act: serve(failed) },
}

for (const [name, useCase] of Object.entries(useCases)) {
  t.test(`worker: ${name} once, whichever of its calls fails or is late`, async (t) => {
    const differences = await openWorkers(t)
    t.same(await differences(useCase), [])
  })
}

t.test('worker: acking a capture before reporting its end is detected', async (t) => {
  const differences = await openWorkers(t)
  const found = await differences({ arrange, act: serve(completed, true) }, { isWhole: true })
  t.match(found, [{ fault: /^refused at 1: request started/ }])
})
