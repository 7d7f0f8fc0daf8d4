import type { CreatedCapture } from '#gateway/accept/create-capture.ts'
import type { Context } from '#gateway/context.ts'
import type { Answer } from '#gateway/http/exchange.ts'
import { captureUrls } from '#shared/db/record.ts'

/** Seconds after which a client whose capture goes on may look for it. */
const lookAgainSeconds = 2

/** The contract's flat answer: the capture goes on, and is found under its address. */
export const answerGoesOn = (context: Pick<Context, 'publicUrl'>, created: CreatedCapture): Answer => {
  const { id, status, url, webhookUrl, createdAt, shared } = created
  return {
    status: 202,
    headers: {
      location: captureUrls(context.publicUrl(), id).status,
      'retry-after': String(lookAgainSeconds),
      'x-screenshot-id': id,
      ...(shared === 'hit' && { 'x-cache': 'HIT' }),
    },
    body: {
      id,
      status,
      url,
      ...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
      created_at: createdAt,
    },
  }
}
