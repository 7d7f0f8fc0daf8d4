import { createHash, randomBytes } from 'node:crypto'
import { attemptBudgetMs, maxAttempts } from '#shared/capture/budget.ts'
import { echoOptions, echoUrl, type SourceDigest } from '#shared/capture/echo-options.ts'
import type { Lane } from '#shared/capture/lane.ts'
import type { CaptureParameters } from '#shared/capture/options.ts'
import type { ParsedCapture } from '#shared/capture/parse-capture.ts'
import { poolOf, type ServedPool } from '#shared/capture/pool-of.ts'
import type { NewCapture } from '#shared/db/accept-capture.ts'
import { sealedCodec } from '#shared/queue/messages.ts'
import { seal, type SealingKey } from '#shared/queue/seal.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { newObjectKey } from '#shared/storage/objects.ts'

type Dependencies = {
  readonly objects: Pick<ObjectStore, 'signPut'>
  readonly sealingKeys: Readonly<Record<ServedPool, SealingKey>>
  readonly longestWaitSeconds: number
  readonly now: () => Date
}

/** A valid request by a caller whose key the database will judge. */
export type CaptureRequest = {
  readonly id: string
  readonly lane: Lane
  readonly parsed: ParsedCapture
  readonly keyHash: Buffer
  readonly originHost: string | null
}

const sha256 = (text: string) => createHash('sha256').update(text)

const digestOf = ({ html, markdown }: CaptureParameters): SourceDigest | undefined => {
  const source = html ?? markdown
  return source === undefined ? undefined : { bytes: Buffer.byteLength(source), sha256: sha256(source).digest('hex') }
}

/** A worker may put the image until the capture has waited the longest time and then used up all its attempts. */
const putSeconds = (longestWaitSeconds: number, budgetMs: number) =>
  longestWaitSeconds + Math.ceil((maxAttempts * budgetMs) / 1000)

/** Makes of a request what the database stores: the record's fields, and all that only a worker may read, sealed to its pool. */
export const prepareCapture = async (deps: Dependencies, request: CaptureRequest): Promise<NewCapture> => {
  const { id, lane, parsed, keyHash, originHost } = request
  const budgetMs = attemptBudgetMs(parsed.options)
  const pool = poolOf(parsed.options)
  const token = randomBytes(32).toString('base64url')
  const keys = Array.from({ length: maxAttempts }, () => newObjectKey(id, deps.now()))
  const lifetimeSeconds = putSeconds(deps.longestWaitSeconds, budgetMs)
  const puts = await Promise.all(
    keys.map(async (key) => ({ key, url: await deps.objects.signPut(key, lifetimeSeconds) })),
  )
  return {
    id,
    keyHash,
    originHost,
    features: parsed.features,
    pool,
    lane,
    url: echoUrl(parsed.supplied),
    options: echoOptions(parsed.supplied, digestOf(parsed.supplied)),
    sealed: seal(deps.sealingKeys[pool], id, sealedCodec.encode({ options: parsed.options, token, puts })),
    tokenHash: sha256(token).digest(),
    budgetMs,
  }
}
