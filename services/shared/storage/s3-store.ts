import http from 'node:http'
import https from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'minio'
import { AppError } from '#shared/errors/app-error.ts'
import { trustAdvice } from '#shared/errors/untrusted-authority.ts'
import { boundIdle, boundWhole, type Transport } from './bound-transport.ts'
import type { NotDeleted, ObjectStore } from './object-store.ts'
import { createPutSigner } from './sign-put.ts'

const longestSignatureSeconds = 7 * 24 * 3600

/** Longest time of a call with a small response. */
const callMs = 30_000
/** Longest wait for the head of an object, and for each of its bytes. */
const idleMs = 10_000
const retryMs = 200

const fail = (cause: unknown): never => {
  throw new AppError('SERVICE_UNAVAILABLE', { message: `object store: ${String(cause)}${trustAdvice(cause)}`, cause })
}

const isMissing = (error: unknown) => ['NoSuchKey', 'NotFound'].includes((error as { code?: string }).code ?? '')

/** Retries a call once if the store is too busy, or not ready yet. */
const retryBusy = <T>(call: () => Promise<T>): Promise<T> =>
  call().catch(async (error: unknown) => {
    if (!/Retryable HTTP status/.test(String(error))) throw error
    await delay(retryMs)
    return call()
  })

/** The result for one object of a successful batch delete, as the client parses it from the XML. */
type DeleteError = { readonly Key?: unknown; readonly Code?: unknown }

const notDeleted = ({ Key, Code }: DeleteError): NotDeleted => {
  if (typeof Key !== 'string') return fail(`objects were not deleted: ${String(Code)}`)
  return { key: Key, reason: String(Code) }
}

/** Parses `https://KEY:SECRET@host:port/bucket?region=…` to the client's options. Throws `CONFIGURATION` if a part is missing. */
export const readS3Url = (text: string) => {
  const url = new URL(text)
  const bucket = url.pathname.slice(1)
  if (!url.username || !url.password || !/^[a-z0-9][a-z0-9.-]{2,62}$/.test(bucket)) {
    throw new AppError('CONFIGURATION', {
      publicMessage: 'SHUTTERFLEET_S3_URL must have the form https://KEY:SECRET@host:port/bucket?region=us-east-1',
    })
  }
  const useSSL = url.protocol === 'https:'
  return {
    bucket,
    endPoint: url.hostname,
    port: Number(url.port || (useSSL ? 443 : 80)),
    useSSL,
    accessKey: decodeURIComponent(url.username),
    secretKey: decodeURIComponent(url.password),
    // Always set: without a region the client requests it from the store once per bucket.
    region: url.searchParams.get('region') ?? 'us-east-1',
  }
}

/** Keeps objects in an S3-compatible store. The bucket must exist. Calls time out after `bounds`. */
export const createS3Store = (s3Url: string, bounds = { callMs, idleMs }): ObjectStore => {
  const { bucket, ...where } = readS3Url(s3Url)
  const plain = where.useSSL ? https : http
  // The client's own retry prints text among the JSON lines of a log.
  const options = { ...where, pathStyle: true, retryOptions: { disableRetry: true } }
  // Of the overloads of `request` the client calls only this one.
  const clientBy = (transport: Transport) => new Client({ ...options, transport: transport as typeof plain })
  const client = clientBy(boundWhole(plain, bounds.callMs))
  const reading = clientBy(boundIdle(plain, bounds.idleMs))
  const signPut = createPutSigner({ ...where, bucket })
  return {
    signPut: async (key, lifetimeSeconds) =>
      signPut(key, { at: new Date(), lifetimeSeconds: Math.min(lifetimeSeconds, longestSignatureSeconds) }),
    get: async (key, range) => {
      try {
        const { size } = await retryBusy(() => reading.statObject(bucket, key))
        if (!range) return { body: await retryBusy(() => reading.getObject(bucket, key)), bytes: size }
        if (range.first >= size) return undefined
        const bytes = Math.min(range.last, size - 1) - range.first + 1
        return { body: await retryBusy(() => reading.getPartialObject(bucket, key, range.first, bytes)), bytes }
      } catch (error) {
        return isMissing(error) ? undefined : fail(error)
      }
    },
    put: async (key, bytes, mediaType) => {
      const type = { 'Content-Type': mediaType }
      await retryBusy(() => client.putObject(bucket, key, Buffer.from(bytes), bytes.length, type)).catch(fail)
    },
    delete: async (keys) => {
      if (keys.length === 0) return []
      const errors = await retryBusy(() => client.removeObjects(bucket, [...keys])).catch(fail)
      return (errors as DeleteError[]).map(notDeleted)
    },
    list: async function* list(prefix, after = '') {
      const found = client.listObjectsV2(bucket, prefix, true, after)
      try {
        for await (const item of found) {
          const { name } = item as { name?: string }
          if (name !== undefined) yield name
        }
      } catch (error) {
        fail(error)
      }
    },
  }
}
