import { cancelPending, countQueue } from '#shared/db/account-queue.ts'
import { recountMeters } from '#shared/db/recount-meters.ts'
import { createOperatorLink } from '#shared/db/sign-in-links.ts'
import {
  type Command,
  dataFlag,
  flagCount,
  flagText,
  flagTexts,
  type ParsedArgs,
  UsageError,
} from './command/command.ts'
import { readDuration } from './command/duration.ts'
import { table } from './command/table.ts'
import { postAsOperator } from './http/as-operator.ts'
import { findBaseUrl, findKeyPepper } from './installation.ts'
import { withDatabase } from './with-database.ts'

/** `queue list`: captures that have not ended, by account, largest count first. */
export const queueList: Command = {
  usage: 'queue list [--data DIR]',
  summary: 'lists the accounts with captures that have not ended, largest queue first',
  json: '[{ account_id, name, pending, processing }]',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const queues = await withDatabase(env, args, (database) => countQueue(database))
    print({
      json: queues,
      text: table([
        ['ACCOUNT', 'PENDING', 'PROCESSING', 'NAME'],
        ...queues.map((queue) => [queue.account_id, String(queue.pending), String(queue.processing), queue.name]),
      ]),
    })
  },
}

/** `queue cancel`: fails the captures of an account that have not begun, without charge. */
export const queueCancel: Command = {
  usage: 'queue cancel ACCOUNT_ID [--data DIR]',
  summary: 'cancels the captures of an account that have not begun, without charge',
  json: '{ canceled }',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = ''] = args.operands
    const canceled = await withDatabase(env, args, (database) => cancelPending(database, id, 'command line'))
    print({ json: { canceled }, text: `${canceled} captures of account ${id} are canceled` })
  },
}

/** `queue recount`: corrects the meters of an account by its captures. */
export const queueRecount: Command = {
  usage: 'queue recount ACCOUNT_ID [--data DIR]',
  summary: 'corrects the meters of an account that differ from its captures',
  json: '{ corrected: [{ meter, part, counted, actual }] }',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = ''] = args.operands
    const corrected = await withDatabase(env, args, (database) => recountMeters(database, id, 'command line'))
    const lines = corrected.map(({ meter, part, counted, actual }) => `${meter} of ${part}: ${counted}, now ${actual}`)
    print({ json: { corrected }, text: lines.join('\n') || `all meters of account ${id} are correct` })
  },
}

/** What the gateway accepts: see `POST /accounts/{id}/queue/requeue` in docs/administration.md. */
const requeueCodes = ['JOB_FAILED', 'RENDER_ERROR'] as const
const requeueMax = 1000
const sinceMsMax = 24 * 3_600_000

type Requeued = { readonly requeued: number; readonly left_out: Readonly<Record<string, number>> }

const readRequeue = (args: ParsedArgs) => {
  const codes = flagTexts(args, 'code')
  const unknown = codes.find((code) => !requeueCodes.some((each) => each === code))
  if (unknown !== undefined) throw new UsageError(`--code ${unknown}: must be one of ${requeueCodes.join(', ')}`)
  const since = flagText(args, 'since') ?? '1h'
  const sinceMs = readDuration('since', since)
  if (sinceMs > sinceMsMax) throw new UsageError(`--since ${since}: must be at most 24h`)
  return {
    ...(codes.length > 0 && { codes: [...new Set(codes)] }),
    // A second less than the bound, for the time until the gateway reads it.
    since: new Date(Date.now() - Math.min(sinceMs, sinceMsMax - 1000)).toISOString(),
    limit: flagCount(args, 'limit', { min: 1, max: requeueMax, fallback: requeueMax }),
  }
}

const describeRequeued = (id: string, { requeued, left_out: leftOut }: Requeued): string =>
  [
    `${requeued} failed captures of account ${id} are accepted again`,
    ...Object.entries(leftOut).map(([reason, count]) => `${count} are not: ${reason}`),
  ].join('\n')

/** `queue requeue`: accepts failed captures of an account again; the gateway does it, for the command line as an operator. */
export const queueRequeue: Command = {
  usage: 'queue requeue ACCOUNT_ID [--since 1h] [--code CODE]… [--limit N] [--data DIR]',
  summary: 'accepts captures of an account that failed by an error of the service again, each as a new one',
  json: '{ requeued, left_out: { reason: count } }',
  flags: {
    since: { type: 'string', value: 'TIME', help: 'how long ago they ended at most (default 1h, at most 24h)' },
    code: { type: 'string', value: 'CODE', multiple: true, help: `${requeueCodes.join(' or ')} (default both)` },
    limit: { type: 'string', value: 'N', help: `how many, those that ended first (default and at most ${requeueMax})` },
    data: dataFlag,
  },
  run: async ({ env, stop, note, print }, args) => {
    const [id = ''] = args.operands
    const body = readRequeue(args)
    const [baseUrl, pepper] = [await findBaseUrl(env, args), await findKeyPepper(env, args)]
    const { token: signInToken } = await withDatabase(env, args, (database) =>
      createOperatorLink(database, { role: 'operator', pepper, actor: 'command line' }),
    )
    const path = `/accounts/${encodeURIComponent(id)}/queue/requeue`
    const json = await postAsOperator<Requeued>({ baseUrl, signInToken, stop, note }, path, body)
    print({ json, text: describeRequeued(id, json) })
  },
}
