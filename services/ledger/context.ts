import { type Database, openConfiguredDatabase } from '#shared/db/connection.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { probeStream } from '#shared/queue/stored.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { openStore } from '#shared/storage/open-store.ts'
import { probeStore } from '#shared/storage/probe-store.ts'
import { reportClientCertificates } from '#shared/telemetry/client-certificates.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import type { Health } from '#shared/telemetry/probe-server.ts'
import { measureCalls } from '#shared/process/measure-calls.ts'
import { createStoreWatch, type StoreWatch } from '#shared/process/store-watch.ts'
import type { Rest } from '#shared/process/rest.ts'
import { type Wakeup, createWakeup } from '#shared/process/wakeup.ts'
import type { Config } from './config.ts'
import { createEvents, type Events } from './telemetry/events.ts'

/** The settings that the loops read. */
type Settings = Pick<
  Config,
  | 'windowCaptures'
  | 'longestWaitSeconds'
  | 'unstartableWaitSeconds'
  | 'resultsMaxBytes'
  | 'streamReplicas'
  | 'rowRetentionDays'
  | 'activityDays'
>

/** Connections, settings and state shared by the loops of the ledger. */
export type Ledger = Settings & {
  readonly database: Database
  readonly queue: Queue
  readonly objects: Pick<ObjectStore, 'delete' | 'list'>
  readonly stores: Pick<StoreWatch, 'start'>
  readonly events: Events
  /** Brings the relay's next turn forward. */
  readonly relayWakeup: Wakeup
  readonly rest: Pick<Rest, 'longest' | 'markBusy' | 'pace' | 'quietMs' | 'subscribe'>
}

type Stores = Pick<Ledger, 'database' | 'queue'> & {
  readonly objects: ObjectStore
  readonly events: Events
  readonly rest: Rest
}

/** Reports reach the ledger by the stream of results, which only workers write to otherwise. */
const watchStores = ({ database, queue, objects, events, rest }: Stores): StoreWatch =>
  createStoreWatch(
    events,
    {
      postgresql: database.probe,
      nats: async () => {
        await probeStream(queue, capturesStream.name)
        await probeStream(queue, resultsStream.name)
      },
      object_store: () => probeStore(objects),
    },
    { rest },
  )

const reachable = { openStore, openConfiguredDatabase, connectQueue }

/** Whether spans are sent: then metrics have exemplars. */
type Lifecycle = { readonly stop: AbortSignal; readonly rest: Rest; readonly hasTraces?: boolean }

/** Opens the connections of a ledger, each by the function in `by`; dispose closes them. Throws `CONFIGURATION` or `SERVICE_UNAVAILABLE` with the cause. */
export const openContext = async (config: Config, { stop, rest, hasTraces }: Lifecycle, by = reachable) => {
  await using stack = new AsyncDisposableStack()
  const metrics = createMetrics('ledger', {}, { withExemplars: hasTraces })
  const events = createEvents(createLogger({ service: 'ledger', level: config.logLevel }), metrics)
  stack.use(reportClientCertificates(config, events))
  const store = await by.openStore(config, events.identityReports('object_store'))
  const objects = measureCalls(store.objects, ['get', 'put', 'delete'], events.storeRequested('object_store'))
  const opened = stack.use(by.openConfiguredDatabase(config, events.identityReports('postgresql')))
  const database = measureCalls(opened, ['query', 'transaction', 'entities'], events.storeRequested('postgresql'))
  const inboxPrefix = userInboxPrefix('ledger')
  const notice = events.queueNotice
  const requested = events.storeRequested('nats')
  const queue = stack.use(
    await by.connectQueue({
      url: config.natsUrl,
      identity: config,
      identityReports: events.identityReports('nats'),
      name: 'ledger',
      inboxPrefix,
      notice,
      requested,
    }),
  )
  const stores = stack.use(watchStores({ database, queue, objects, events, rest }))
  const owned = stack.move()
  return {
    ...config,
    database,
    queue,
    objects,
    events,
    metrics,
    relayWakeup: createWakeup(),
    rest,
    stores,
    health: (): Health => ({ live: true, ready: stores.areUp() && !stop.aborted, detail: stores.detail() }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
