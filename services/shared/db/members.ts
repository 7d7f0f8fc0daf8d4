import { randomUUID } from 'node:crypto'
import type { SqlEntityManager } from '@mikro-orm/postgresql'
import { AppError, type FieldErrors } from '#shared/errors/app-error.ts'
import { findAccount } from './accounts.ts'
import { type Actor, recordChange } from './audit.ts'
import type { Database, Sql } from './connection.ts'
import { Member } from './entities/member.ts'
import { isId } from './is-id.ts'
import type { Role } from './sign-in-links.ts'

/** Most members of an account. */
export const membersMax = 1000

/** A person at a provider, by its `iss` and `sub`. */
export type Subject = { readonly issuer: string; readonly subject: string }

/** A member of an account. */
export type MemberOf = { readonly accountId: string; readonly id: string }

/** A member as records show it; times are ISO 8601 UTC. */
export type MemberRow = {
  readonly id: string
  readonly email: string
  readonly role: Role
  /** Identifier at the provider; null before the first sign-in with it. */
  readonly subject: string | null
  readonly created_at: string
  readonly last_sign_in_at: string | null
}

const columns = `id, email, role, subject, iso_time(created_at) as created_at, iso_time(last_sign_in_at) as last_sign_in_at`

/** The members of an account, oldest first, at most 1,000; with `id` the one with it. */
export const findMembers = (
  database: Sql,
  { accountId, id }: { readonly accountId: string; readonly id?: string },
): Promise<MemberRow[]> =>
  database.query<MemberRow>(
    `select ${columns} from member m where account_id = $1 and ($2::uuid is null or id = $2::uuid)
      order by m.created_at, id limit ${membersMax}`,
    [accountId, id ?? null],
  )

const invalid = (details: FieldErrors) => new AppError('VALIDATION_ERROR', { details })

/** All changes lock the account, so that of concurrent ones none removes the last owner. */
const findMember = async (entities: SqlEntityManager, { accountId, id }: MemberOf) => {
  const account = await findAccount(entities, accountId, 'lock')
  const member = isId(id) ? await entities.findOne(Member, { id, account }) : null
  if (!member) throw new AppError('NOT_FOUND', { publicMessage: `there is no member ${id}` })
  return { account, member }
}

const assertOtherOwner = async (entities: SqlEntityManager, { accountId, id }: MemberOf): Promise<void> => {
  if ((await entities.count(Member, { account: accountId, role: 'owner', id: { $ne: id } })) > 0) return
  const publicMessage = 'The last owner of the account keeps this role: make another member an owner first.'
  throw new AppError('FORBIDDEN', { publicMessage })
}

/**
 * Adds a member, known by `person` from the start if given, and returns the id. Throws `NOT_FOUND` for an unknown account,
 * `VALIDATION_ERROR` if the account has this member or 1,000 others.
 */
export const addMember = (
  database: Database,
  input: {
    readonly accountId: string
    readonly email: string
    readonly role: Role
    readonly person?: Subject | undefined
  },
  actor: Actor,
): Promise<string> =>
  database.entities(async (entities) => {
    const account = await findAccount(entities, input.accountId, 'lock')
    const { role, person } = input
    const email = input.email.toLowerCase()
    const is = person ? [{ email }, { ...person }] : [{ email }]
    if ((await entities.count(Member, { account, $or: is })) > 0)
      throw invalid({ email: ['is that of a member already'] })
    if ((await entities.count(Member, { account })) >= membersMax)
      throw invalid({ account: [`has ${membersMax} members, the most of an account; remove one first`] })
    const id = randomUUID()
    entities.create(Member, { id, account, email, role, ...person, addedBy: actor, createdAt: new Date() })
    recordChange(entities, { actor, action: 'member.add', target: id, detail: { account: account.id, email, role } })
    return id
  })

/** Changes the role of a member, also of the sessions. Throws `NOT_FOUND`; `FORBIDDEN` if no other owner would be left. */
export const setRole = (database: Database, of: MemberOf, role: Role, actor: Actor): Promise<void> =>
  database.entities(async (entities) => {
    const { account, member } = await findMember(entities, of)
    if (member.role === 'owner' && role !== 'owner') await assertOtherOwner(entities, of)
    const detail = { account: account.id, from: member.role, to: role }
    member.role = role
    recordChange(entities, { actor, action: 'member.set_role', target: member.id, detail })
  })

const endSessions = `with ended as (delete from console_session where member_id = ? returning id, account_id, role)
insert into audit_entry (id, at, actor, action, target, detail)
select gen_random_uuid(), now(), ?, 'session.end', id,
       json_build_object('how', 'member removed', 'account', account_id, 'role', role, 'member', ?::uuid) from ended`

/** Removes a member and ends their sessions and links. Throws as `setRole`. */
export const removeMember = (database: Database, of: MemberOf, actor: Actor): Promise<void> =>
  database.entities(async (entities) => {
    const { account, member } = await findMember(entities, of)
    if (member.role === 'owner') await assertOtherOwner(entities, of)
    await entities.execute(endSessions, [member.id, actor, member.id])
    entities.remove(member)
    const detail = { account: account.id, email: member.email }
    recordChange(entities, { actor, action: 'member.remove', target: member.id, detail })
  })
