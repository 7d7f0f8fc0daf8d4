import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { Client } from 'minio'
import { changeCaptures } from '#shared/db/change-captures.ts'
import type { Database } from '#shared/db/connection.ts'
import { findCaptures } from '#shared/db/find-capture.ts'
import { toRecord } from '#shared/db/record.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { createS3Store, readS3Url } from '#shared/storage/s3-store.ts'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { createDestination, type DestinationFields } from '#gateway/db/upload-destinations.ts'
import type { UploadDestination } from '#gateway/records/upload-destination.ts'
import { bucketUrl } from '#gateway/operations/uploads/destination-fields.ts'
import { eventually } from './eventually.ts'
import { startPostgres } from './postgres.ts'
import { startS3, type TestS3 } from './s3.ts'
import { createTenant } from './tenant.ts'
import { makeCertificate } from './webhook-receiver.ts'
import { hookNames, startReceiverFilter, type startSender, webhooksKey } from './webhook-sender.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

type WithTeardown = { teardown: (clean: () => Promise<void>) => void }
type Upload = {
  status: string
  bucket: string | null
  key: string | null
  attempts: number
  http_status: number | null
  error: string | null
}

/** One test's database, with a tenant whose plan has uploads. */
export type UploadWorld = AsyncDisposable & {
  readonly database: Database
  readonly objects: ObjectStore
  readonly accountId: string
  /** The caller's store; it is shared by the tests of a file. */
  readonly theirs: TestS3
  readonly on: Parameters<typeof startSender>[1]
  /** Creates the destination `archive`, or with other fields. */
  readonly addDestination: (fields?: Partial<DestinationFields>) => Promise<UploadDestination>
  /** Accepts a capture with the options and `upload_to`. Returns its id. */
  readonly accept: (options?: Readonly<Record<string, unknown>>) => Promise<string>
  /** Stores `bytes` and ends the capture with `uploadedImage`, as the ledger does. Returns the key of its object. */
  readonly complete: (id: string, bytes?: Buffer) => Promise<string>
  readonly uploadOf: (id: string) => Promise<Upload | undefined>
  /** Waits until the upload is not pending. */
  readonly ended: (id: string) => Promise<Upload | undefined>
  /** An object of the caller's bucket. */
  readonly read: (key: string) => Promise<{ readonly type: string; readonly body: Buffer }>
  /** Keys in the caller's bucket. */
  readonly keys: () => Promise<string[]>
}

/** The image of captures that `complete` ends. */
export const uploadedImage = Buffer.from('the bytes of an image')

/** Stores `bytes` and ends the capture with `uploadedImage`, as the ledger does. */
const completeWith =
  ({ database, objects }: Pick<UploadWorld, 'database' | 'objects'>): UploadWorld['complete'] =>
  async (id, bytes = uploadedImage) => {
    const objectKey = newObjectKey(id, new Date())
    await objects.put(objectKey, bytes, 'image/png')
    const end = {
      ...({ status: 'completed', objectKey, fileSize: uploadedImage.length, mimeType: 'image/png' } as const),
      sha256: createHash('sha256').update(uploadedImage).digest('hex'),
      ...{ width: 1, height: 1, processingTimeMs: 1, warnings: [], timings: {} },
    }
    await changeCaptures(database, [id], () => ({ change: { attempts: 1, unendedStarts: 0, begins: true, end } }))
    return objectKey
  }

/**
 * Starts PostgreSQL, a store of the installation, and a store of a caller over TLS, which the egress filter treats as the
 * internet, for one test file. Returns a factory of a database with a tenant for one test.
 */
export const startUploadWorld = async (t: WithTeardown) => {
  const server = await startPostgres(t)
  const certificate = await makeCertificate([...hookNames, 's3.amazonaws.com', '*.s3.amazonaws.com'])
  const [ours, theirs] = [await startS3(), await startS3(certificate)]
  t.teardown(async () => {
    await ours[Symbol.asyncDispose]()
    await theirs[Symbol.asyncDispose]()
    await certificate[Symbol.asyncDispose]()
  })
  const objects: ObjectStore = createS3Store(ours.url)
  const { bucket, keys, ...place } = readS3Url(theirs.url)
  const access = { ...place, ...keys! }
  const transportAgent = new Agent({ ca: await readFile(certificate.certPath) })
  const client = new Client({ ...access, pathStyle: true, transportAgent })

  return async (): Promise<UploadWorld> => {
    const database = await server.createDatabase()
    const filter = await startReceiverFilter(access)
    const tenant = await createTenant(database, { features: ['webhooks'] })
    const { accountId } = tenant
    const record = async (id: string) => {
      const [capture] = await findCaptures(database, [id])
      return capture && toRecord(testRecords.openCapture(capture), 'https://shots.example')
    }
    const uploadOf = async (id: string) => (await record(id))?.['upload'] as Upload | undefined
    return {
      database,
      objects,
      accountId,
      theirs,
      on: { database, egressPort: filter.port, certificate },
      addDestination: (fields = {}) => {
        const destination = {
          name: 'archive',
          endpoint: 'https://s3.amazonaws.com',
          region: 'us-east-1',
          bucket,
          path_style: true,
          prefix: '',
          access_key_id: access.accessKey,
          secret: access.secretKey,
          ...fields,
        }
        const url = bucketUrl(destination)
        return createDestination(database, webhooksKey, { ...destination, url, accountId })
      },
      accept: async (options = {}) => {
        const base = { width: 1280, height: 800, format: 'png', upload_to: 'archive' }
        const capture = tenant.capture({ options: { ...base, ...options } })
        const outcome = await acceptCapture(database, capture, { windowSize: 1000 })
        if (!outcome.ok) throw new Error(outcome.code)
        return capture.id
      },
      complete: completeWith({ database, objects }),
      uploadOf,
      read: async (key) => {
        const { metaData } = await client.statObject(bucket, key)
        return { type: String(metaData['content-type']), body: await buffer(await client.getObject(bucket, key)) }
      },
      keys: async () => (await client.listObjectsV2(bucket, '', true).toArray()).map(({ name }) => String(name)),
      ended: async (id) => {
        await eventually(async () => (await uploadOf(id))?.status !== 'pending', { what: 'the upload has ended' })
        return uploadOf(id)
      },
      [Symbol.asyncDispose]: () => filter[Symbol.asyncDispose](),
    }
  }
}
