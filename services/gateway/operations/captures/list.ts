import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { usualErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { checkList, listParameters, toListQuery } from './list-query.ts'
import { pageBody } from './page-body.ts'

/** A page of the caller's captures, newest first. */
export const listScreenshots = forCaller({
  name: 'list',
  method: 'GET',
  path: '/screenshots',
  tag: 'Screenshots',
  summary: 'List screenshots',
  description: "The account's screenshots, newest first, by pages or by cursor.",
  query: listParameters,
  checkQuery: checkList,
  answers: { 200: jsonAnswer('A page of the list.', 'ScreenshotPage') },
  errors: [...usualErrors, 'Forbidden', 'Invalid'],
  run: async (context, { caller: { accountId }, query: values, given }) => {
    const asked = toListQuery({ values, given })
    const { at, status, from, to, perPage } = asked
    const start = 'page' in at ? { skip: (at.page - 1) * perPage } : at
    const page = await context.captures.list({ accountId, status, from, to }, { start, limit: perPage })
    return { status: 200, body: pageBody(asked, page, context.publicUrl()) }
  },
})
