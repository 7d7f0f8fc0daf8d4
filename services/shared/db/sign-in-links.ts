import { randomBytes, randomUUID } from 'node:crypto'
import { findAccount } from './accounts.ts'
import { type Actor, recordChange } from './audit.ts'
import type { Database } from './connection.ts'
import { SignInLink } from './entities/sign-in-link.ts'
import { confirmPepper } from './key-pepper.ts'
import { createKeyHash } from './key-hash.ts'

/** What a person may do in the console: a viewer only reads. */
export const roles = ['owner', 'member', 'viewer'] as const

/** See `roles`. */
export type Role = (typeof roles)[number]

/** What a person may do in the console who operates the installation and belongs to no account. */
export const operatorRoles = ['operator', 'operator_read_only'] as const

/** See `operatorRoles`. */
export type OperatorRole = (typeof operatorRoles)[number]

const linkMinutes = 15
const tokenBytes = 32

/** A random token of 43 characters, as links and sessions have. */
export const newToken = (): string => randomBytes(tokenBytes).toString('base64url')

/** A new link: its token, which is not stored, and its end. */
export type NewSignInLink = { readonly token: string; readonly expiresAt: Date }

const newLink = (): NewSignInLink => ({ token: newToken(), expiresAt: new Date(Date.now() + linkMinutes * 60_000) })

/** The link as JSON of the admin API and the command line. The token is in the fragment, which no server or proxy receives. */
export const signInLinkToJson = (baseUrl: string, { token, expiresAt }: NewSignInLink) => ({
  url: `${baseUrl}/console/sign-in#token=${token}`,
  expires_at: expiresAt.toISOString(),
})

/**
 * Creates a link that signs one person in to the console of an account, once, within 15 minutes; with `memberId` as that member,
 * whose current role counts. Throws `NOT_FOUND` for an unknown account, `CONFIGURATION` if the database's keys are hashed with
 * another pepper.
 */
export const createSignInLink = async (
  database: Database,
  input: {
    readonly accountId: string
    readonly role: Role
    readonly memberId?: string
    readonly pepper: string
    readonly actor?: Actor
  },
): Promise<NewSignInLink> => {
  const { role, memberId, pepper, actor = 'system' } = input
  await confirmPepper(database, pepper)
  return await database.entities(async (entities) => {
    const account = await findAccount(entities, input.accountId)
    const { token, expiresAt } = newLink()
    const member = memberId ?? null
    entities.create(SignInLink, { tokenHash: createKeyHash(pepper)(token), account, role, member, expiresAt })
    const detail = { role, ...(memberId !== undefined && { member: memberId }) }
    recordChange(entities, { actor, action: 'sign_in_link.create', target: account.id, detail })
    return { token, expiresAt }
  })
}

/**
 * Creates a link that signs one operator in, once, within 15 minutes. The audit log names the session that it will start. Throws
 * `CONFIGURATION` as `createSignInLink`.
 */
export const createOperatorLink = async (
  database: Database,
  input: { readonly role: OperatorRole; readonly pepper: string; readonly actor: Actor },
): Promise<NewSignInLink> => {
  const { role, pepper, actor } = input
  await confirmPepper(database, pepper)
  return await database.entities(async (entities) => {
    const { token, expiresAt } = newLink()
    const sessionId = randomUUID()
    entities.create(SignInLink, { tokenHash: createKeyHash(pepper)(token), role, sessionId, expiresAt })
    recordChange(entities, { actor, action: 'sign_in_link.create', target: sessionId, detail: { role } })
    return { token, expiresAt }
  })
}
