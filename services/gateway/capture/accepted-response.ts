import { captureUrls } from '#shared/db/record.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { CreatedCapture } from './create-capture.ts'

/** `Retry-After` of a 202: when the client may poll the status. */
const pollAfterSeconds = 2

/** A 202 without its body; `Location` is the capture's status URL. */
export const acceptedHead = (
  context: Pick<Context, 'publicUrl'>,
  { id, shared, caller, isReplay }: CreatedCapture,
): Answer => ({
  status: 202,
  caller,
  isReplay,
  headers: {
    location: captureUrls(context.publicUrl(), id).status,
    'x-screenshot-id': id,
    ...(shared === 'hit' && { 'x-cache': 'HIT' }),
  },
})

/** The contract's flat 202 response: the capture is still running, `Location` is its status URL. */
export const acceptedResponse = (context: Pick<Context, 'publicUrl'>, created: CreatedCapture): Answer => {
  const { id, status, url, webhookUrl, createdAt } = created
  const head = acceptedHead(context, created)
  return {
    ...head,
    headers: { ...head.headers, 'retry-after': String(pollAfterSeconds) },
    body: {
      id,
      status,
      url,
      ...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
      created_at: createdAt,
    },
  }
}
