import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { changeCaptures } from '#shared/db/change-captures.ts'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { announceDeliveries } from '#webhooks/db/take-deliveries.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { Database } from '#shared/db/connection.ts'
import type { RecordSeal } from '#shared/db/record-seal.ts'
import { generateSealingKeys, readOpeningKey, readSealingKey, seal } from '#shared/queue/seal.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { attempt } from '#webhooks/attempt.ts'
import { upload } from '#webhooks/upload.ts'
import { createEvents } from '#webhooks/telemetry/events.ts'
import { ReceiverAgent } from '#webhooks/receiver-agent.ts'
import { runSender } from '#webhooks/sender.ts'
import { Rest } from '#shared/process/rest.ts'
import { type Filter, internet, startFilter } from './egress-filter.ts'
import { testRecords } from './record-seal.ts'
import { createTenant, type Tenant } from './tenant.ts'
import type { Certificate, Receiver } from './webhook-receiver.ts'

type WithTeardown = { teardown: (clean: () => Promise<void>) => void }

const publicAddress = '93.184.216.34'
const keys = generateSealingKeys()

/** Public key to which secrets of the sender are sealed. */
export const webhooksKey = readSealingKey(keys.public)

/** Private key for secrets that `addWebhook` sealed. */
export const openingKeyText = keys.private

/** URL with a name of the certificate; each resolves to the receiver, except `private`, which is a private address. */
export const hookUrl = (name: string, path: string): string => `https://${name}.hooks.example${path}`

/** The names in URLs of `hookUrl`. */
export const hookNames = ['*.hooks.example']

const defaultSecrets = (name: string): readonly string[] => {
  if (name.startsWith('private.')) return ['10.1.2.3']
  return name.startsWith('nowhere.') ? [] : [publicAddress]
}

/** Starts a real egress filter that treats the receiver as the internet. `resolve` maps names to addresses. */
export const startReceiverFilter = (
  receiver: Pick<Receiver, 'port'>,
  resolve: typeof defaultSecrets = defaultSecrets,
): Promise<Filter> =>
  startFilter({
    resolver: { resolve: async (name) => resolve(name), lookup: async (name) => resolve(name) },
    connect: internet({ public: receiver.port, canary: 1 }),
    connectionsMax: 1024,
  })

/** Starts a sender in this process, with retries after the given waits. Stopped at the test's end, at the latest. */
export const startSender = async (
  t: WithTeardown,
  environment: { readonly database: Database; readonly egressPort: number; readonly certificate: Certificate },
  options: {
    readonly retryDelaysMs?: readonly number[]
    readonly answerMs?: number
    readonly connectMs?: number
    readonly random?: number
    readonly inFlightMax?: number
    readonly leaseMs?: number
    readonly reuseMs?: number
    readonly idleMs?: number
    openingKey?: string
    readonly records?: RecordSeal
    /** Where images of uploads are stored; by default none is. */
    readonly objects?: Pick<ObjectStore, 'get'>
  } = {},
) => {
  const trust = createSecureContext({ ca: await readFile(environment.certificate.certPath) })
  const egress = { host: '127.0.0.1', port: environment.egressPort }
  const agent = new ReceiverAgent(
    { egress, egressToken: '', trust, connectMs: options.connectMs ?? 5000 },
    options.reuseMs,
  )
  const stop = new AbortController()
  const running = runSender(
    {
      database: environment.database,
      openingKeys: [readOpeningKey(options.openingKey ?? keys.private)],
      records: options.records ?? testRecords,
      publicUrl: 'https://shots.example',
      events: createEvents(createLogger({ service: 'test', level: 'error' }), createMetrics('test')),
      attempt: (post) => attempt({ agent, answerMs: options.answerMs ?? 5000 }, post),
      upload: (object) => {
        const objects = options.objects ?? { get: async () => undefined }
        return upload({ agent, objects, answerMs: options.answerMs ?? 5000 }, object)
      },
      retryDelaysMs: options.retryDelaysMs ?? [50, 50, 50],
      inFlightMax: options.inFlightMax ?? 64,
      leaseMs: options.leaseMs ?? 10_000,
      idleMs: options.idleMs ?? 5000,
      rest: new Rest(),
      now: () => new Date(),
      random: () => options.random ?? 0,
    },
    stop.signal,
    10_000,
  )
  const end = async () => {
    stop.abort()
    await running
    agent[Symbol.dispose]()
  }
  t.teardown(end)
  return { end }
}

/** Creates a user-level webhook; returns its id. */
export const addWebhook = async (
  database: Database,
  receiver: { accountId: string; url: string; secret: string; events?: readonly string[]; active?: boolean },
): Promise<string> => {
  const id = randomUUID()
  const { accountId, url, secret, events = ['screenshot.completed', 'screenshot.failed'], active = true } = receiver
  await database.query(
    `insert into webhook (id, account_id, url, events, description, active, created_at) values ($1, $2, $3, $4, '', $5, now())`,
    [id, accountId, url, events, active],
  )
  const sealed = seal(readSealingKey(keys.public), id, Buffer.from(secret))
  await database.query('insert into webhook_secret (webhook_id, sealed) values ($1, $2)', [id, sealed])
  return id
}

/** Accepts a capture, with the request's webhook URL, if any. Returns its id. */
export const acceptFor = async (database: Database, tenant: Tenant, webhookUrl?: string): Promise<string> => {
  const capture = tenant.capture()
  const outcome = await acceptCapture(database, capture, { windowSize: 1000 })
  if (!outcome.ok) throw new Error(outcome.code)
  if (webhookUrl !== undefined) {
    await database.query('update capture set webhook_url = $2 where id = $1', [capture.id, webhookUrl])
  }
  return capture.id
}

/** Ends captures as the ledger does; failed ones with `code`. */
export const endCaptures = (
  database: Database,
  ids: readonly string[],
  status: 'completed' | 'failed' = 'completed',
  code: CaptureErrorCode = 'TIMEOUT',
) =>
  changeCaptures(database, ids, ({ id }) => ({
    change: {
      attempts: 1,
      unendedStarts: 0,
      begins: true,
      end:
        status === 'failed'
          ? { status, code, message: 'The page did not load in time.' }
          : {
              status,
              objectKey: `captures/${id}`,
              fileSize: 1234,
              sha256: 'ab',
              mimeType: 'image/png',
              width: 1280,
              height: 800,
              processingTimeMs: 900,
              warnings: [],
              timings: {},
            },
    },
  }))

/** Accepts and ends a capture for the receiver; returns its id. */
export const captureFor = async (
  database: Database,
  tenant: Tenant,
  webhookUrl?: string,
  status: 'completed' | 'failed' = 'completed',
): Promise<string> => {
  const id = await acceptFor(database, tenant, webhookUrl)
  await endCaptures(database, [id], status)
  return id
}

/** Makes all waiting deliveries due. */
export const makeDue = async (database: Database): Promise<void> => {
  await database.query(`update webhook_delivery set next_attempt_at = now() where state = 'pending'`)
  await announceDeliveries(database)
}

/** Creates an account without limits. */
export const newTenant = (database: Database): Promise<Tenant> => createTenant(database)
