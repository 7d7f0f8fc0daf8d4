import { createHash } from 'node:crypto'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { objectUrl, type S3Credentials, signRequest } from '#shared/storage/sign-request.ts'
import { attempt } from './attempt.ts'
import type { Outcome } from './outcome.ts'

/** The image of a capture in the object store: the first `bytes` bytes of its object, all of it if `alone`. */
export type StoredImage = {
  readonly objectKey: string
  readonly bytes: number
  readonly sha256: string
  readonly mediaType: string
  readonly alone: boolean
}

/** An object to write to the bucket of an account. */
export type Upload = {
  readonly accountId: string
  readonly bucketUrl: string
  readonly key: string
  readonly credentials: S3Credentials
  /** `test` writes a text and deletes it; undefined if the capture has no image. */
  readonly image: StoredImage | 'test' | undefined
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
 * the recorded digest, so that a store rejects other bytes. `not_tried` if the object store fails; throws if the URL is not valid.
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
    // Buckets with Object Lock accept no object without a checksum; others compare it with what arrived.
    const checksum = { 'x-amz-checksum-sha256': Buffer.from(digest, 'hex').toString('base64') }
    const signed = { 'content-type': mediaType, ...(method === 'PUT' && checksum) }
    const headers = {
      'user-agent': 'Shutterfleet-Uploads',
      ...signed,
      ...signRequest(credentials, { method, url, headers: signed, sha256: digest, at }),
    }
    return explain(await attempt(deps, { accountId, method, url, headers, body }))
  }
  if (image === undefined) return { status: null, failure: 'image_missing' }
  if (image === 'test') {
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
