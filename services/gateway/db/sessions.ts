import { randomUUID } from 'node:crypto'
import type { Actor } from '#shared/db/audit.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { newToken, type OperatorRole, operatorRoles, type Role } from '#shared/db/sign-in-links.ts'

/** A session of the console that has not ended. Times are ISO 8601 UTC. */
export type Session = {
  readonly id: string
  /** The account that it identifies; of an operator the one that is viewed, null: none. */
  readonly accountId: string | null
  readonly accountName: string | null
  /** Slug. */
  readonly plan: string | null
  readonly role: Role | OperatorRole
  readonly createdAt: string
  readonly expiresAt: string
  /** When it ends without another request. */
  readonly idleExpiresAt: string
}

/** A session that identifies a request, with the hash by which it is found. */
export type ActiveSession = Session & { readonly tokenHash: Buffer }

/** A session in the list of an account. `last_seen_at` is to the minute; `address` and `user_agent` are those of the sign-in. */
export type ListedSession = {
  readonly id: string
  readonly role: Role | OperatorRole
  readonly created_at: string
  readonly last_seen_at: string
  readonly expires_at: string
  readonly address: string
  readonly user_agent: string
}

/** Longest `User-Agent` that is stored. */
const userAgentMax = 500
/** Most sessions in a list. */
const listedMax = 100

const start = readStatement(import.meta.dirname, 'sql/start-session.sql')
const find = readStatement(import.meta.dirname, 'sql/find-session.sql')
const view = readStatement(import.meta.dirname, 'sql/view-account.sql')
const leave = readStatement(import.meta.dirname, 'sql/leave-account.sql')

/** How long sessions last, in all and without a request, and whether operators may have one. */
export type SessionBounds = {
  readonly sessionSeconds: number
  readonly sessionIdleSeconds: number
  readonly consoleOperators: boolean
}

/** Whether the session is an operator's, who belongs to no account. */
export const isOperator = ({ role }: Pick<Session, 'role'>): boolean => operatorRoles.some((each) => each === role)

/** Signs in with a link, which cannot be used again. Returns the session's token; undefined unless the link is valid. */
export const startSession = async (
  database: Sql,
  hash: (token: string) => Buffer,
  input: SessionBounds & { readonly linkToken: string; readonly address: string; readonly userAgent: string },
): Promise<string | undefined> => {
  const token = newToken()
  const { sessionSeconds, sessionIdleSeconds, consoleOperators, address, userAgent } = input
  const times = [sessionSeconds, sessionIdleSeconds]
  const from = [address, userAgent.slice(0, userAgentMax)]
  const values = [hash(input.linkToken), randomUUID(), hash(token), ...times, ...from, consoleOperators]
  return (await database.query(start, values)).length > 0 ? token : undefined
}

/** The session with this hash, extended by its use; undefined if it has ended. */
export const findSession = async (
  database: Sql,
  tokenHash: Buffer,
  { sessionIdleSeconds, consoleOperators }: SessionBounds,
): Promise<Session | undefined> =>
  (await database.query<Session>(find, [tokenHash, sessionIdleSeconds, consoleOperators]))[0]

/** The sessions of an account, or with null of operators, that have not ended, last used first; at most 100. */
export const listSessions = (database: Sql, accountId: string | null): Promise<ListedSession[]> =>
  database.query<ListedSession>(
    `select id, role, iso_time(created_at) as created_at, iso_time(last_seen_at) as last_seen_at,
            iso_time(expires_at) as expires_at, address, user_agent
       from console_session s where (account_id = $1 or $1::uuid is null and account_id is null) and idle_expires_at > now()
      order by s.last_seen_at desc, s.created_at desc, id limit ${listedMax}`,
    [accountId],
  )

/** Ends a session of an account, or with null an operator's, on every replica. Returns false if there is no such session. */
export const endSession = async (database: Sql, of: { readonly accountId: string | null; readonly id: string }) => {
  const statement = 'delete from console_session where id = $1 and account_id is not distinct from $2 returning id'
  return (await database.query(statement, [of.id, of.accountId])).length > 0
}

/** The operator of a session in the audit log. */
export const operatorActor = ({ id }: Pick<Session, 'id'>): Actor => `operator:${id}`

/** Lets an operator look into an account, and records it. Returns false if the account is unknown or disabled. */
export const viewAccount = async (database: Sql, session: Pick<Session, 'id'>, accountId: string): Promise<boolean> =>
  (await database.query(view, [session.id, accountId, operatorActor(session)])).length > 0

/** Ends an operator's look into an account, and records it. Returns false if there was none. */
export const leaveAccount = async (database: Sql, session: Pick<Session, 'id'>): Promise<boolean> =>
  (await database.query(leave, [session.id, operatorActor(session)])).length > 0
