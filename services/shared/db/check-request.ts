import type { Scope } from '#shared/policy/scopes.ts'
import type { TargetTexts } from '#shared/policy/target-lists.ts'
import type { Sql } from './connection.ts'

/** An account's requests in the current minute. `resetUnix`: its end, in seconds since 1970. */
type RateState = { readonly limit: number; readonly remaining: number; readonly resetUnix: number }

/** Quota of an account in its period. `limit` and `remaining` are null on a plan without a limit. */
export type UsageState = {
  readonly used: number
  readonly limit: number | null
  readonly remaining: number | null
  /** ISO 8601 UTC. */
  readonly periodStart: string
  /** ISO 8601 UTC. */
  readonly resetAt: string
  readonly overage: number
  /** Exact decimal as text; null if the plan has no overage. */
  readonly overagePrice: string | null
}

/**
 * A position in the WAL of the primary: all that it had committed with `synchronous_commit` is before it. `timeline`: as in names of
 * WAL files; `bytes`: from the beginning of the WAL.
 */
export type WalPosition = { readonly timeline: string; readonly bytes: number }

/** Selects a `WalPosition` on the primary. */
export const walPosition = `left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) as timeline,
  (pg_current_wal_flush_lsn() - '0/0')::float8 as bytes`

/** The caller, once the key was found. */
export type Caller = {
  readonly accountId: string
  readonly plan: string
  readonly rate: RateState | null
  readonly usage: UsageState
  /** Of the check, if it was requested. */
  readonly walPosition?: WalPosition
}

/** The lists of targets of an account, and the SHA-256 by which the accept statement knows them. */
export type StoredTargets = { readonly sha256: Buffer; readonly texts: TargetTexts }

/** Why the database rejected a request; `caller` is absent only with `INVALID_API_KEY`. */
export type Refusal = {
  readonly ok: false
  readonly code:
    | 'INVALID_API_KEY'
    | 'DOMAIN_NOT_ALLOWED'
    | 'FORBIDDEN'
    | 'RATE_LIMIT_EXCEEDED'
    | 'FEATURE_NOT_AVAILABLE'
    | 'IDEMPOTENCY_MISMATCH'
    | 'QUEUE_FULL'
    | 'USAGE_LIMIT_EXCEEDED'
    | 'SERVICE_UNAVAILABLE'
  /**
   * For `FEATURE_NOT_AVAILABLE`: the features that the plan lacks; for `DOMAIN_NOT_ALLOWED`: the domains of the key; for
   * `FORBIDDEN`: the scopes of which it has none; for `INVALID_API_KEY`: when it was revoked or expired, as `keyState` says.
   */
  readonly grounds?: readonly string[]
  /** For `FEATURE_NOT_AVAILABLE`: the name of the cheapest plan that includes what was requested. */
  readonly sufficientPlan?: string
  /**
   * For `INVALID_API_KEY`, if there is such a key; `disabled`: its account is; `moved`: it is another installation's now. For
   * `SERVICE_UNAVAILABLE`: the account is being moved there, or has been; absent: the lists of targets are stale.
   */
  readonly keyState?: 'revoked' | 'expired' | 'disabled' | 'moving' | 'moved'
  readonly retryAfterSeconds?: number
  /** For `INVALID_API_KEY`: there is no such key, so it cannot become valid. */
  readonly isUnknown?: true
  /** For `RATE_LIMIT_EXCEEDED`: milliseconds left of the minute, by the database's clock. */
  readonly windowLeftMs?: number
  readonly caller?: Caller
  /** Without `keyState`: the lists of targets of the account, which the capture was not sealed with; absent: empty. */
  readonly targets?: StoredTargets
}

/** How a capture shares another's result: it exists already, or arrives when the other capture ends. */
export type Shared = 'hit' | 'follows'

/** A `request_check` of the database as `requestColumns` selects it. */
export type RequestRow = Partial<WalPosition> & {
  readonly refusal: Refusal['code'] | null
  readonly retryAfterSeconds: number | null
  readonly keyUnknown: boolean | null
  readonly grounds: readonly string[] | null
  readonly sufficientPlan: string | null
  readonly keyState: NonNullable<Refusal['keyState']> | null
  /** Null: no account may be served. */
  readonly accountId: string | null
  readonly plan: string
  readonly rateLimit: number | null
  readonly rateRemaining: number
  readonly rateReset: number
  readonly rateLeftMs: number | null
  readonly usageLimit: number | null
  readonly used: number
  readonly periodStart: string
  readonly usageReset: string
  readonly overagePrice: string | null
  readonly createdAt: string
  readonly admitted: boolean
  readonly shared: Shared | null
  readonly replayOf: string | null
  readonly admittedIds: readonly string[] | null
  readonly targets: TargetTexts | null
  readonly targetsSha256: Buffer | null
}

/** A row of the functions that serve several requests: `place` counts from 1. */
export type TogetherRow = RequestRow & { readonly place: number; readonly locked: boolean }

/** Result columns of SQL's `check_request` and `accept_capture`. */
export const requestColumns = `refusal, retry_after_seconds as "retryAfterSeconds",
  key_unknown as "keyUnknown", key_state as "keyState", grounds, sufficient_plan as "sufficientPlan", account_id as "accountId", plan,
  rate_limit as "rateLimit", rate_remaining as "rateRemaining", rate_reset::float8 as "rateReset",
  (rate_reset - extract(epoch from clock_timestamp()))::float8 * 1000 as "rateLeftMs",
  usage_limit as "usageLimit", used::float8 as used, iso_time(period::timestamp at time zone 'utc') as "periodStart",
  iso_time(usage_reset) as "usageReset", overage_price::text as "overagePrice",
  iso_time(created_at) as "createdAt", admitted, shared, replay_of as "replayOf", admitted_ids as "admittedIds",
  targets, targets_sha256 as "targetsSha256"`

const toUsage = ({ usageLimit: limit, used, periodStart, usageReset, overagePrice }: RequestRow): UsageState => ({
  used,
  limit,
  remaining: limit === null ? null : Math.max(0, limit - used),
  periodStart,
  resetAt: usageReset,
  overage: limit === null ? 0 : Math.max(0, used - limit),
  overagePrice,
})

const toCaller = ({ timeline, bytes, ...row }: RequestRow): Caller => ({
  accountId: row.accountId ?? '',
  plan: row.plan,
  rate:
    row.rateLimit === null ? null : { limit: row.rateLimit, remaining: row.rateRemaining, resetUnix: row.rateReset },
  usage: toUsage(row),
  ...(timeline !== undefined && bytes !== undefined && { walPosition: { timeline, bytes } }),
})

/** Whether a request may go on. */
export type Verdict = { readonly ok: true; readonly caller: Caller } | Refusal

/** Converts a row to the verdict on a request. */
export const toVerdict = (row: RequestRow): Verdict => {
  if (row.refusal === null) return { ok: true, caller: toCaller(row) }
  return {
    ok: false,
    code: row.refusal,
    ...(row.grounds !== null && { grounds: row.grounds }),
    ...(row.sufficientPlan !== null && { sufficientPlan: row.sufficientPlan }),
    ...(row.keyState && { keyState: row.keyState }),
    ...(row.retryAfterSeconds !== null && { retryAfterSeconds: row.retryAfterSeconds }),
    ...(row.keyUnknown === true && { isUnknown: true }),
    ...(row.refusal === 'RATE_LIMIT_EXCEEDED' && row.rateLeftMs !== null && { windowLeftMs: row.rateLeftMs }),
    ...(row.targets && row.targetsSha256 && { targets: { texts: row.targets, sha256: row.targetsSha256 } }),
    ...(row.accountId !== null && { caller: toCaller(row) }),
  }
}

/** A request to check: the hash of its key, the host of the page that sent it, and the scopes of which the key needs one. */
export type CheckedRequest = {
  readonly keyHash: Buffer
  readonly originHost: string | null
  readonly scopes: readonly Scope[]
  /** A session of the console acts for this account: no key is checked, and nothing counted. */
  readonly accountId?: string
  /** Whether the caller gets the WAL position. */
  readonly isPositioned?: boolean
}

const check = (synchronousCommit: string) =>
  `from (select place, locked, (outcome).* from check_requests($1, $2, $3, $4, $5) as f) as o,
  set_config('synchronous_commit', ${synchronousCommit}, true)`
// Its commit does not wait for the disk: a server that crashes forgets at most the counts of the last moments, and no request waits.
const statement = `select place, locked, ${requestColumns} ${check("'off'")}`
/**
 * Without synchronous commits WAL is flushed up to the end of a page first, often within a record, and up to the end of that only
 * `wal_writer_delay` later; until then no replica can apply it. So a check that finds this position flushes its commit, and the record.
 */
const flushRecord = `case when mod(pg_current_wal_flush_lsn() - '0/0', current_setting('wal_block_size')::int) = 0 then 'local' else 'off' end`
const positionedStatement = `select place, locked, ${requestColumns}, ${walPosition} ${check(flushRecord)}`

/**
 * Checks key, domain, scopes and minute limit of requests that accept no capture, and counts them, in one round trip: their verdicts
 * in the order of the requests. `locked`: another transaction had locked the account's counts, and the request is to be checked again
 * with `waits`, without those of other accounts.
 */
export const checkRequests = async (
  database: Sql,
  requests: readonly CheckedRequest[],
  { waits }: { readonly waits: boolean },
): Promise<(Verdict | 'locked')[]> => {
  const values = [
    waits,
    requests.map(({ keyHash }) => keyHash),
    requests.map(({ originHost }) => originHost),
    requests.map(({ accountId }) => accountId ?? null),
    requests.map(({ scopes }) => `{${scopes.join(',')}}`),
  ]
  const isPositioned = requests.some((request) => request.isPositioned)
  const rows = await database.query<TogetherRow>(isPositioned ? positionedStatement : statement, values, 'keep')
  const verdicts: (Verdict | 'locked')[] = []
  for (const { place, locked, ...row } of rows) verdicts[place - 1] = locked ? 'locked' : toVerdict(row)
  return verdicts
}

/** Checks a single request as `checkRequests` does. */
export const checkRequest = async (database: Sql, request: CheckedRequest): Promise<Verdict> => {
  const [verdict] = await checkRequests(database, [request], { waits: true })
  if (verdict === undefined || verdict === 'locked') throw new Error('PostgreSQL: check_requests returned no verdict')
  return verdict
}
