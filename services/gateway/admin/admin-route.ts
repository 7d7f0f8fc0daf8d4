import type { Actor } from '#shared/db/audit.ts'
import type { Database } from '#shared/db/connection.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { Context } from '#gateway/context.ts'

/** What accepts captures in the name of an account. */
export type Accepting = Pick<
  Context,
  | 'objects'
  | 'sealingKeys'
  | 'longestWaitSeconds'
  | 'now'
  | 'allowTargets'
  | 'hasStealth'
  | 'publisher'
  | 'inMaintenance'
> & { readonly windowCaptures: number }

/** What the administration works with. */
export type Admin = { readonly database: Database; readonly keyPepper: string; readonly accepting: Accepting }

/** A request of somebody who has a token of the administration. */
export type AdminRequest = {
  /** Who the audit log says it was. */
  readonly actor: Actor
  /** Named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** What follows the question mark, undecoded. */
  readonly query: string
  /** Reads the body as JSON. Throws `BAD_REQUEST` where it is none. */
  readonly readJson: () => Promise<unknown>
}

/** One operation of the administration. `path` is below `/admin/v1`. */
export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly run: (admin: Admin, request: AdminRequest) => Promise<Answer>
}
