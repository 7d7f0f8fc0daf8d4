import type { Sql } from '#shared/db/connection.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import { createBatchedLoader } from './batched-loader.ts'

/** The nonces from which the valid link secrets of a key are derived. */
export type LinkNonces = { readonly nonce: Buffer; readonly previousNonce: Buffer | null }

/** Minimum between two reads of keys of which this gateway has served no link. */
const keyGapMs = 100

const keysStatement = readStatement(import.meta.dirname, 'sql/find-link-keys.sql')
const renderingStatement = readStatement(import.meta.dirname, 'sql/find-rendering.sql')

/** Creates a lookup of a key's nonces, undefined if its links are not served. Concurrent lookups are batched into one read. */
export const createLinkKeyLookup = (database: Sql): ((keyId: string) => Promise<LinkNonces | undefined>) =>
  createBatchedLoader(
    (ids: readonly string[]) => database.query<LinkNonces & { readonly id: string }>(keysStatement, [ids]),
    keyGapMs,
  )

type Image = Pick<FoundCapture, 'objectKey' | 'fileSize' | 'sha256' | 'mimeType' | 'targetStatus' | 'options' | 'files'>

/** What a view of a link reads. */
export type Rendering = LinkNonces & {
  readonly keyHash: Buffer
  readonly accountId: string
  /** The plan includes signed links. */
  readonly hasFeature: boolean
  /** The key may be used from the page that shows the link. */
  readonly allowsHost: boolean
  /** The key is restricted to domains. */
  readonly isRestricted: boolean
  /** The newest image of the link; undefined if there is none. */
  readonly image: (Image & Pick<FoundCapture, 'id' | 'expiresAt'>) | undefined
  /** For how long the image is current; at most 0: it is stale. */
  readonly currentSeconds: number
  /** The capture of the link that has not ended. */
  readonly runningId: string | null
  /** Idempotency key of the link's next capture: the same for all that read this state. */
  readonly attemptKey: string
  /** The capture under that key, if it has failed. */
  readonly failed: { readonly id: string; readonly code: CaptureErrorCode; readonly secondsAgo: number } | undefined
}

type Row = Image &
  Pick<FoundCapture, 'expiresAt'> &
  Omit<Rendering, 'image' | 'failed' | 'currentSeconds'> & {
    readonly imageId: string | null
    readonly currentSeconds: number | null
    readonly failedId: string | null
    readonly failedCode: CaptureErrorCode
    readonly failedSecondsAgo: number
  }

/** The state of a link's key and captures, in one read; undefined if links of the key are not served. `ttlSeconds`: the link's `cache_ttl`. */
export const findRendering = async (
  database: Sql,
  link: {
    readonly keyId: string
    readonly originHost: string | null
    readonly cacheKey: Buffer
    readonly ttlSeconds: number
  },
): Promise<Rendering | undefined> => {
  const values = [link.keyId, link.originHost, link.cacheKey, link.ttlSeconds]
  const [row] = await database.query<Row>(renderingStatement, values, 'keep')
  if (!row) return undefined
  const { imageId, failedId, failedCode, failedSecondsAgo, currentSeconds, ...rest } = row
  return {
    ...rest,
    image: imageId === null ? undefined : { ...rest, id: imageId },
    currentSeconds: currentSeconds ?? 0,
    failed: failedId === null ? undefined : { id: failedId, code: failedCode, secondsAgo: failedSecondsAgo },
  }
}

/** Releases the idempotency key of a link from a capture that failed, so that the next one can be accepted under it. */
export const releaseFailed = async (
  database: Sql,
  { accountId, attemptKey, failed }: Pick<Rendering, 'accountId' | 'attemptKey' | 'failed'>,
): Promise<void> => {
  if (!failed) return
  const statement = 'delete from idempotency_key where account_id = $1 and key = $2 and capture_id = $3'
  await database.query(statement, [accountId, attemptKey, failed.id])
}

const featureStatement = `select 'signed_urls' = any (p.features) as allowed
  from account a join plan p on p.slug = a.plan where a.id = $1`

/** Whether the plan of an account includes signed links. */
export const hasSignedLinks = async (database: Sql, accountId: string): Promise<boolean> => {
  const [row] = await database.query<{ allowed: boolean }>(featureStatement, [accountId])
  return row?.allowed ?? false
}
