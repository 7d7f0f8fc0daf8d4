import { Type } from 'typebox'
import { showAccount } from '#shared/db/accounts.ts'
import { cancelPending, countQueue } from '#gateway/db/account-queue.ts'
import { noteChange } from '#shared/db/audit.ts'
import { recountMeters } from '#shared/db/recount-meters.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { validationError } from '#gateway/http/errors.ts'
import type { AdminRoute } from './admin-route.ts'
import { fieldsReader, momentForm, readMoment } from './read-fields.ts'
import { requeueFailed } from './requeue-failed.ts'

/** Errors that are ours; the others say something of the target, which trying again does not change. */
const ownCodes = ['JOB_FAILED', 'RENDER_ERROR'] as const
const limitMax = 1000
const hourMs = 3_600_000
/** As long as it is kept which captures were accepted again. */
const longestMs = 24 * hourMs
const maintenanceSeconds = 60
const sinceWords = 'a moment of the last 24 hours such as 2030-01-31T00:00:00Z'

const codesWords = `a list of ${ownCodes.join(', ')}`

const readRequeue = fieldsReader(
  Type.Partial(
    Type.Object(
      {
        codes: Type.Array(Type.Enum([...ownCodes], { description: codesWords }), {
          minItems: 1,
          uniqueItems: true,
          description: codesWords,
        }),
        since: Type.String({ pattern: momentForm, description: sinceWords }),
        limit: Type.Integer({ minimum: 1, maximum: limitMax, description: `a whole number from 1 to ${limitMax}` }),
      },
      { additionalProperties: false },
    ),
    { additionalProperties: false },
  ),
)

const sinceOf = (text: string | undefined, now: Date): Date => {
  if (text === undefined) return new Date(now.getTime() - hourMs)
  const since = readMoment('since', text, sinceWords)
  if (since.getTime() >= now.getTime() - longestMs) return since
  throw validationError({ since: [`must be ${sinceWords}`] })
}

/** The queue by account: what is in it, cancel what has not begun, accept again what failed through our fault, recount. */
export const queueRoutes: readonly AdminRoute[] = [
  {
    method: 'GET',
    path: '/queue',
    run: async ({ database }) => {
      const accounts = await countQueue(database)
      const data = accounts.map(({ accountId, ...counts }) => ({ account_id: accountId, ...counts }))
      return { status: 200, body: { data } }
    },
  },
  {
    method: 'POST',
    path: '/accounts/:id/queue/cancel',
    run: async ({ database }, { actor, params }) => {
      const canceled = await cancelPending(database, params['id'] ?? '', actor)
      return { status: 200, body: { data: { canceled } } }
    },
  },
  {
    method: 'POST',
    path: '/accounts/:id/meters/recount',
    run: async ({ database }, { params }) => {
      const corrected = await recountMeters(database, params['id'] ?? '', 'admin')
      return { status: 200, body: { data: { corrected } } }
    },
  },
  {
    method: 'POST',
    path: '/accounts/:id/queue/requeue',
    run: async ({ database, accepting }, { actor, params, readJson }) => {
      const { codes = ownCodes, since: from, limit = limitMax } = readRequeue(await readJson())
      const since = sinceOf(from, accepting.now())
      const { id: accountId } = await showAccount(database, params['id'] ?? '')
      if (accepting.inMaintenance()) {
        const publicMessage = 'The service is under maintenance; nothing is accepted.'
        throw new AppError('SERVICE_UNAVAILABLE', { publicMessage, retryAfterSeconds: maintenanceSeconds })
      }
      const data = await requeueFailed({ ...accepting, database }, { accountId, codes, since, limit })
      const detail = { codes, since, limit, ...data }
      await noteChange(database, { actor, action: 'queue.requeue', target: accountId, detail })
      return { status: 200, body: { data } }
    },
  },
]
