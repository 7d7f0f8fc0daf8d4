import { createHmac } from 'node:crypto'

/** Input of a delivery's signatures. `secrets` are whole `whsec_…` texts, the newest first. */
export type Signing = {
  /** The delivery's id, the same over all attempts. */
  readonly id: string
  readonly body: string
  /** When this attempt is made. */
  readonly at: Date
  readonly secrets: readonly string[]
}

const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

/**
 * The headers by which a receiver verifies a delivery: `X-Webhook-Signature`, the hex HMAC-SHA256 of the body
 * under the newest secret as it stands, and the three of Standard Webhooks (version `v1`) with a signature for each secret.
 */
export const signBody = ({ id, body, at, secrets }: Signing): Readonly<Record<string, string>> => {
  const [newest = ''] = secrets
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signatures = secrets.map((secret) => {
    const mac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`)
    return `v1,${mac.digest('base64')}`
  })
  return {
    'x-webhook-signature': createHmac('sha256', newest).update(body).digest('hex'),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
