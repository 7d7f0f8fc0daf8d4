import { acceptCapture, type AcceptOutcome, type AcceptRequest } from '#gateway/db/accept-capture.ts'
import { LockWaits } from '#gateway/db/lock-waits.ts'
import { RequestQueue } from '#gateway/db/request-queue.ts'
import { createRequestQueues } from '#gateway/db/request-queues.ts'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Rest } from '#shared/process/rest.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Caller, Refusal } from '#shared/db/check-request.ts'
import { scopes } from '#shared/policy/scopes.ts'
import type { Activity } from '#gateway/db/activity.ts'
import type { Account } from '#gateway/records/account.ts'
import type { ApiKeyRecord } from '#gateway/records/key.ts'
import type { MemberRecord } from '#gateway/records/member.ts'
import type { StoredCapture } from '#shared/db/find-capture.ts'
import type { OpeningKey } from '#shared/queue/seal.ts'
import { createFakeDatabase, type DatabaseAnswers, type DatabaseCalls } from '#test/helpers/fake-database.ts'
import { TargetsCache } from '#gateway/db/targets-cache.ts'
import { noLists } from '#shared/policy/target-lists.ts'
import { sealTestDetails, testRecords } from '#test/helpers/record-seal.ts'
import { openingKeysOf, poolKeys, sealingKeysOf } from '#test/helpers/pool-keys.ts'
import { namedKey } from '#test/helpers/named-key.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { bufferedBytesMax, createBufferedBytes } from '#gateway/images/read-image.ts'
import type { Context } from '#gateway/context/context.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { createEvents } from '#gateway/telemetry/events.ts'
import { Bodies } from '#gateway/http/bodies.ts'
import { LinkAttempts } from '#gateway/links/link-attempts.ts'
import { createClients } from '#gateway/http/identification/clients.ts'
import { createKeyGuesses } from '#gateway/http/identification/key-guesses.ts'
import { createSessions } from '#gateway/http/identification/sessions.ts'
import { createConsole } from '#gateway/console/console.ts'
import { createLinks } from '#gateway/links/links.ts'
import { createConcurrencyLimit } from '#gateway/limits/concurrency-limit.ts'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { createReference } from '#gateway/openapi/reference.ts'
import { routes } from '#gateway/routes.ts'

/** A well-formed API key. */
export const testKey = `sk_live_${'a1B2'.repeat(10)}`

/** The account that `testKey` belongs to. */
export const testCaller: Caller = {
  accountId: '11111111-1111-4111-8111-111111111111',
  plan: 'pro',
  rate: { limit: 40, remaining: 39, resetUnix: 1_800_000_000 },
  usage: {
    used: 1,
    limit: 100,
    remaining: 99,
    periodStart: '2026-12-01T00:00:00.000000Z',
    resetAt: '2027-01-01T00:00:00.000000Z',
    overage: 0,
    overagePrice: '0.006',
  },
}

export const testAccount: Account = {
  id: testCaller.accountId,
  name: 'Test',
  email: 't@example.com',
  plan: {
    name: 'Pro',
    slug: testCaller.plan,
    screenshots_per_month: 100,
    rate_limit_per_minute: 40,
    retention_hours: 1.5,
    features: ['retina', 'pdf'],
    overage_price: '0.006',
    max_api_keys: 5,
    price_monthly: '29.90',
    price_yearly: '299.00',
    currency: 'USD',
  },
  subscription: null,
}

const testApiKey: ApiKeyRecord = {
  id: '33333333-3333-4333-8333-333333333333',
  name: '',
  prefix: testKey.slice(0, 12),
  domains: [],
  scopes,
  expires_at: null,
  created_at: '2026-01-01T00:00:00.000001Z',
  last_used_at: null,
}

const testMember: MemberRecord = {
  id: '44444444-4444-4444-8444-444444444444',
  email: 'ada@example.com',
  role: 'member',
  subject: null,
  created_at: '2026-01-01T00:00:00.000001Z',
  last_sign_in_at: null,
}

/** The image of `completedCapture`. */
export const testImage = Buffer.from('0123456789 not really an image')

const notStarted = {
  startedAt: null,
  completedAt: null,
  expiresAt: null,
  objectKey: null,
  fileSize: null,
  sha256: null,
  mimeType: null,
  width: null,
  height: null,
  processingTimeMs: null,
  targetStatus: null,
  sealedResult: null,
  timings: null,
  files: null,
  error: null,
  upload: null,
}

/** A capture before its first attempt. */
export const pendingCapture: StoredCapture = {
  id: '22222222-2222-4222-8222-222222222222',
  accountId: testCaller.accountId,
  status: 'pending',
  url: 'https://example.com/',
  options: { width: 1280, height: 800, format: 'png' },
  cached: false,
  batchId: null,
  createdAt: '2026-01-01T00:00:00.000001Z',
  ...notStarted,
}

/** A capture whose image is `testImage`. */
export const completedCapture: StoredCapture = {
  ...pendingCapture,
  status: 'completed',
  startedAt: '2026-01-01T00:00:01.000000Z',
  completedAt: '2026-01-01T00:00:02.000000Z',
  expiresAt: '2999-01-01T00:00:00.000000Z',
  objectKey: `captures/2026-01-01T00/${pendingCapture.id}/${'0'.repeat(32)}`,
  fileSize: testImage.length,
  sha256: createHash('sha256').update(testImage).digest('hex'),
  mimeType: 'image/png',
  width: 1280,
  height: 800,
  processingTimeMs: 1000,
  targetStatus: 200,
  sealedResult: sealTestDetails(pendingCapture.id, { finalUrl: 'https://user:secret@example.com/end', warnings: [] }),
  timings: { total: 1000 },
}

/** A context that records calls in `calls` and returns what `answers` defines. Tests change the answers. */
export type TestContext = Context & {
  readonly calls: DatabaseCalls & { published: string[]; relayWakeups: number; activities: Activity[] }
  readonly answers: DatabaseAnswers & {
    refused: () => Refusal | undefined
    validKey: () => boolean
    object: (key: string) => Buffer | undefined
    maintenance: boolean
    waiter: ReturnType<Context['waiters']['begin']>
  }
  /** Private keys for secrets sealed to the workers of a pool. */
  readonly openingKeys: Readonly<Record<keyof Context['sealingKeys'], OpeningKey>>
}

const accepted = () => ({ ok: true, caller: testCaller, createdAt: pendingCapture.createdAt, admitted: true }) as const
const linkSettings = {
  linkSigningKeys: [namedKey('test', 2)],
  linkRequestsBurst: 100,
  linkRequestsPerMinute: 100,
}
const settings = {
  hasStealth: false,
  hasMcp: false,
  longestWaitSeconds: 86_400,
  queueAllowanceMs: 30_000,
  streamMs: 60_000,
  windowCaptures: 16,
}
const assertTestKey = (id: string): undefined => {
  if (id !== testApiKey.id) throw new AppError('NOT_FOUND')
}

/** What a view of a link reads before its first capture. */
const unseenLink = {
  ...{ nonce: Buffer.alloc(32), previousNonce: null, keyHash: Buffer.alloc(32), accountId: testCaller.accountId },
  ...{ hasFeature: true, allowsHost: true, isRestricted: false, attemptKey: 'link:', runningId: null },
  ...{ imageId: null, currentSeconds: null, failedId: null },
}

/** The link secret of every key. */
const testLinkSecret = `lsk_${'a'.repeat(43)}`
const watcher = { waitForChange: async () => false, wake: () => {}, [Symbol.dispose]: () => {} }
const fewPlaces = { max: 10, accountMax: 10 }

/** An object store that contains the test's objects. */
const fakeObjects = (answers: TestContext['answers']): Context['objects'] => ({
  signPut: async (key, seconds) => `https://store.example/${key}?seconds=${seconds}`,
  get: async (key, range) => {
    const bytes = answers.object(key)
    if (!bytes) return undefined
    const part = range ? bytes.subarray(range.first, range.last + 1) : bytes
    return { body: Readable.from([part]), bytes: part.length }
  },
  put: async () => {},
  delete: async () => [],
  list: async function* list() {},
})

/** Keys of which one exists, and a console that is not built. */
const fakeConsole = (): Pick<
  Context,
  'accountKeys' | 'members' | 'sessions' | 'showConsole' | 'oidc' | 'signInFailures'
> => ({
  members: {
    list: async () => [],
    add: async () => testMember,
    setRole: async () => testMember,
    remove: async () => {},
    createLink: async () => ({ token: 'x', expiresAt: new Date(0) }),
  },
  oidc: undefined,
  signInFailures: { note: async () => {} },
  accountKeys: {
    list: async () => [],
    issuerOf: async () => ({ actor: 'system', scopes }),
    create: async (_accountId, { name }) => ({ ...testApiKey, name, key: testKey }),
    revoke: async (_accountId, id) => assertTestKey(id),
  },
  sessions: createSessions({
    sessionSeconds: 43_200,
    consoleOperators: true,
    sessionIdleSeconds: 3600,
    sessionRequestsPerMinute: 600,
  }),
  showConsole: createConsole('/nonexistent', () => 'https://shots.example'),
})

/** Links of which every one is signed, and the link secret of one key. */
const fakeLinks = (): Pick<Context, 'links' | 'linkVerifier' | 'linkAttempts' | 'linkSecrets'> => ({
  links: createLinks(linkSettings),
  linkVerifier: { admit: async () => {}, confirm: (_link, state) => orNotFound(state) },
  linkAttempts: new LinkAttempts(() => 0),
  linkSecrets: {
    derive: () => testLinkSecret,
    secretOf: async ({ keyId }) => assertTestKey(keyId) ?? testLinkSecret,
    rotate: async ({ keyId }) => {
      assertTestKey(keyId)
      return { secret: testLinkSecret, createdAt: new Date(0), previousExpiresAt: null }
    },
  },
})

/** An account and an installation without lists of targets. */
const fakeTargets = (): Pick<Context, 'targetLists' | 'accountTargets' | 'targetStore'> => ({
  targetLists: noLists,
  accountTargets: new TargetsCache(),
  targetStore: {
    read: async () => ({ allow: [], deny: [] }),
    replace: async (_accountId, texts) => ({ allow: [], deny: [], ...texts }),
  },
})

/** Places for a few waits and streams, which find nothing. */
const fakeLive = (): Pick<Context, 'bodies' | 'waitLimit' | 'streamLimit' | 'loadProgress' | 'accountChanges'> => ({
  bodies: new Bodies({ bodyRefused: () => {}, bodyBytes: () => {} }),
  waitLimit: createConcurrencyLimit(fewPlaces),
  streamLimit: createConcurrencyLimit(fewPlaces),
  loadProgress: async () => undefined,
  accountChanges: { loadMark: async () => undefined, loadRecent: async () => undefined },
})

const fakeRest = (answers: TestContext['answers']): Pick<Context, 'inMaintenance' | 'checkMaintenance' | 'rest'> => ({
  inMaintenance: () => answers.maintenance,
  checkMaintenance: async () => answers.maintenance,
  rest: new Rest(),
})

/** The gateway's queues; captures are accepted by a statement for each. */
const testQueues = (
  database: TestContext['database'],
): Pick<TestContext, 'acceptQueue' | 'checkQueue' | 'lockWaits'> => ({
  ...createRequestQueues(database, { windowSize: settings.windowCaptures, poolMax: 10 }),
  acceptQueue: new RequestQueue<AcceptRequest, AcceptOutcome>(
    (requests) =>
      Promise.all(
        requests.map(({ capture, counted }) =>
          acceptCapture(database, capture, { windowSize: settings.windowCaptures, counted }),
        ),
      ),
    { lockWaits: new LockWaits(10), identityOf: ({ capture }) => capture },
  ),
})

/** Every idempotency key is new. */
const unusedKeys: Context['idempotencyStore'] = {
  claim: async () => ({ outcome: 'claimed', claimedAt: '2026-06-01 12:34:56+00' }),
  save: async () => {},
  release: async () => {},
}

/** A context of hand-written doubles that accepts every request unless the test changes an answer. */
export const createTestContext = (): TestContext => {
  const keys = poolKeys()
  const none = { accepted: [], tried: [], batches: [], checks: 0 }
  const calls: TestContext['calls'] = { ...none, published: [], relayWakeups: 0, activities: [] }
  const answers: TestContext['answers'] = {
    accept: accepted,
    acceptBatch: ({ members }) => ({ ...accepted(), admittedIds: members.map(({ id }) => id) }),
    check: () => ({ ok: true, caller: testCaller }),
    refused: () => undefined,
    validKey: () => true,
    find: (id) => (id === completedCapture.id ? completedCapture : undefined),
    list: () => [],
    account: () => testAccount,
    findBatch: () => undefined,
    deliveries: () => [],
    signs: true,
    rendering: unseenLink,
    object: (key) => (key === completedCapture.objectKey ? testImage : undefined),
    maintenance: false,
    waiter: {
      waitForChange: async () => {},
      wake: () => {},
      prefetch: () => undefined,
      takeSlot: () => true,
      [Symbol.dispose]: () => {},
    },
  }
  const database = createFakeDatabase(calls, answers, testCaller)
  return {
    calls,
    answers,
    openingKeys: openingKeysOf(keys),
    database,
    replica: { isUsed: () => false, asOf: () => database },
    hashKey: (key) => createHash('sha256').update(key).digest(),
    refusals: { find: () => answers.refused(), queryAndCache: (_request, query) => query() },
    ...testQueues(database),
    isValidKey: async () => answers.validKey(),
    isAuthorized: async () => answers.validKey(),
    findCredentials: async () => [],
    routerToken: '',
    webhooksKey: sealingKeysOf(keys).standard,
    clients: createClients({ trustedProxies: [], ignored: () => {} }),
    keyGuesses: createKeyGuesses({ perMinute: 1000, nowMs: () => 0, isValid: async () => true }),
    ...fakeConsole(),
    activity: { record: (activity) => void calls.activities.push(activity) },
    idempotencyStore: unusedKeys,
    objects: fakeObjects(answers),
    bufferedImages: createBufferedBytes(bufferedBytesMax),
    publisher: {
      publish: ({ id }) => calls.published.push(id),
      wakeRelay: () => void (calls.relayWakeups += 1),
    },
    waiters: { begin: () => answers.waiter, watch: () => watcher, isStopping: () => false },
    ...fakeLive(),
    events: createEvents(createLogger({ service: 'test', level: 'silent' }), createMetrics('test')),
    ...fakeLinks(),
    reference: createReference(() => openapiDocument(routes, 'https://shots.example')),
    allowTargets: [],
    ...fakeTargets(),
    sealingKeys: sealingKeysOf(keys),
    records: testRecords,
    ...settings,
    publicUrl: () => 'https://shots.example',
    isStopping: () => false,
    ...fakeRest(answers),
    now: () => new Date('2026-06-01T12:34:56Z'),
  }
}
