import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { readVersion } from '#local/find-programs.ts'
import { readGreeting } from '#local/nats.ts'
import { checkConnectionLimit } from '#shared/db/connection-limit.ts'
import { openDatabase } from '#shared/db/connection.ts'
import type { PasswordSource } from '#shared/db/password.ts'
import type { QueueIdentity } from '#shared/queue/identity.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { probeStream } from '#shared/queue/stored.ts'
import { readStreams } from '#shared/queue/streams.ts'
import { maxMessageBytes } from '#shared/queue/topology.ts'
import { createFilesStore } from '#shared/storage/files-store.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { type KeySettings, keysOfAddress, openKeys } from '#shared/storage/open-keys.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { createS3Store } from '#shared/storage/s3-store.ts'
import type { Check } from './check.ts'

const answerMs = 10_000

/** External dependencies: addresses if they run, else the programs that `up` would start. */
export type Dependencies = {
  readonly databaseUrl: string | undefined
  readonly password?: PasswordSource | undefined
  /** Most connections of all processes together; 0: not known. */
  readonly databaseConnections?: number
  readonly postgresBin: string | undefined
  readonly natsUrl: string | undefined
  readonly queueIdentity?: QueueIdentity
  readonly natsServer: string | undefined
  /** A `file:` or S3 URL; undefined before the first start. */
  readonly objectStore: string | undefined
  readonly storeKeys?: KeySettings
}

const programVersion = async (program: string | undefined) => {
  if (program === undefined) throw new Error('not found, and no address of a running one is set')
  return `${await readVersion(program)}, not running`
}

const checkPostgres = async ({ databaseUrl: url, password, databaseConnections = 0, postgresBin }: Dependencies) => {
  if (url === undefined) return programVersion(postgresBin && join(postgresBin, 'postgres'))
  await using database = openDatabase({ url, password, poolMax: 2 })
  const [row] = await database.query<{ version: string }>('select version() as version', [])
  await database.probe()
  const allowed = await checkConnectionLimit(database, databaseConnections)
  return `${row?.version.split(' ').slice(0, 2).join(' ')}, accepts writes, ${databaseConnections > 0 ? `${databaseConnections} of ` : ''}${allowed} connections`
}

type NatsInfo = { readonly version: string; readonly jetstream?: boolean; readonly max_payload: number }

const checkNats = async ({ natsUrl, queueIdentity, natsServer }: Dependencies) => {
  if (natsUrl === undefined) return programVersion(natsServer)
  const { hostname, port } = new URL(natsUrl)
  const host = hostname.replaceAll(/[[\]]/g, '')
  const greeting = await readGreeting({ host, port: Number(port || 4222) }, answerMs)
  const [, info = ''] = /^INFO (\{.*\})/.exec(greeting) ?? []
  const { version, jetstream, max_payload } = JSON.parse(info) as NatsInfo
  if (!jetstream) throw new Error(`nats-server ${version} without JetStream`)
  if (max_payload < maxMessageBytes)
    throw new Error(`its max_payload is ${max_payload}, the largest captures need ${maxMessageBytes}`)
  await using queue = await connectQueue({
    url: natsUrl,
    identity: queueIdentity,
    identityReports: undefined,
    name: 'doctor',
    inboxPrefix: '_INBOX_doctor',
    notice: () => {},
  })
  for (const { name } of await readStreams(queue)) await probeStream(queue, name)
  return `nats-server ${version}, accepts writes`
}

const filesIn = (folder: string): ObjectStore =>
  createFilesStore({ folder, filesUrl: 'http://127.0.0.1', signingKey: randomUUID(), now: () => new Date() })

const tryStore = async (store: ObjectStore) => {
  const key = newObjectKey(randomUUID(), new Date())
  const bytes = Buffer.from('an object of the doctor')
  await store.put(key, bytes, 'text/plain')
  const found = await store.get(key)
  const same = found !== undefined && bytes.equals(await buffer(found.body))
  await store.delete([key])
  if (!same) throw new Error('an object that was read differs from what was written')
  const left = await store.get(key)
  left?.body.destroy()
  if (left) throw new Error('a deleted object still exists')
}

const openS3 = (url: string, settings = keysOfAddress) =>
  createS3Store(url, (region, inAddress) => openKeys(settings, region, inAddress))

const checkStore = async ({ objectStore, storeKeys }: Dependencies) => {
  if (objectStore === undefined) {
    const folder = await mkdtemp(join(tmpdir(), 'doctor-'))
    await tryStore(filesIn(folder)).finally(() => rm(folder, { recursive: true, force: true }))
    return 'files: put, get and delete work'
  }
  const isFiles = objectStore.startsWith('file:')
  await tryStore(isFiles ? filesIn(fileURLToPath(objectStore)) : openS3(objectStore, storeKeys))
  return `${isFiles ? 'files' : 'S3'}: put, get and delete work`
}

/** Checks of PostgreSQL, NATS and the object store. */
export const dependencyChecks = (facts: Dependencies): Check[] => [
  {
    name: 'postgresql',
    advice: "check <data>/logs/postgres.log and the address, or run 'make setup' if there is no server",
    run: () => checkPostgres(facts),
  },
  {
    name: 'nats',
    advice: "check <data>/logs/nats.log and the address, or run 'make setup' if there is no server",
    run: () => checkNats(facts),
  },
  {
    name: 'object store',
    advice:
      'check permissions and free space of the folder, or address and bucket in SHUTTERFLEET_S3_URL and keys (docs/identities.md)',
    run: () => checkStore(facts),
  },
]
