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

/** `state` is `ok`, or why not. */
export type Part = {
  readonly name: string
  readonly state: string
  readonly version?: string | null
  readonly kind?: 'files' | 's3' | null
}

/** Installed browsers of workers with the same version and build time. `advice` is set if they are old. */
export type InstalledBrowser = {
  readonly browser: 'shell' | 'full'
  readonly version: string
  readonly built_at: string | null
  readonly age_days: number | null
  readonly advice: string | null
  readonly workers: number
}

/** A check of the installation. `advice` is set unless it passed. */
export type Finding = {
  readonly name: string
  readonly state: 'ok' | 'warning' | 'failed'
  readonly detail: string
  readonly advice: string | null
}

/** Work in the background: what is left to do, and since when the first waits. */
export type Task = { readonly name: string; readonly waiting: number | null; readonly since: string | null }

/** Health of the gateway that responds, of the stores, and of the services that it observes. */
export type Health = {
  readonly version: string
  readonly node: string
  readonly started_at: string
  readonly stores: readonly Part[]
  readonly services: readonly Part[]
  readonly tasks: readonly Task[]
  readonly advice: string | null
}

/** A receiver of webhooks that does not answer. */
export type PausedHost = {
  readonly host: string
  readonly account_id: string
  readonly account_name: string
  readonly unanswered: number
  readonly paused_until: string
}

/** A setting of the gateway. */
export type SettingInForce = { readonly name: string; readonly value: string; readonly is_default: boolean }

/** How a decision on a pool differs from the one before. `ready` is missing if the workers could not be read. */
export type DecisionChange = {
  readonly at: string
  readonly desired: number
  readonly ready?: number
  readonly min: number
  readonly max: number
  readonly decision: string
  readonly reason: string
}

/** A pool with the latest changes of its decisions, newest first. */
export type BrowserPool = { readonly name: string; readonly state: string; readonly changes: readonly DecisionChange[] }

/** A worker as it reports itself. */
export type Worker = {
  readonly pod: string
  readonly state: string
  readonly slots: number
  readonly busy: number
  readonly captures: readonly string[]
  readonly service_ms: number | null
}

/** That an operator has paused a pool. `until` is null if it does not end by itself. */
export type PoolPause = {
  readonly since: string
  readonly by: string
  readonly reason: string
  readonly until: string | null
  readonly state: 'pausing' | 'draining' | 'drained'
}

/** What waits and runs of a lane. `objective_seconds` is null if the controller has reported none. */
export type LaneState = {
  readonly lane: string
  readonly pending: number
  readonly processing: number
  readonly oldest_seconds: number
  readonly objective_seconds: number | null
}

/** A queue with the pools and workers that serve it. */
export type PoolState = {
  readonly pool: string
  readonly pending: number
  readonly processing: number
  readonly oldest_seconds: number
  readonly pause: PoolPause | null
  readonly lanes: readonly LaneState[]
  readonly browser_pools: readonly BrowserPool[]
  readonly workers: readonly Worker[]
}

/** What happened to a capture of any account, without what it shows. */
export type TracedCapture = {
  readonly id: string
  readonly account_id: string
  readonly account_name: string
  readonly status: 'pending' | 'processing' | 'completed' | 'failed'
  readonly pool: string
  readonly lane: string
  readonly attempts: number
  readonly cached: boolean
  readonly batch_id: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly completed_at: string | null
  readonly expires_at: string | null
  readonly file_size: number | null
  readonly mime_type: string | null
  readonly timings: Readonly<Record<string, number>> | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly traceparent: string | null
}

/** An account with captures in the queue. */
export type QueuedAccount = {
  readonly account_id: string
  readonly name: string
  readonly pending: number
  readonly processing: number
}
