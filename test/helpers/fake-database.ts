import type { AcceptBatchOutcome, NewBatch } from '#gateway/db/accept-batch.ts'
import type { Accepted, AcceptOutcome, NewCapture } from '#gateway/db/accept-capture.ts'
import type { Account } from '#gateway/records/account.ts'
import type { Batch } from '#gateway/records/batch.ts'
import type { Delivery } from '#gateway/records/delivery.ts'
import type { Caller, Refusal, RequestRow, Verdict } from '#shared/db/check-request.ts'
import type { Sql } from '#shared/db/connection.ts'
import type { StoredCapture } from '#shared/db/find-capture.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

/** What the gateway's statements return. `list` and `deliveries` take the parameters of their statement. */
export type DatabaseAnswers = {
  accept: () => AcceptOutcome
  check: () => Verdict
  acceptBatch: (batch: NewBatch) => AcceptBatchOutcome
  find: (id: string) => StoredCapture | undefined
  list: (parameters: readonly unknown[]) => readonly StoredCapture[]
  account: () => Account | undefined
  findBatch: (id: string) => Batch | undefined
  deliveries: (parameters: readonly unknown[]) => readonly Delivery[]
  /** Whether the plan includes signed links. */
  signs: boolean
  /** What a view of a link reads, as a row. */
  rendering: Readonly<Record<string, unknown>>
}

/** What the gateway has sent to the database, its records opened. */
export type DatabaseCalls = {
  accepted: (NewCapture & { counted: boolean })[]
  tried: (NewCapture & { counted: boolean })[]
  batches: NewBatch[]
  checks: number
}

/** The fields of any outcome. */
type Outcome = { readonly ok: boolean; readonly caller?: Caller } & Partial<
  Omit<Refusal, 'ok' | 'caller'> & Omit<Accepted, 'ok' | 'caller'> & { admittedIds: readonly string[] }
>

const emptyRow = {
  ...{
    refusal: null,
    retryAfterSeconds: null,
    keyUnknown: null,
    keyState: null,
    grounds: null,
    sufficientPlan: null,
    rateLeftMs: null,
  },
  ...{ rateLimit: null, rateRemaining: 0, rateReset: 0 },
  ...{ createdAt: '', admitted: false, shared: null, replayOf: null, admittedIds: null },
  ...{ targets: null, targetsSha256: null },
}

const usedOf = ({ limit, remaining, used, overage }: Caller['usage']): number => {
  if (limit === null || remaining === null) return used
  return overage > 0 ? limit + overage : limit - remaining
}

const callerColumns = ({ accountId, plan, rate, usage }: Caller) => ({
  accountId,
  plan,
  ...(rate && { rateLimit: rate.limit, rateRemaining: rate.remaining, rateReset: rate.resetUnix }),
  usageLimit: usage.limit,
  used: usedOf(usage),
  periodStart: usage.periodStart,
  usageReset: usage.resetAt,
  overagePrice: usage.overagePrice,
})

/** The row from which the gateway reads an outcome. */
const rowOf = (
  { ok: _ok, caller, code: refusal, isUnknown: keyUnknown, windowLeftMs: rateLeftMs, ...rest }: Outcome,
  anyone: Caller,
): RequestRow => {
  const columns = Object.entries({ refusal, keyUnknown, rateLeftMs, ...rest })
  const present = Object.fromEntries(columns.filter(([, value]) => value !== undefined))
  return { ...emptyRow, ...callerColumns(caller ?? anyone), ...present }
}

/** The parameters of a call by name, in camel case. */
const namedParameters = (statement: string, values: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(
    [...statement.matchAll(/p_(\w+) => \$(\d+)/g)].map(([, name = '', place]) => [
      name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      values[Number(place) - 1],
    ]),
  )

const idempotencyOf = ({ idempotencyKey: key, requestSha256 }: Record<string, unknown>) =>
  key === undefined ? undefined : { key, requestSha256 }

const captureOf = (named: Record<string, unknown>): DatabaseCalls['accepted'][0] => {
  const { cacheKey: key, cacheSeconds: seconds, options } = named
  const sealed: Record<string, unknown> = {
    ...named,
    options: JSON.parse(options as string),
    sharing: key === undefined ? undefined : { key, seconds },
    idempotency: idempotencyOf(named),
  }
  return testRecords.open(sealed as DatabaseCalls['accepted'][0])
}

const batchOf = (named: Record<string, unknown>): NewBatch => {
  const lists = named as { ids: string[] } & Record<
    'urls' | 'options' | 'sealed' | 'tokenHashes' | 'cacheKeys',
    unknown[]
  >
  const members = lists.ids.map((id, at) => {
    const member: Record<string, unknown> = {
      id,
      url: lists.urls[at],
      options: JSON.parse(lists.options[at] as string),
      sealed: lists.sealed[at],
      tokenHash: lists.tokenHashes[at],
      cacheKey: lists.cacheKeys[at] ?? undefined,
    }
    return testRecords.open(member as NewBatch['members'][0])
  })
  const batch: Record<string, unknown> = { ...named, id: named['batchId'], members, idempotency: idempotencyOf(named) }
  return batch as NewBatch
}

/** A stand-in database: returns the test's answers, and records what it was called to accept. */
export const createFakeDatabase = (calls: DatabaseCalls, answers: DatabaseAnswers, anyone: Caller) => {
  const accept = (statement: string, values: readonly unknown[]) => {
    const { checkOnly, ...named } = namedParameters(statement, values)
    const list = checkOnly === true ? calls.tried : calls.accepted
    list.push(captureOf(named))
    return [rowOf(answers.accept(), anyone)]
  }
  const acceptBatch = (statement: string, values: readonly unknown[]) => {
    const batch = batchOf(namedParameters(statement, values))
    calls.batches.push(batch)
    return [rowOf(answers.acceptBatch(batch), anyone)]
  }
  const check = (_statement: string, values: readonly unknown[]) => {
    const keyHashes = values[1] as readonly unknown[]
    calls.checks += keyHashes.length
    return keyHashes.map((_, index) => ({ ...rowOf(answers.check(), anyone), place: index + 1, locked: false }))
  }
  const list = (_statement: string, values: readonly unknown[]) => {
    const captures = answers.list(values)
    return [{ captures, hasOpposite: false, counted: captures.length, estimate: captures.length }]
  }
  const present = <T>(found: T | undefined) => (found === undefined ? [] : [found])
  const firstId = (values: readonly unknown[]) => values[0] as string
  const responses: readonly (readonly [
    RegExp,
    (statement: string, values: readonly unknown[]) => readonly unknown[],
  ])[] = [
    [/accept_capture\(/, accept],
    [/accept_batch\(/, acceptBatch],
    [/check_requests\(/, check],
    [/^with page as/, list],
    [/as "attemptKey"/, () => [answers.rendering]],
    [
      /'signed_urls' = any/,
      (_, values) => [{ allowed: answers.signs, found: answers.find(firstId(values)) !== undefined }],
    ],
    [/'webhooks' = any/, () => [{ allowed: true }]],
    [/delete_capture/, (_, values) => [{ deleted: answers.find(firstId(values)) !== undefined }]],
    [/from webhook_delivery d/, (_, values) => answers.deliveries(values)],
    [/from batch b/, (_, values) => present(answers.findBatch(firstId(values)))],
    [/from account a join plan p/, () => present(answers.account())],
    [/from capture where id = \$1/, (_, values) => present(answers.find(firstId(values)))],
  ]
  const query: Sql['query'] = async <Row extends object>(statement: string, values: readonly unknown[] = []) => {
    const [, respond] = responses.find(([form]) => form.test(statement)) ?? []
    return (respond?.(statement, values) ?? []) as Row[]
  }
  return { query, transaction: <T>(work: (sql: Sql) => Promise<T>) => work({ query }) }
}
