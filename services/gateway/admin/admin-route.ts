import type { Actor } from '#shared/db/audit.ts'
import type { Database } from '#shared/db/connection.ts'
import type { SettingInForce } from '#gateway/context/config.ts'
import type { Context, Gateway } from '#gateway/context/context.ts'

/** Dependencies of accepting captures on behalf of an account. */
export type AcceptDependencies = Pick<
  Context,
  | 'objects'
  | 'sealingKeys'
  | 'records'
  | 'longestWaitSeconds'
  | 'now'
  | 'allowTargets'
  | 'targetLists'
  | 'accountTargets'
  | 'hasStealth'
  | 'publisher'
  | 'inMaintenance'
  | 'windowCaptures'
>

/** Dependencies of the admin API. */
export type Admin = {
  readonly database: Database
  readonly keyPepper: string
  /** Whether operators may sign in to the console. */
  readonly consoleOperators: boolean
  readonly publicUrl: () => string
  readonly accepting: AcceptDependencies
  /** Health of this gateway, with the state of each store. */
  readonly health: Gateway['health']
  /** What the other services report over NATS. */
  readonly fleet: Gateway['fleet']
  readonly settings: readonly SettingInForce[]
}

/** A request with a valid admin token. */
export type AdminRequest = {
  /** The actor for the audit log. */
  readonly actor: Actor
  /** The `:id` of the path, decoded; empty if the path has none. */
  readonly id: string
  /** The query without its question mark, undecoded. */
  readonly query: string
  /** Reads the body as JSON. Throws `BAD_REQUEST` if it is invalid. */
  readonly readJson: () => Promise<unknown>
}

/** One operation of the admin API. `path` is below `/admin/v1`. */
export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  /** Its response has a key or link that identifies somebody; not served in the console. */
  readonly givesCredential?: true
  /** Returns the `data` of the response; undefined for a response without a body. */
  readonly run: (admin: Admin, request: AdminRequest) => Promise<unknown>
}
