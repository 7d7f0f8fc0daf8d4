import type { DeliveryPage, DeliveryView } from '#shared/db/deliveries.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import { validationError } from '#gateway/http/read-parameters.ts'
import { readCursor, writeCursor } from '#gateway/list/cursor.ts'

const usual = 20
const most = 100

const readPlace = (text: string | undefined): DeliveryPage['before'] => {
  if (text === undefined) return undefined
  const cursor = readCursor(text)
  if (cursor?.direction === 'older') return cursor.than
  throw validationError({ cursor: ['must be the next_cursor of an earlier answer'] })
}

/** Reads which part of a log is asked for. Throws `VALIDATION_ERROR`. */
export const readDeliveryPage = (query: string): DeliveryPage => {
  const { per_page: perPage = String(usual), cursor } = readPlainQuery(query, ['per_page', 'cursor'])
  const limit = Number(perPage)
  if (!/^\d{1,3}$/.test(perPage) || limit < 1 || limit > most) {
    throw validationError({ per_page: [`must be a whole number from 1 to ${most}`] })
  }
  return { limit, before: readPlace(cursor) }
}

/** A part of a log as it is answered, and where the next one begins; `asked` is one more than the caller wants. */
export const showDeliveries = (asked: readonly DeliveryView[], limit: number): Readonly<Record<string, unknown>> => {
  const data = asked.slice(0, limit)
  const last = asked.length > limit ? data.at(-1) : undefined
  const cursor = last && writeCursor({ direction: 'older', than: { createdAt: last.created_at, id: last.id } })
  return { data, meta: { per_page: limit, next_cursor: cursor ?? null } }
}
