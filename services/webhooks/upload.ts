import { createHash } from 'node:crypto'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { objectUrl, type S3Credentials, signRequest } from '#shared/storage/sign-request.ts'
import { attempt } from './attempt.ts'
import type { StoredImage } from './db/take-deliveries.ts'
import type { Outcome } from './outcome.ts'

/** An object to write to the bucket of an account. */
export type Upload = {
  readonly accountId: string
  readonly bucketUrl: string
  readonly key: string
  readonly credentials: S3Credentials
  /** Null for a test, which writes a text and deletes it. */
  readonly image: StoredImage | null
  readonly at: Date
}

type Deps = Parameters<typeof attempt>[0] & { readonly objects: Pick<ObjectStore, 'get'> }

const testText = 'Written to test an upload destination.\n'

/** Names the reasons for a refusal that its account can correct. */
const explain = (outcome: Outcome): Outcome => {
  if (outcome === 'not_tried' || outcome.failure !== 'status') return outcome
  if (outcome.status === 401 || outcome.status === 403) return { ...outcome, failure: 'access_denied' }
  return outcome.status === 404 ? { ...outcome, failure: 'no_such_bucket' } : outcome
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/**
 * Writes an image to its key, replacing an object of that key, so that a repetition changes nothing. The signature contains
 * the recorded digest, so that a store rejects other bytes. Never throws; `not_tried` if the object store fails.
 */
export const upload = async (
  deps: Deps,
  { accountId, bucketUrl, key, credentials, image, at }: Upload,
): Promise<Outcome> => {
  const url = objectUrl(bucketUrl, key)
  const send = async (
    method: 'PUT' | 'DELETE',
    body: Parameters<typeof attempt>[1]['body'],
    { sha256: digest, mediaType }: Pick<StoredImage, 'sha256' | 'mediaType'>,
  ) => {
    const signed = { 'content-type': mediaType }
    const headers = {
      'user-agent': 'Shutterfleet-Uploads',
      ...signed,
      ...signRequest(credentials, { method, url, headers: signed, sha256: digest, at }),
    }
    return explain(await attempt(deps, { accountId, method, url, headers, body }).catch(() => 'not_tried' as const))
  }
  if (image === null) {
    const mediaType = 'text/plain'
    const written = await send('PUT', testText, { sha256: sha256(testText), mediaType })
    // Best effort: credentials that may only write are enough for uploads.
    if (written !== 'not_tried' && written.failure === null) await send('DELETE', '', { sha256: sha256(''), mediaType })
    return written
  }
  const { objectKey, bytes, alone } = image
  const open = async () => (await deps.objects.get(objectKey, alone ? undefined : { first: 0, last: bytes - 1 }))?.body
  return send('PUT', { bytes, open }, image)
}
