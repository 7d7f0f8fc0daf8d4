import { randomUUID } from 'node:crypto'
import { signBody } from '#shared/net/sign-body.ts'
import type { FollowedEvent } from './follow-events.ts'

/** How long the receiver may take to respond. */
const answerMs = 10_000

/** A delivery as a webhook gets it. */
export type Delivery = {
  readonly id: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Why a delivery failed, or the status of the response. */
export type Forwarded = { readonly status: number | null; readonly ms: number; readonly error: string | null }

/** Builds the delivery of an event: the body and headers that a webhook with this secret gets. */
export const createDelivery = ({ event, data }: FollowedEvent, secret: string, now: Date): Delivery => {
  const id = randomUUID()
  // As the database writes it, with microseconds.
  const body = JSON.stringify({ event, data, sent_at: now.toISOString().replace('Z', '000Z') })
  return {
    id,
    body,
    headers: {
      'user-agent': 'Shutterfleet-Webhooks',
      'content-type': 'application/json',
      ...signBody({ id, body, at: now, secrets: [secret] }),
    },
  }
}

const reasonOf = (thrown: unknown): string => {
  if ((thrown as Error).name === 'TimeoutError') return `no response within ${answerMs / 1000} s`
  const { code, message } = ((thrown as Error).cause ?? thrown) as NodeJS.ErrnoException
  return code ?? message
}

/** Sends a delivery once; follows no redirects. Never throws. */
export const forward = async (url: string, { headers, body }: Delivery, stop: AbortSignal): Promise<Forwarded> => {
  const beganMs = performance.now()
  const took = () => Math.round(performance.now() - beganMs)
  try {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(answerMs)])
    const response = await fetch(url, { method: 'POST', redirect: 'manual', headers, body, signal })
    await response.body?.cancel()
    return { status: response.status, ms: took(), error: response.ok ? null : `status ${response.status}` }
  } catch (thrown) {
    return { status: null, ms: took(), error: reasonOf(thrown) }
  }
}
