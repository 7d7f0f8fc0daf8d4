import type { Pool } from '#shared/capture/lane.ts'
import type { AllowTarget } from '#shared/policy/allow-list.ts'
import type { TargetLists } from '#shared/policy/target-lists.ts'
import { type Database, openConfiguredDatabase } from '#shared/db/connection.ts'
import { deleteOutbox } from '#shared/db/delete-outbox.ts'
import { findProgress, type Progress } from '#gateway/db/find-progress.ts'
import { TargetsCache } from '#gateway/db/targets-cache.ts'
import { type TargetStore, targetStoreIn } from '#shared/db/account-targets.ts'
import { type AccountChanges, accountChangesIn } from '#gateway/db/recent-captures.ts'
import type { LockWaits } from '#gateway/db/lock-waits.ts'
import { type AcceptQueue, type CheckQueue, createRequestQueues } from '#gateway/db/request-queues.ts'
import { createRefusalCache, type RefusalCache } from '#gateway/db/refusal-cache.ts'
import { type AccountKeys, accountKeysIn } from '#gateway/db/account-keys.ts'
import { type AccountMembers, accountMembersIn } from '#gateway/db/account-members.ts'
import { openReplica, type ReplicaReads } from '#gateway/db/replica-reads.ts'
import { type AuthorizationLookup, createAuthorizationLookup } from '#gateway/db/valid-keys.ts'
import { createRecordSeal, type RecordSeal } from '#shared/db/record-seal.ts'
import { confirmKeys } from '#shared/db/key-fingerprints.ts'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { readMaintenance } from '#shared/db/maintenance.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { publishCapture } from '#shared/queue/publish-capture.ts'
import { generateSealingKeys, readSealingKey, type SealingKey } from '#shared/queue/seal.ts'
import { probeStream } from '#shared/queue/stored.ts'
import { relayWakeupSubject, poolWakeupSubject } from '#shared/queue/subjects.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import type { FilesStore } from '#shared/storage/files-store.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { openStore } from '#shared/storage/open-store.ts'
import { probeStore } from '#shared/storage/probe-store.ts'
import { reportClientCertificates } from '#shared/telemetry/client-certificates.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics, type Metrics } from '#shared/telemetry/metrics.ts'
import type { Health } from '#shared/telemetry/probe-server.ts'
import { measureCalls } from '#shared/process/measure-calls.ts'
import type { Rest } from '#shared/process/rest.ts'
import { createStoreWatch, type StoreWatch } from '#shared/process/store-watch.ts'
import { createPublisher, type Publisher } from '#gateway/queue/publisher.ts'
import { signImages } from '#gateway/queue/sign-images.ts'
import { type BufferedBytes, bufferedBytesMax, createBufferedBytes, readSmall } from '#gateway/images/read-image.ts'
import type { Config } from './config.ts'
import { followMaintenance, type MaintenanceWatch } from '#gateway/db/follow-maintenance.ts'
import { type Clients, createClients } from '#gateway/http/identification/clients.ts'
import type { HashKey } from '#gateway/http/identification/identify.ts'
import { createKeyGuesses, type KeyGuesses } from '#gateway/http/identification/key-guesses.ts'
import { watchPepper } from '#gateway/http/identification/pepper-watch.ts'
import { createSessions, type Sessions } from '#gateway/http/identification/sessions.ts'
import { SignInFailures } from '#gateway/http/identification/sign-in-failures.ts'
import type { ActivityRecorder } from '#gateway/activity/activity-recorder.ts'
import { openRecorder } from './open-recorder.ts'
import { OidcProvider } from '#gateway/oidc/oidc-provider.ts'
import { createConsole, type ShowConsole } from '#gateway/console/console.ts'
import { createConcurrencyLimit, type ConcurrencyLimit } from '#gateway/limits/concurrency-limit.ts'
import { createBatchedLoader, type BatchedLoader } from '#gateway/db/batched-loader.ts'
import { createEvents, type Events, proxyAdvice } from '#gateway/telemetry/events.ts'
import { LinkAttempts } from '#gateway/links/link-attempts.ts'
import { createLinks, type Links } from '#gateway/links/links.ts'
import { type LinkSecrets, linkSecretsIn } from '#gateway/db/link-secrets.ts'
import { createCredentialLookup, type FindCredentials } from '#gateway/db/known-credentials.ts'
import { LinkVerifier } from '#gateway/links/link-verifier.ts'
import { createLinkKeyLookup } from '#gateway/db/render-links.ts'
import { createClientLimit } from '#gateway/http/identification/client-limit.ts'
import { Bodies } from '#gateway/http/bodies.ts'
import { type IdempotencyStore, idempotencyStoreIn } from '#gateway/http/idempotency.ts'
import type { Contract } from '#gateway/openapi/schema/contract.ts'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { openResponses } from '#gateway/openapi/schema/open-responses.ts'
import { createReference, type Reference } from '#gateway/openapi/reference.ts'
import { FleetWatch } from '#gateway/queue/fleet-watch.ts'
import { createWaiters, type Waiters } from '#gateway/queue/waiters.ts'

/** Sign-in with the installation's provider. `bindsByEmail`: else members are found by the subject that they were added with. */
type OidcSignIn = {
  readonly provider: Pick<OidcProvider, 'authorizationUrl' | 'identify'>
  readonly issuer: string
  readonly name: string
  readonly bindsByEmail: boolean
}

/** The dependencies of the gateway's operations. */
export type Context = {
  /** Throws `SERVICE_UNAVAILABLE` if it is unavailable. */
  readonly database: Pick<Database, 'query' | 'transaction'>
  /** Reads as of a caller's request, from the replica where there is one. */
  readonly replica: Pick<ReplicaReads, 'isUsed' | 'asOf'>
  readonly hashKey: HashKey
  /** Cached refusals of keys and minute limits. */
  readonly refusals: RefusalCache
  readonly acceptQueue: Pick<AcceptQueue, 'serve'>
  /** Bounds the statements that wait for locked accounts. */
  readonly lockWaits: Pick<LockWaits, 'run'>
  readonly checkQueue: Pick<CheckQueue, 'serve'>
  readonly isValidKey: AuthorizationLookup['isValidKey']
  readonly isAuthorized: AuthorizationLookup['isAuthorized']
  readonly findCredentials: FindCredentials
  /** Of the router that may ask whose a credential is; empty: none may. */
  readonly routerToken: string
  /** Captures of an account, pool and lane that are admitted and have not begun, on a plan of weight 1. */
  readonly windowCaptures: number
  /** The public key to which secrets of webhooks are sealed, for the sender. */
  readonly webhooksKey: SealingKey
  readonly idempotencyStore: IdempotencyStore
  readonly clients: Clients
  readonly bodies: Pick<Bodies, 'read'>
  readonly keyGuesses: KeyGuesses
  readonly accountKeys: AccountKeys
  readonly members: AccountMembers
  readonly activity: Pick<ActivityRecorder, 'record'>
  readonly sessions: Sessions
  readonly showConsole: ShowConsole
  /** Undefined: people sign in with links alone. */
  readonly oidc: OidcSignIn | undefined
  readonly signInFailures: Pick<SignInFailures, 'note'>
  readonly objects: ObjectStore
  /** Bytes of images that are in memory until they are sent to clients. */
  readonly bufferedImages: BufferedBytes
  readonly publisher: Pick<Publisher, 'publish' | 'wakeRelay'>
  readonly waiters: Pick<Waiters, 'begin' | 'watch' | 'isStopping'>
  /** Limits status requests that wait for the end of a capture. */
  readonly waitLimit: ConcurrencyLimit
  readonly streamLimit: ConcurrencyLimit
  /** Longest time that an event stream stays open. */
  readonly streamMs: number
  readonly loadProgress: BatchedLoader<Progress>
  readonly accountChanges: AccountChanges
  readonly events: Events
  readonly links: Links
  readonly linkVerifier: Pick<LinkVerifier, 'admit' | 'confirm'>
  readonly linkAttempts: Pick<LinkAttempts, 'accept'>
  /** Link secrets of keys. */
  readonly linkSecrets: LinkSecrets
  /** The OpenAPI document and its HTML page. */
  readonly reference: Reference
  readonly allowTargets: readonly AllowTarget[]
  /** The installation's lists of targets. */
  readonly targetLists: TargetLists
  readonly accountTargets: TargetsCache
  readonly targetStore: TargetStore
  /** The public key to which the captures of each pool are sealed. */
  readonly sealingKeys: Readonly<Record<Pool, SealingKey>>
  readonly records: RecordSeal
  /** Whether the installation serves captures with `stealth`. */
  readonly hasStealth: boolean
  /** Whether the tools for models are served at `/mcp`. */
  readonly hasMcp: boolean
  readonly longestWaitSeconds: number
  /** How long a synchronous capture may wait for a worker, in addition to its budget. */
  readonly queueAllowanceMs: number
  /** Base URL for clients; unless configured, available only once the gateway listens. */
  readonly publicUrl: () => string
  readonly isStopping: () => boolean
  /** Whether maintenance was on when it was last read. */
  readonly inMaintenance: () => boolean
  /** Whether maintenance is on: no captures are accepted. */
  readonly checkMaintenance: MaintenanceWatch['check']
  readonly rest: Pick<Rest, 'markBusy'>
  readonly now: () => Date
}

/** The context of the operations, and what only the main function and the administration use. */
export type Gateway = Context &
  AsyncDisposable & {
    readonly publisher: Publisher
    readonly waiters: Waiters
    readonly database: Database
    readonly files: FilesStore | undefined
    readonly pepper: Awaited<ReturnType<typeof watchPepper>>
    readonly metrics: Metrics
    readonly health: () => Health
    readonly fleet: Pick<FleetWatch, 'services' | 'workers'>
    /** Version of the NATS server that this gateway is connected to; undefined if it is not known. */
    readonly natsVersion: () => string | undefined
  }

/** Interval at which maintenance mode is read. */
const maintenanceReadMs = 1000
const pepperCheckMs = 1000
/** Minimum between two reads of the progress of captures that event streams report. */
const progressReadGapMs = 1000

const nowMs = () => performance.now()

const publisherOf = (database: Database, queue: Queue, events: Events): Publisher =>
  createPublisher({
    publishCapture: (capture) => publishCapture(queue, capture),
    deleteOutbox: (ids) => deleteOutbox(database, ids),
    wakePool: (pool) => queue.publish(poolWakeupSubject(pool), new Uint8Array()),
    wakeRelay: () => queue.publish(relayWakeupSubject, new Uint8Array()),
    events,
  })

type Watched = Pick<Gateway, 'database' | 'objects' | 'events' | 'publisher'> & { readonly queue: Queue }

/** Begins what is repeated less often at rest. The services that work for requests wake with the first one. */
const restWith = (
  stack: AsyncDisposableStack,
  rest: Rest,
  { database, queue, objects, events, publisher }: Watched,
) => {
  stack.use(rest.subscribe({ notify: publisher.wakeRelay }))
  const maintenance = stack.use(
    followMaintenance(() => readMaintenance(database), { everyMs: maintenanceReadMs, rest }),
  )
  const probes = {
    postgresql: database.probe,
    nats: () => probeStream(queue, capturesStream.name),
    object_store: () => probeStore(objects),
  }
  const stores = stack.use(createStoreWatch(events, probes, { rest }))
  stores.start()
  return { rest, stores, inMaintenance: maintenance.isOn, checkMaintenance: maintenance.check }
}

/** The settings that operations read. */
const boundsOf = ({
  windowCaptures,
  sealingKeyStealth,
  hasMcp,
  allowTargets,
  onlyTargets: allow,
  denyTargets: deny,
  longestWaitSeconds,
  queueAllowanceMs,
}: Config) => ({
  windowCaptures,
  hasStealth: sealingKeyStealth !== '',
  hasMcp,
  allowTargets,
  targetLists: { allow, deny },
  longestWaitSeconds,
  queueAllowanceMs,
})

const oidcOf = (config: Config): OidcSignIn | undefined => {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcScopes: scopes } = config
  if (issuer === '') return undefined
  const operators = {
    claim: config.oidcOperatorClaim,
    values: config.oidcOperatorValues,
    readOnlyValues: config.oidcReadOnlyOperatorValues,
  }
  const provider = new OidcProvider({ issuer, clientId, clientSecret, scopes, operators, nowMs })
  return { provider, issuer, name: config.oidcName, bindsByEmail: config.oidcIdentity === 'email' }
}

/** What accounts change themselves, and what the console adds. */
const consoleOf = (database: Database, queue: Queue, config: Config, { signInFailureLost: failed }: Events) => ({
  signInFailures: new SignInFailures({ database, failed }, () => performance.now()),
  natsVersion: () => queue.connection.info?.version,
  accountKeys: accountKeysIn(database, config.keyPepper),
  members: accountMembersIn(database, config.keyPepper),
  targetStore: targetStoreIn(database),
  accountTargets: new TargetsCache(),
  sessions: createSessions(config),
  oidc: oidcOf(config),
})

/** What status requests that wait and event streams use. */
const liveOf = (database: Database, config: Config) => {
  const bounds = { max: config.liveMax, accountMax: config.liveAccountMax }
  return {
    waitLimit: createConcurrencyLimit(bounds),
    streamLimit: createConcurrencyLimit(bounds),
    streamMs: config.streamSeconds * 1000,
    loadProgress: createBatchedLoader((ids: readonly string[]) => findProgress(database, ids), progressReadGapMs),
    accountChanges: accountChangesIn(database),
  }
}

const linksOf = (database: Database, config: Config) => {
  const perMinute = config.keyFailuresPerMinute
  const linkSecrets = linkSecretsIn(database, config.keyPepper)
  return {
    links: createLinks(config),
    linkSecrets,
    linkAttempts: new LinkAttempts(nowMs),
    linkVerifier: new LinkVerifier({
      derive: linkSecrets.derive,
      findKey: createLinkKeyLookup(database),
      limit: createClientLimit({ burst: perMinute, perMinute, nowMs }),
    }),
  }
}

/** Load balancers read the readiness of the public port instead: what all replicas share takes none of them out of service. */
const readHealth = ({ stores, clients }: { stores: StoreWatch; clients: Clients }, stop: AbortSignal): Health => {
  const ignored = clients.ignoredProxy()
  return {
    live: true,
    ready: stores.areUp() && !stop.aborted,
    detail: { ...stores.detail(), ...(ignored !== undefined && { clients: proxyAdvice(ignored) }) },
  }
}

type Lifecycle = {
  readonly stop: AbortSignal
  readonly rest: Rest
  /** Whether spans are sent: then metrics have exemplars. */
  readonly hasTraces?: boolean
  readonly listeningUrl: () => string
  /** The operations that the reference describes. */
  readonly operations: readonly Contract[]
}

const reachable = { openStore, openConfiguredDatabase, connectQueue }

/** Opens database and object store; requests to them are counted. */
const openStores = async (stack: AsyncDisposableStack, config: Config, events: Events, by: typeof reachable) => {
  const { files, objects } = await by.openStore(config, events.identityReports('object_store'))
  const database = stack.use(by.openConfiguredDatabase(config, events.identityReports('postgresql')))
  return {
    files,
    objects: measureCalls(objects, ['get', 'put', 'delete'], events.storeRequested('object_store')),
    database: measureCalls(database, ['query', 'transaction', 'entities'], events.storeRequested('postgresql')),
  }
}

const openQueue = (config: Config, events: Events, by: typeof reachable) =>
  by.connectQueue({
    url: config.natsUrl,
    identity: config,
    identityReports: events.identityReports('nats'),
    name: 'gateway',
    inboxPrefix: userInboxPrefix('gateway'),
    notice: events.queueNotice,
    requested: events.storeRequested('nats'),
  })

/** Opens the gateway's connections, each by the function in `by`. Throws `CONFIGURATION` or `SERVICE_UNAVAILABLE`, naming the cause. */
export const openContext = async (config: Config, lifecycle: Lifecycle, by = reachable): Promise<Gateway> => {
  await using stack = new AsyncDisposableStack()
  const metrics = createMetrics('gateway', {}, { withExemplars: lifecycle.hasTraces })
  const events = createEvents(createLogger({ service: 'gateway', level: config.logLevel }), metrics)
  stack.use(reportClientCertificates(config, events))
  const sealingKeys = {
    standard: readSealingKey(config.sealingKeyStandard),
    proxied: readSealingKey(config.sealingKeyProxied),
    // Without stealth workers, a random key seals captures only to check requests that are then rejected.
    stealth: readSealingKey(config.sealingKeyStealth || generateSealingKeys().public),
  }
  const { files, objects, database } = await openStores(stack, config, events, by)
  const replica = openReplica(stack, config, database, { events, open: by.openConfiguredDatabase })
  const confirm = () => confirmKeys(database, config)
  const pepper = await watchPepper(confirm, { everyMs: pepperCheckMs, stop: lifecycle.stop })
  const queue = stack.use(await openQueue(config, events, by))
  const publisher = stack.use(publisherOf(database, queue, events))
  stack.use(signImages({ queue, database, objects, events }))
  const fleet = stack.use(new FleetWatch(queue, nowMs))
  const { waitersMax } = config
  const activity = await openRecorder(stack, { database, config, events })
  const publicUrl = () => config.publicUrl ?? lifecycle.listeningUrl()
  const authorizations = createAuthorizationLookup(database)
  const clients = createClients({ trustedProxies: config.trustedProxies, ignored: events.proxyIgnored })
  const bufferedImages = createBufferedBytes(bufferedBytesMax)
  const reader = { objects, bufferedImages }
  const waiters = createWaiters({ queue, readSmall: (key) => readSmall(reader, key), bufferedImages, waitersMax })
  const { stores, ...resting } = restWith(stack, lifecycle.rest, { database, queue, objects, events, publisher })
  const owned = stack.move()
  return {
    hashKey: createKeyHash(config.keyPepper),
    refusals: createRefusalCache(nowMs),
    ...createRequestQueues(database, { windowSize: config.windowCaptures, poolMax: config.databasePoolMax }),
    ...authorizations,
    findCredentials: createCredentialLookup(database),
    routerToken: config.routerToken,
    webhooksKey: readSealingKey(config.sealingKeyWebhooks),
    clients,
    bodies: new Bodies(events),
    keyGuesses: createKeyGuesses({ perMinute: config.keyFailuresPerMinute, nowMs, isValid: authorizations.isValidKey }),
    ...consoleOf(database, queue, config, events),
    showConsole: createConsole(config.consoleFolder, publicUrl),
    activity,
    idempotencyStore: idempotencyStoreIn(database, config.keyPepper),
    objects,
    bufferedImages,
    database,
    replica,
    files,
    fleet,
    pepper,
    publisher,
    waiters,
    ...liveOf(database, config),
    events,
    metrics,
    ...linksOf(database, config),
    reference: createReference(() => openResponses(openapiDocument(lifecycle.operations, publicUrl()))),
    sealingKeys,
    records: createRecordSeal(config.recordKeys),
    ...boundsOf(config),
    publicUrl,
    isStopping: () => lifecycle.stop.aborted,
    ...resting,
    now: () => new Date(),
    health: () => readHealth({ stores, clients }, lifecycle.stop),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
