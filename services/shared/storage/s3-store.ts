import http from 'node:http'
import https from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'minio'
import { AppError } from '#shared/errors/app-error.ts'
import { trustAdvice } from '#shared/errors/untrusted-authority.ts'
import { boundIdle, boundWhole, type Transport } from './bound-transport.ts'
import type { NotDeleted, ObjectStore } from './object-store.ts'
import { keysOfAddress, openKeys } from './open-keys.ts'
import type { KeyRing, S3Keys } from './s3-keys.ts'
import { createPutSigner } from './sign-put.ts'

const longestSignatureSeconds = 7 * 24 * 3600

/** Longest time of a call with a small response. */
const callMs = 30_000
/** Longest wait for the head of an object, and for each of its bytes. */
const idleMs = 10_000
const retryMs = 200
/** Most keys in a page of a listing, which is what stores return at most. */
const pageMax = 1000

const fail = (cause: unknown): never => {
  throw new AppError('SERVICE_UNAVAILABLE', { message: `object store: ${String(cause)}${trustAdvice(cause)}`, cause })
}

const codeOf = (error: unknown) => (error as { code?: string }).code ?? ''
const isMissing = (error: unknown) => ['NoSuchKey', 'NotFound'].includes(codeOf(error))

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

/** Codes of a store that does not accept the keys. Responses to HEAD have no code; their status 403 is `AccessDenied` too. */
const refusals = new Set([
  'AccessDenied',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'InvalidTokenId',
  'SignatureDoesNotMatch',
])

/** Parses `https://KEY:SECRET@host:port/bucket?region=…`, of which the keys may be absent. Throws `CONFIGURATION` if another part is. */
export const readS3Url = (text: string) => {
  const url = new URL(text)
  const bucket = url.pathname.slice(1)
  if (!url.username !== !url.password || !/^[a-z0-9][a-z0-9.-]{2,62}$/.test(bucket)) {
    throw new AppError('CONFIGURATION', {
      publicMessage: 'SHUTTERFLEET_S3_URL must have the form https://KEY:SECRET@host:port/bucket?region=us-east-1',
    })
  }
  // Always set: without a region the client requests it from the store once per bucket.
  const region = url.searchParams.get('region') ?? 'us-east-1'
  // A part of host names, such as that of STS.
  if (!/^[\w-]{1,64}$/.test(region)) {
    throw new AppError('CONFIGURATION', {
      publicMessage: 'SHUTTERFLEET_S3_URL must have a region of 1 to 64 letters, digits, - and _',
    })
  }
  const useSSL = url.protocol === 'https:'
  return {
    bucket,
    // The client and the signer add the brackets of an IPv6 address themselves.
    endPoint: url.hostname.replaceAll(/[[\]]/g, ''),
    port: Number(url.port || (useSSL ? 443 : 80)),
    useSSL,
    keys: url.username
      ? { accessKey: decodeURIComponent(url.username), secretKey: decodeURIComponent(url.password) }
      : undefined,
    region,
  }
}

/** Opens the keys of a store in a region; `inAddress` are those in its address. */
type OpenRing = (region: string, inAddress: S3Keys | undefined) => KeyRing

const keysInAddress: OpenRing = (region, inAddress) => openKeys(keysOfAddress, region, inAddress)

type Place = Omit<ReturnType<typeof readS3Url>, 'keys'>
type Bounds = { readonly callMs: number; readonly idleMs: number }

/** Clients of the store, and a signer, with certain keys. */
const clientsWith = (keys: S3Keys, { bucket, ...where }: Place, bounds: Bounds) => {
  const plain = where.useSSL ? https : http
  // The client's own retry prints text among the JSON lines of a log.
  const options = {
    ...where,
    ...keys,
    sessionToken: keys.sessionToken ?? '',
    pathStyle: true,
    retryOptions: { disableRetry: true },
  }
  // Of the overloads of `request` the client calls only this one.
  const clientBy = (transport: Transport) => new Client({ ...options, transport: transport as typeof plain })
  return {
    keys,
    client: clientBy(boundWhole(plain, bounds.callMs)),
    reading: clientBy(boundIdle(plain, bounds.idleMs)),
    signPut: createPutSigner({ ...where, bucket }, keys),
  }
}

type Clients = ReturnType<typeof clientsWith>

/** Calls the store with the keys of a ring; once more with others if the store refuses them, and once more if it is busy. */
const callsWith = (ring: KeyRing, place: Place, bounds: Bounds) => {
  let latest: Clients | undefined
  const clients = async () => {
    const keys = await ring.current()
    if (latest?.keys !== keys) latest = clientsWith(keys, place, bounds)
    return latest
  }
  const call = async <T>(work: (by: Clients) => Promise<T>): Promise<T> => {
    const by = await clients()
    try {
      return await retryBusy(() => work(by))
    } catch (error) {
      if (!refusals.has(codeOf(error))) throw error
      await ring.refused(by.keys)
      const next = await clients()
      if (next === by) throw error
      return await work(next)
    }
  }
  return { clients, call }
}

/** Keeps objects in an S3-compatible store, with the keys of its address by default. The bucket must exist. Calls time out after `bounds`. */
export const createS3Store = (
  s3Url: string,
  openRing = keysInAddress,
  bounds: Bounds = { callMs, idleMs },
): ObjectStore => {
  const { keys: inAddress, ...place } = readS3Url(s3Url)
  const { bucket, region } = place
  const { clients, call } = callsWith(openRing(region, inAddress), place, bounds)
  return {
    signPut: async (key, lifetimeSeconds) =>
      (await clients()).signPut(key, {
        at: new Date(),
        lifetimeSeconds: Math.min(lifetimeSeconds, longestSignatureSeconds),
      }),
    get: async (key, range) => {
      try {
        const { size } = await call(({ reading }) => reading.statObject(bucket, key))
        if (!range) return { body: await call(({ reading }) => reading.getObject(bucket, key)), bytes: size }
        if (range.first >= size) return undefined
        const bytes = Math.min(range.last, size - 1) - range.first + 1
        return { body: await call(({ reading }) => reading.getPartialObject(bucket, key, range.first, bytes)), bytes }
      } catch (error) {
        return isMissing(error) ? undefined : fail(error)
      }
    },
    put: async (key, bytes, mediaType) => {
      const type = { 'Content-Type': mediaType }
      await call(({ client }) => client.putObject(bucket, key, Buffer.from(bytes), bytes.length, type)).catch(fail)
    },
    delete: async (keys) => {
      if (keys.length === 0) return []
      const errors = await call(({ client }) => client.removeObjects(bucket, [...keys])).catch(fail)
      return (errors as DeleteError[]).map(notDeleted)
    },
    list: async function* list(prefix, after = '') {
      let next = ''
      do {
        const from = next
        // Each page with the keys of its time: a long listing outlives a session.
        const page = await call(({ client }) =>
          client.listObjectsV2Query(bucket, prefix, from, '', pageMax, after),
        ).catch(fail)
        for (const { name } of page.objects) if (name !== undefined) yield name
        next = page.isTruncated ? page.nextContinuationToken : ''
      } while (next !== '')
    },
  }
}
