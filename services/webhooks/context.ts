import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { openConfiguredDatabase } from '#shared/db/connection.ts'
import { readExtraCertificates } from '#shared/config/extra-certificates.ts'
import { openEgressTrust } from '#shared/net/egress-trust.ts'
import { createRecordSeal } from '#shared/db/record-seal.ts'
import { readOpeningKey } from '#shared/queue/seal.ts'
import { reportClientCertificates } from '#shared/telemetry/client-certificates.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import type { Health } from '#shared/telemetry/probe-server.ts'
import { openStore } from '#shared/storage/open-store.ts'
import { measureCalls } from '#shared/process/measure-calls.ts'
import type { Rest } from '#shared/process/rest.ts'
import { createStoreWatch } from '#shared/process/store-watch.ts'
import { attempt, type Post } from './attempt.ts'
import type { Config } from './config.ts'
import { createEvents } from './telemetry/events.ts'
import { ReceiverAgent } from './receiver-agent.ts'
import { type Upload, upload } from './upload.ts'

const leaseMs = 10_000
const idleMs = 5000
/** The contract's bounds of an attempt: for the connection, then for the whole response. */
export const attemptBounds = { connectMs: 10_000, answerMs: 30_000 } as const
/** Longest time of an upload once it has a connection: 50 MB at 4 Mbit/s take 100 s. */
const uploadMs = 120_000

const readAuthorities = async (path: string): Promise<SecureContext | undefined> => {
  const extra = await readExtraCertificates(path)
  return extra.length === 0 ? undefined : createSecureContext({ ca: [...getCACertificates('default'), ...extra] })
}

const reachable = { openConfiguredDatabase }

type Lifecycle = { readonly stop: AbortSignal; readonly rest: Rest }

/** Opens the sender's dependencies, the database by the function in `by`; connects to PostgreSQL in the first round. Throws `CONFIGURATION`. */
export const openContext = async (config: Config, { stop, rest }: Lifecycle, by = reachable) => {
  await using stack = new AsyncDisposableStack()
  const metrics = createMetrics('webhooks')
  const events = createEvents(createLogger({ service: 'webhooks', level: config.logLevel }), metrics)
  stack.use(reportClientCertificates(config, events))
  const openingKeys = config.openingKeys.map(readOpeningKey)
  const { egressToken } = config
  const failed = (cause: unknown) => events.certificateUnusable('egress-ca', cause)
  const egress = { ...config.egress, trust: stack.use(await openEgressTrust(config.egressCaFile, failed)) }
  const trust = await readAuthorities(config.extraCa)
  const store = await openStore(config, events.identityReports('object_store'))
  const objects = measureCalls(store.objects, ['get'], events.storeRequested('object_store'))
  const opened = stack.use(by.openConfiguredDatabase(config, events.identityReports('postgresql')))
  const database = measureCalls(opened, ['query', 'transaction'], events.storeRequested('postgresql'))
  const agent = stack.use(new ReceiverAgent({ egress, egressToken, trust, connectMs: attemptBounds.connectMs }))
  const stores = stack.use(createStoreWatch(events, { postgresql: database.probe }, { rest }))
  stores.start()
  const owned = stack.move()
  return {
    database,
    egress,
    openingKeys,
    records: createRecordSeal(config.recordKeys),
    publicUrl: config.publicUrl,
    events,
    metrics,
    attempt: (post: Post) => attempt({ agent, answerMs: attemptBounds.answerMs }, post),
    upload: (object: Upload) => upload({ agent, objects, answerMs: uploadMs }, object),
    retryDelaysMs: config.webhookRetries,
    inFlightMax: config.inFlightMax,
    leaseMs,
    idleMs,
    rest,
    now: () => new Date(),
    random: () => Math.random(),
    health: (): Health => ({ live: true, ready: stores.areUp() && !stop.aborted, detail: stores.detail() }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
