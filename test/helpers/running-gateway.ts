import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Pool } from '#shared/capture/lane.ts'
import type { Database } from '#shared/db/connection.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { openingKeysOf, poolKeys } from '#test/helpers/pool-keys.ts'
import { generateSealingKeys, type OpeningKey } from '#shared/queue/seal.ts'
import { declareStreams } from '#shared/queue/streams.ts'
import { startNats, type TestNats } from './nats.ts'
import { nodeEnv } from './node-env.ts'
import { startAnnounced } from './announced-process.ts'
import { startEmptyCell, startRouter, testPepper, testRouterToken } from './running-router.ts'
import { testProgramPath } from './test-program-path.ts'
import { testRecordKey } from './record-seal.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'
import { serviceUrl } from './service-database.ts'
import { validateResponses } from './validate-responses.ts'
import { freePort } from './free-port.ts'

/** The gateway's pepper for hashing keys, in the format of its setting. */
export { testPepper }

const program = testProgramPath('gateway/main')
const skewedClock = resolve(import.meta.dirname, '../fixtures/skewed-clock.ts')

/** One gateway process. */
export type GatewayProcess = {
  readonly pid: number
  readonly baseUrl: string
  /** Pairs of operation and status of its responses to `fetch`, each of which is validated against the document. */
  readonly seenPairs: ReadonlySet<string>
  readonly probeUrl: string
  /** Empty if the settings contain no token. */
  readonly adminUrl: string
  /** Requests the process to stop. */
  readonly stop: () => void
  /** Exit code. */
  readonly ended: Promise<number | null>
}

/** A gateway process with PostgreSQL, NATS and a folder of images. */
export type RunningGateway = GatewayProcess & {
  /** Starts another gateway on the same services, with a wall clock `skewMs` ahead and other settings; stopped at the test's end. */
  readonly startReplica: (skewMs?: number, changed?: Readonly<Record<string, string>>) => Promise<GatewayProcess>
  readonly database: Database & { readonly url: string }
  readonly postgres: TestPostgres
  readonly nats: TestNats
  /** Another service's connection to NATS. */
  readonly queue: Queue
  /** Private keys for secrets sealed to the workers of each pool. */
  readonly openingKeys: Readonly<Record<Pool, OpeningKey>>
  /** Private key for webhook secrets, in the format of the sender's setting. */
  readonly webhookOpeningKey: string
}

type WithTeardown = { teardown: (clean: () => Promise<void>) => void }

/** The standard OTEL_ variables have no prefix. */
const nameOf = (setting: string) => (setting.startsWith('OTEL_') ? setting : `SHUTTERFLEET_${setting}`)

/** A router that has the gateway as one of its cells; returns its base URL. */
const routerBefore = async (t: WithTeardown, url: string, env: Readonly<Record<string, string>>): Promise<string> => {
  const cells = { one: url, two: await startEmptyCell(t) }
  return (await startRouter(t, cells, env['PUBLIC_URL'] ?? url)).baseUrl
}

const spawnGateway = async (
  t: WithTeardown,
  env: Readonly<Record<string, string>>,
  { log = 'inherit', skewMs = 0 }: { readonly log?: number | 'inherit'; readonly skewMs?: number } = {},
): Promise<GatewayProcess> => {
  const { addresses, ...started } = await startAnnounced(
    t,
    [...(skewMs === 0 ? [] : ['--import', skewedClock]), program],
    {
      log,
      env: {
        ...nodeEnv,
        SKEW_MS: String(skewMs),
        ...Object.fromEntries(Object.entries(env).map(([name, value]) => [nameOf(name), value])),
      },
    },
  )
  const { baseUrl: ownUrl = '', probeUrl = '', adminUrl = '' } = addresses
  const baseUrl = process.env['TEST_ROUTER'] === undefined ? ownUrl : await routerBefore(t, ownUrl, env)
  const { coveredResponses: seenPairs } = validateResponses(t, baseUrl)
  return { ...started, baseUrl, seenPairs, probeUrl, adminUrl }
}

/**
 * Starts a gateway with its dependencies; all stop at the test's end. `settings` are added to the defaults, without
 * prefix; a given server is used, with a new database. The gateway's log goes to `log`, a file
 * descriptor, if given.
 */
export const startGateway = async (
  t: WithTeardown,
  settings: Readonly<Record<string, string>> = {},
  server?: TestPostgres,
  log: number | 'inherit' = 'inherit',
): Promise<RunningGateway> => {
  const [postgres, nats, objectsPort] = await Promise.all([server ?? startPostgres(t), startNats(t), freePort()])
  const database = await postgres.createDatabase()
  const queue = await connectQueue({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test', notice: () => {} })
  await declareStreams(queue)
  const folder = await mkdtemp(join(tmpdir(), 'gateway-'))
  const keys = poolKeys()
  const webhookKeys = generateSealingKeys()
  const env: Readonly<Record<string, string>> = {
    LOG_LEVEL: 'error',
    DATABASE_URL: await serviceUrl(database, 'gateway'),
    NATS_URL: nats.url,
    STORAGE_DRIVER: 'files',
    STORAGE_FOLDER: folder,
    STORAGE_FILES_URL: `http://127.0.0.1:${objectsPort}`,
    STORAGE_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
    KEY_PEPPER: testPepper,
    RECORD_KEYS: testRecordKey,
    LINK_SIGNING_KEYS: `test:${Buffer.alloc(32, 2).toString('base64')}`,
    GATEWAY_PORT: '0',
    GATEWAY_OBJECTS_PORT: String(objectsPort),
    SEALING_KEY_STANDARD: keys.standard.public,
    SEALING_KEY_PROXIED: keys.proxied.public,
    SEALING_KEY_STEALTH: keys.stealth.public,
    SEALING_KEY_WEBHOOKS: webhookKeys.public,
    ROUTER_TOKEN: testRouterToken,
    ...settings,
  }
  t.teardown(async () => {
    await queue[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  const first = await spawnGateway(t, env, { log })
  return {
    ...first,
    startReplica: (skewMs = 0, changed = {}) =>
      spawnGateway(t, { ...env, GATEWAY_PORT: '0', GATEWAY_OBJECTS_PORT: '0', ...changed }, { skewMs }),
    database,
    postgres,
    nats,
    queue,
    webhookOpeningKey: webhookKeys.private,
    openingKeys: openingKeysOf(keys),
  }
}
