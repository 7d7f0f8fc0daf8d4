/** Path of the operations for operators. */
export const operatorPath = '/console/api/operator'

/** An account as operators see it. */
export type OperatedAccount = {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly plan: string
  readonly created_at: string
  readonly disabled_at: string | null
  readonly erasing_at: string | null
  readonly usage: { readonly screenshots_used: number; readonly screenshots_limit: number | null }
  readonly queue: { readonly pending: number; readonly processing: number }
}

/** A plan in force. */
export type PlanInForce = {
  readonly slug: string
  readonly name: string
  readonly screenshots_per_month: number | null
  readonly rate_limit_per_minute: number | null
  readonly retention_seconds: number
  readonly max_pending: number
  readonly weight: number
}

/** A key of an account, without the key. */
export type OperatedKey = {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly created_at: string
  readonly revoked_at: string | null
}

/** A recorded change. */
export type AuditEntry = {
  readonly id: string
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly detail: Readonly<Record<string, unknown>>
}

/** Health of the gateway that responds, and of the stores. */
export type Health = {
  readonly version: string
  readonly node: string
  readonly started_at: string
  readonly stores: readonly { readonly name: string; readonly state: string }[]
}

/** A pool with its queue. */
export type PoolState = {
  readonly pool: string
  readonly pending: number
  readonly processing: number
  readonly oldest_seconds: number
  readonly lanes: readonly { readonly lane: string; readonly pending: number; readonly processing: number }[]
}

/** An account with captures in the queue. */
export type QueuedAccount = {
  readonly account_id: string
  readonly name: string
  readonly pending: number
  readonly processing: number
}
