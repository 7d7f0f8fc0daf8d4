import { createHash, createHmac } from 'node:crypto'

/** Credentials that sign requests to an S3-compatible store. */
export type S3Credentials = { readonly accessKeyId: string; readonly secret: string; readonly region: string }

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The key that signs on one day (`YYYYMMDD`). */
export const deriveDayKey = ({ secret, region }: Pick<S3Credentials, 'secret' | 'region'>, day: string): Buffer =>
  [region, 's3', 'aws4_request'].reduce((key, part) => hmac(key, part), hmac(`AWS4${secret}`, day))

/** The time of a signature (`YYYYMMDDTHHMMSSZ`), its day, and its scope in a region. */
export const signatureScope = (at: Date, region: string) => {
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  return { time, day, scope: `${day}/${region}/s3/aws4_request` }
}

/** The signature in hex of a canonical request. */
export const signCanonical = (
  dayKey: Buffer,
  { time, scope }: { readonly time: string; readonly scope: string },
  request: readonly string[],
): string => {
  const digest = createHash('sha256').update(request.join('\n')).digest('hex')
  return hmac(dayKey, ['AWS4-HMAC-SHA256', time, scope, digest].join('\n')).toString('hex')
}

/** URL of an object under the URL of its bucket, escaped as signatures require. */
export const objectUrl = (bucketUrl: string, key: string): string => {
  const escape = (segment: string) =>
    encodeURIComponent(segment).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${bucketUrl}/${key.split('/').map(escape).join('/')}`
}

/** A request without a query. `url` is from `objectUrl`, `headers` have lower-case names, `sha256` is the hex digest of the body. */
type ToSign = {
  readonly method: 'PUT' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly sha256: string
  readonly at: Date
}

/** Signs a request to a store with all its headers (AWS Signature Version 4). Returns the headers to add. */
export const signRequest = (
  credentials: S3Credentials,
  { method, url, headers, sha256, at }: ToSign,
): Record<string, string> => {
  const { host, pathname } = new URL(url)
  const { time, day, scope } = signatureScope(at, credentials.region)
  const added = { 'x-amz-content-sha256': sha256, 'x-amz-date': time }
  const all = Object.entries({ host, ...headers, ...added }).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const names = all.map(([name]) => name).join(';')
  const lines = all.map(([name, value]) => `${name}:${value}`)
  const request = [method, pathname, '', ...lines, '', names, sha256]
  const signature = signCanonical(deriveDayKey(credentials, day), { time, scope }, request)
  const credential = `Credential=${credentials.accessKeyId}/${scope}`
  return { ...added, authorization: `AWS4-HMAC-SHA256 ${credential},SignedHeaders=${names},Signature=${signature}` }
}
