import { randomUUID } from 'node:crypto'
import { createCapture } from '#gateway/accept/create-capture.ts'
import { captureUrls } from '#shared/db/record.ts'
import type { Operation } from './operation.ts'

/** `POST /screenshots`: accepts a capture and answers with its new record at once. */
export const createScreenshot: Operation = async (context, exchange) => {
  const created = await createCapture(context, exchange, {
    id: randomUUID(),
    from: 'body',
    lane: 'normal',
    defaultResponse: 'json',
  })
  const { id, url, options, createdAt } = created
  return {
    status: 202,
    headers: { location: captureUrls(context.publicUrl(), id).status, 'x-screenshot-id': id },
    body: { data: { id, status: 'pending', url, options, created_at: createdAt } },
  }
}
