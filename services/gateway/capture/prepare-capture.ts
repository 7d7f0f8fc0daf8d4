import { createHash, randomBytes } from 'node:crypto'
import { attemptBudgetMs, maxAttempts } from '#shared/capture/budget.ts'
import { echoOptions, echoUrl, type SourceDigest } from '#shared/capture/echo-options.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { CaptureOptions, CaptureParameters } from '#shared/capture/options.ts'
import type { ParsedCapture } from '#gateway/parameters/parse-capture.ts'
import { poolOf } from '#shared/capture/pool-of.ts'
import type { NewCapture } from '#gateway/db/accept-capture.ts'
import type { TargetTexts } from '#shared/policy/target-lists.ts'
import { sealedCodec } from '#shared/queue/messages.ts'
import type { RecordSeal } from '#shared/db/record-seal.ts'
import { seal, type SealingKey } from '#shared/queue/seal.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import type { AccountTargets } from '#gateway/db/targets-cache.ts'

/** What preparing a capture uses. */
export type PrepareDependencies = {
  readonly objects: Pick<ObjectStore, 'signPut'>
  readonly sealingKeys: Readonly<Record<Pool, SealingKey>>
  readonly longestWaitSeconds: number
  readonly records: Pick<RecordSeal, 'resultKey'>
  readonly now: () => Date
}

const sha256 = (text: string) => createHash('sha256').update(text)

const digestOf = ({ html, markdown }: CaptureParameters): SourceDigest | undefined => {
  const source = html ?? markdown
  return source === undefined ? undefined : { bytes: Buffer.byteLength(source), sha256: sha256(source).digest('hex') }
}

/** Lifetime of signed PUT URLs: the longest wait and then all attempts. */
const putSeconds = (longestWaitSeconds: number, budgetMs: number) =>
  longestWaitSeconds + Math.ceil((maxAttempts * budgetMs) / 1000)

const sorted = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([name, entry]) => [name, sorted(entry)]))
}

/**
 * The cache key of a capture before hashing: captures with the same text may share a result. Contains the effective options
 * in a fixed order with the URL normalised, without those that only concern caching, notification, upload, response and download.
 */
export const cacheKeyText = (options: CaptureOptions): string => {
  const { cache_ttl: _ttl, webhook_url: _webhook, response_type: _response, filename: _name, ...others } = options
  const { upload_to: _destination, upload_key: _key, url, ...rest } = others
  const address = url === undefined ? {} : { url: URL.parse(url)?.href ?? url }
  return JSON.stringify(sorted({ ...rest, ...address }))
}

/** The key under which captures share a result. */
export const cacheKeyOf = (options: CaptureOptions): Buffer => sha256(cacheKeyText(options)).digest()

/** The options for the worker: without the webhook's URL and the upload. */
const workedOn = (options: CaptureOptions): CaptureOptions => {
  const { webhook_url: _webhook, upload_to: _destination, upload_key: _key, ...rest } = options
  return rest
}

const plainTexts = ({ allow, deny }: TargetTexts) => ({ allow: [...allow], deny: [...deny] })

/** Converts valid parameters into the row to store: the record's fields, and the part that only workers may read, sealed to the pool. */
export const prepareCapture = async (
  deps: PrepareDependencies,
  {
    id,
    parsed,
    targets,
  }: {
    readonly id: string
    readonly parsed: ParsedCapture
    readonly targets: Pick<AccountTargets, 'texts' | 'sha256'>
  },
): Promise<Omit<NewCapture, 'keyHash' | 'originHost' | 'lane' | 'idempotency'>> => {
  const { supplied, options, features } = parsed
  const { webhook_url: receiver } = options
  const budgetMs = attemptBudgetMs(options)
  const pool = poolOf(options)
  const token = randomBytes(32).toString('base64url')
  const keys = Array.from({ length: maxAttempts }, () => newObjectKey(id, deps.now()))
  const lifetimeSeconds = putSeconds(deps.longestWaitSeconds, budgetMs)
  const puts = await Promise.all(
    keys.map(async (key) => ({ key, url: await deps.objects.signPut(key, lifetimeSeconds) })),
  )
  const resultKey = deps.records.resultKey(id)
  const part = {
    options: workedOn(options),
    token,
    resultKey,
    puts,
    ...(targets.texts && { targets: plainTexts(targets.texts) }),
  }
  return {
    id,
    features,
    pool,
    url: echoUrl(supplied),
    options: echoOptions(supplied, digestOf(supplied)),
    sealed: seal(deps.sealingKeys[pool], id, sealedCodec.encode(part)),
    tokenHash: sha256(token).digest(),
    targetsSha256: targets.sha256,
    budgetMs,
    webhookUrl: receiver === undefined ? undefined : new URL(receiver).href,
    sharing: options.cache_ttl > 0 ? { key: cacheKeyOf(options), seconds: options.cache_ttl } : undefined,
  }
}
