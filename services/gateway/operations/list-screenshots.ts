import { authorize } from '#gateway/http/authorize.ts'
import { pageBody } from '#gateway/list/page-body.ts'
import { readListQuery } from '#gateway/list/read-list-query.ts'
import type { Operation } from './operation.ts'

/** `GET /screenshots`: a page of the caller's captures, newest first. */
export const listScreenshots: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  const asked = readListQuery(exchange.query)
  const { at, status, from, to, perPage } = asked
  const start = 'page' in at ? { skip: (at.page - 1) * perPage } : at
  const page = await context.captures.list({ accountId, status, from, to }, { start, limit: perPage })
  return { status: 200, body: pageBody(asked, page, context.publicUrl()) }
}
