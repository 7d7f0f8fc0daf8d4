import type { ErrorCollector } from '#shared/capture/validation-errors.ts'
import type { CapturePosition } from '#gateway/db/list-captures.ts'
import { readCursor, writeCursor } from './cursor.ts'

/** Reports a cursor that `cursorPage` has not returned. */
export const checkNextCursor = (cursor: string | undefined, { report }: Pick<ErrorCollector, 'report'>): void => {
  if (cursor === undefined || readCursor(cursor)?.direction === 'older') return
  report('cursor', 'must be the next_cursor of an earlier answer')
}

/** Position after which a page begins; undefined: at the newest entry. */
export const positionAfter = (cursor: string | undefined): CapturePosition | undefined =>
  cursor === undefined ? undefined : readCursor(cursor)?.position

/** Body of a page, newest first, with the cursor of the next one. `found` contains up to `limit + 1` entries, to detect a next page. */
export const cursorPage = <Entry>(
  found: readonly Entry[],
  limit: number,
  positionOf: (entry: Entry) => CapturePosition,
) => {
  const data = found.slice(0, limit)
  const last = found.length > limit ? data.at(-1) : undefined
  const cursor = last && writeCursor({ direction: 'older', position: positionOf(last) })
  return { data, meta: { per_page: limit, next_cursor: cursor ?? null } }
}
