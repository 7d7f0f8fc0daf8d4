import { randomUUID } from 'node:crypto'
import type { Actor } from '#shared/db/audit.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { AppError } from '#shared/errors/app-error.ts'
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
  /** Of the member; null if an operator gave the link. */
  readonly email: string | null
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
  /** Of the member; null if an operator gave the link. */
  readonly email: string | null
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
const linked = readStatement(import.meta.dirname, 'sql/find-link.sql')
const ofMember = readStatement(import.meta.dirname, 'sql/link-member.sql')
const ofOperator = readStatement(import.meta.dirname, 'sql/link-operator.sql')
const end = readStatement(import.meta.dirname, 'sql/end-session.sql')
const ownAccounts = readStatement(import.meta.dirname, 'sql/list-own-accounts.sql')
const moveTo = readStatement(import.meta.dirname, 'sql/switch-account.sql')
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

/** The operator of a session in the audit log. */
export const operatorActor = ({ id }: Pick<Session, 'id'>): Actor => `operator:${id}`

/** Who is signed in by a session, in the audit log. */
const actorOf = (session: Pick<Session, 'id' | 'role'>): Actor =>
  isOperator(session) ? operatorActor(session) : `session:${session.id}`

/** The client of a sign-in, as received. */
type SignInClient = { readonly address: string; readonly userAgent: string }

/** A person whom the provider has identified, and the hash of the sign-in, which works once within `signInSeconds`. */
type Identified = {
  readonly signInHash: Buffer
  readonly signInSeconds: number
  readonly issuer: string
  readonly subject: string
}

/** How long a link of a return from the provider works. */
const returnSeconds = 300

const returned = (hash: (token: string) => Buffer, input: Identified) => {
  const token = newToken()
  const { signInHash, signInSeconds, issuer, subject } = input
  return { token, linkHash: hash(token), person: [signInHash, signInSeconds, issuer, subject] }
}

/**
 * Makes a link, for five minutes, that signs the person in to the membership that was used last. `email` binds unbound members with this
 * address to the person; null: none. Returns the link's token; `used` if the sign-in was used before, `no_account` if the person is a
 * member of no enabled account.
 */
export const linkMember = async (
  database: Sql,
  hash: (token: string) => Buffer,
  input: Identified & { readonly email: string | null },
): Promise<{ readonly token: string } | 'used' | 'no_account'> => {
  const { token, linkHash, person } = returned(hash, input)
  const values = [...person, input.email, linkHash, returnSeconds]
  const [row] = await database.query<{ memberId: string | null }>(ofMember, values)
  if (!row) return 'used'
  return row.memberId === null ? 'no_account' : { token }
}

/** Makes a link, for five minutes, that signs an operator in whom the provider has identified. Returns its token; `used` if the sign-in was used before. */
export const linkOperator = async (
  database: Sql,
  hash: (token: string) => Buffer,
  input: Identified & { readonly role: OperatorRole },
): Promise<{ readonly token: string } | 'used'> => {
  const { token, linkHash, person } = returned(hash, input)
  const rows = await database.query(ofOperator, [...person, input.role, linkHash, returnSeconds, randomUUID()])
  return rows.length > 0 ? { token } : 'used'
}

/** Whom a link signs in, and when it expires. */
type LinkedIdentity = Pick<Session, 'accountId' | 'accountName' | 'plan' | 'role' | 'email'> & {
  /** ISO 8601 UTC. */
  readonly expiresAt: string
}

/** Whom a link signs in, which stays usable; undefined unless it is valid. */
export const findLink = async (
  database: Sql,
  linkHash: Buffer,
  { consoleOperators }: Pick<SessionBounds, 'consoleOperators'>,
): Promise<LinkedIdentity | undefined> =>
  (await database.query<LinkedIdentity>(linked, [linkHash, consoleOperators]))[0]

/**
 * Signs in with a link, which cannot be used again, and ends the session that it replaces, if it is given. Returns the session's token;
 * undefined, and nothing ends, unless the link is valid.
 */
export const startSession = async (
  database: Sql,
  hash: (token: string) => Buffer,
  input: SessionBounds & SignInClient & { readonly linkToken: string; readonly replacedId: string | null },
): Promise<string | undefined> => {
  const token = newToken()
  const { sessionSeconds, sessionIdleSeconds, consoleOperators, address, userAgent, replacedId } = input
  const times = [sessionSeconds, sessionIdleSeconds]
  const from = [address, userAgent.slice(0, userAgentMax)]
  const values = [hash(input.linkToken), randomUUID(), hash(token), ...times, ...from, consoleOperators, replacedId]
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
    `select s.id, coalesce(m.role, s.role) as role, m.email, iso_time(s.created_at) as created_at,
            iso_time(s.last_seen_at) as last_seen_at, iso_time(s.expires_at) as expires_at, s.address, s.user_agent
       from console_session s left join member m on m.id = s.member_id
      where s.account_id is not distinct from $1 and s.idle_expires_at > now()
      order by s.last_seen_at desc, s.created_at desc, s.id limit ${listedMax}`,
    [accountId],
  )

/**
 * Ends a session of an account, or with null an operator's, on every replica, and records it. `address`: network of the client. Returns
 * false if there is no such session. Throws `FORBIDDEN` for that of an owner unless an owner ends it.
 */
export const endSession = async (
  database: Sql,
  of: {
    readonly accountId: string | null
    readonly id: string
    readonly by: Pick<Session, 'id' | 'role'>
    readonly address: string
  },
): Promise<boolean> => {
  const { accountId, id, by, address } = of
  const values = [id, accountId]
  const roleOf = `select coalesce(m.role, s.role) as role
    from console_session s left join member m on m.id = s.member_id where s.id = $1 and s.account_id is not distinct from $2`
  const [session] = await database.query<{ role: Role }>(roleOf, values)
  if (session?.role === 'owner' && by.role !== 'owner' && by.id !== id)
    throw new AppError('FORBIDDEN', { publicMessage: 'The session of an owner is ended by an owner alone.' })
  const how = by.id === id ? 'signed out' : 'ended by another session'
  return (await database.query(end, [...values, actorOf(by), how, address])).length > 0
}

/** An account of the person who is signed in. */
type OwnAccount = {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly is_current: boolean
}

/** Most accounts of a person in a list. */
const accountsMax = 100

/** The accounts among which the person of a session may switch, by name; at most 100. Empty unless the provider has identified them in this session. */
export const listOwnAccounts = (database: Sql, sessionId: string): Promise<OwnAccount[]> =>
  database.query<OwnAccount>(ownAccounts, [sessionId, accountsMax])

/**
 * Replaces a session by one of another account of the same person, with the same end, and records it. Returns its token, which is a new
 * one, so that other windows cannot change the other account by mistake; undefined if the person is not a member of the account.
 */
export const switchAccount = async (
  database: Sql,
  hash: (token: string) => Buffer,
  input: { readonly sessionId: string; readonly accountId: string; readonly address: string },
): Promise<string | undefined> => {
  const token = newToken()
  const values = [input.sessionId, input.accountId, randomUUID(), hash(token), input.address]
  const rows = await database.query(moveTo, values)
  return rows.length > 0 ? token : undefined
}

/** Lets an operator look into an account, and records it. Returns false if the account is unknown or disabled. */
export const viewAccount = async (database: Sql, session: Pick<Session, 'id'>, accountId: string): Promise<boolean> =>
  (await database.query(view, [session.id, accountId, operatorActor(session)])).length > 0

/** Ends an operator's look into an account, and records it. Returns false if there was none. */
export const leaveAccount = async (database: Sql, session: Pick<Session, 'id'>): Promise<boolean> =>
  (await database.query(leave, [session.id, operatorActor(session)])).length > 0
