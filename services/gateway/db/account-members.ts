import type { Actor } from '#shared/db/audit.ts'
import type { Database } from '#shared/db/connection.ts'
import { addMember, findMembers, type MemberOf, removeMember, setRole, type Subject } from '#shared/db/members.ts'
import { createSignInLink, type NewSignInLink, type Role } from '#shared/db/sign-in-links.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { MemberRecord } from '#gateway/records/member.ts'

/** The members of accounts, for their own requests. */
export type AccountMembers = ReturnType<typeof accountMembersIn>

/** `pepper`: sign-in links are hashed with it. */
export const accountMembersIn = (database: Database, pepper: string) => {
  const show = async ({ accountId, id }: MemberOf): Promise<MemberRecord> => {
    const [member] = await findMembers(database, { accountId, id })
    if (member) return member
    throw new AppError('NOT_FOUND')
  }
  return {
    /** The members of an account, oldest first; at most 1,000. */
    list: (accountId: string): Promise<MemberRecord[]> => findMembers(database, { accountId }),
    /** Throws as `addMember`. */
    add: async (
      accountId: string,
      fields: { readonly email: string; readonly role: Role; readonly person: Subject | undefined },
      actor: Actor,
    ): Promise<MemberRecord> => show({ accountId, id: await addMember(database, { accountId, ...fields }, actor) }),
    /** Throws as `setRole`. */
    setRole: async (of: MemberOf, role: Role, actor: Actor): Promise<MemberRecord> => {
      await setRole(database, of, role, actor)
      return await show(of)
    },
    /** Throws as `removeMember`. */
    remove: (of: MemberOf, actor: Actor): Promise<void> => removeMember(database, of, actor),
    /** Creates a link that signs in as the member. Throws `NOT_FOUND`. */
    createLink: async (of: MemberOf, actor: Actor): Promise<NewSignInLink> => {
      const { role } = await show(of)
      return await createSignInLink(database, { accountId: of.accountId, role, memberId: of.id, pepper, actor })
    },
  }
}
