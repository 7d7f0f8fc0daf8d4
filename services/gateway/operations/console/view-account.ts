import { recordActivity } from '#gateway/activity/record-activity.ts'
import type { Context } from '#gateway/context/context.ts'
import { leaveAccount, viewAccount } from '#gateway/db/sessions.ts'
import type { Answer } from '#gateway/http/answer.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { type Exchange, pathId } from '#gateway/http/exchange.ts'
import type { Served } from '#gateway/operations/operation.ts'
import { requireSession } from './sessions.ts'

/** Records the request in the activity of the account, whose members see it. */
const recordFor = (context: Context, exchange: Exchange, name: string, accountId: string | null): Answer => {
  const session = { ...requireSession(exchange), accountId }
  const answer = { status: 204 }
  recordActivity(context, name, { ...exchange, session }, answer)
  return answer
}

const look: Served = {
  name: 'console_account_view',
  method: 'POST',
  path: '/api/operator/accounts/:id/view',
  access: 'operator',
  forViewers: true,
  run: async (context, exchange) => {
    const id = pathId(exchange)
    orNotFound(await viewAccount(context.database, requireSession(exchange), id))
    return recordFor(context, exchange, look.name, id)
  },
}

const leave: Served = {
  name: 'console_account_leave',
  method: 'DELETE',
  path: '/api/operator/view',
  access: 'operator',
  forViewers: true,
  run: async (context, exchange) => {
    const session = requireSession(exchange)
    orNotFound(await leaveAccount(context.database, session))
    return recordFor(context, exchange, leave.name, session.accountId)
  },
}

/** An operator looks into an account, and leaves it. Both are recorded in the audit log and in the account's activity. */
export const viewOperations: readonly Served[] = [look, leave]
