import { createHash, createHmac } from 'node:crypto'

type PutTarget = {
  readonly endPoint: string
  readonly port: number
  readonly useSSL: boolean
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  readonly bucket: string
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The key that signs on one day (`YYYYMMDD`). */
const dayKey = ({ secretKey, region }: PutTarget, day: string): Buffer =>
  [region, 's3', 'aws4_request'].reduce((key, part) => hmac(key, part), hmac(`AWS4${secretKey}`, day))

/** The host as clients send it: without the scheme's default port. */
const hostHeader = ({ endPoint, port, useSSL }: PutTarget) =>
  port === (useSSL ? 443 : 80) ? endPoint : `${endPoint}:${port}`

/**
 * The required header is signed too: the store then rejects a PUT that would overwrite an object, by a holder of its
 * address.
 */
const onlyNew = 'if-none-match:*'

/**
 * Creates a signer of addresses to which a new object may be PUT with `If-None-Match: *` (AWS Signature Version 4 in the query), bucket in the path.
 * Keys must need no escaping. The client's own signing takes 0.25 ms, and each accepted capture needs three.
 */
export const createPutSigner = (
  target: PutTarget,
): ((key: string, period: { readonly at: Date; readonly lifetimeSeconds: number }) => string) => {
  const { accessKey, region, bucket, useSSL } = target
  const host = hostHeader(target)
  let signer: { day: string; key: Buffer } | undefined
  const deriveDayKey = (day: string) => {
    if (signer?.day !== day) signer = { day, key: dayKey(target, day) }
    return signer.key
  }
  return (objectKey, { at, lifetimeSeconds }) => {
    const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const day = time.slice(0, 8)
    const scope = `${day}/${region}/s3/aws4_request`
    const path = `/${bucket}/${objectKey}`
    const query = [
      'X-Amz-Algorithm=AWS4-HMAC-SHA256',
      `X-Amz-Credential=${encodeURIComponent(`${accessKey}/${scope}`)}`,
      `X-Amz-Date=${time}`,
      `X-Amz-Expires=${lifetimeSeconds}`,
      'X-Amz-SignedHeaders=host%3Bif-none-match',
    ].join('&')
    const request = ['PUT', path, query, `host:${host}`, onlyNew, '', 'host;if-none-match', 'UNSIGNED-PAYLOAD'].join(
      '\n',
    )
    const digest = createHash('sha256').update(request).digest('hex')
    const signature = hmac(deriveDayKey(day), ['AWS4-HMAC-SHA256', time, scope, digest].join('\n')).toString('hex')
    return `${useSSL ? 'https' : 'http'}://${host}${path}?${query}&X-Amz-Signature=${signature}`
  }
}
