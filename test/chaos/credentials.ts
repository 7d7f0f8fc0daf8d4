import { setTimeout as delay } from 'node:timers/promises'
import { createSignInLink } from '#shared/db/sign-in-links.ts'
import type { Call, Client, Credential } from './client.ts'
import type { World } from './world.ts'

const requestMs = 8000
const retryMs = 400

type Using = { readonly world: World; readonly client: Client; readonly name: string; readonly untilMs: number }

const signInOnce = async ({ world, client, name }: Using): Promise<Credential | undefined> => {
  const { database, secrets, system } = world
  const link = { accountId: client.account, role: 'owner', pepper: secrets.keyPepper } as const
  const { token } = await createSignInLink(database, link)
  const answer = await fetch(`${system.baseUrl}/console/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
    signal: AbortSignal.timeout(requestMs),
  })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const { csrf_token: csrf = '' } = (await answer.json()) as { csrf_token?: string }
  return answer.status === 201 ? { name: `session ${name}`, headers: { cookie, 'x-csrf-token': csrf } } : undefined
}

/** Signs in to the console, with a new link for each try; undefined if none worked. */
export const signIn = async (use: Using): Promise<Credential | undefined> => {
  while (performance.now() < use.untilMs) {
    const session = await signInOnce(use).catch(() => undefined)
    if (session) return session
    await delay(retryMs)
  }
  return undefined
}

/** Signs a session out. */
export const signOutCall: Call = { operation: 'end', method: 'DELETE', path: '/console/api/session' }

/** Creates a key; returns it with the call that revokes it. */
export const createFurtherKey = async ({ client, name, untilMs }: Using) => {
  const body = { name, scopes: ['capture', 'read', 'manage'] }
  const create: Call = { operation: 'key', method: 'POST', path: '/v1/keys', body, idempotencyKey: `key-${name}` }
  const { data } = await client.insist(create, untilMs)
  if (typeof data?.['key'] !== 'string') return undefined
  const key: Credential = { name: `key ${name}`, headers: { authorization: `Bearer ${data['key']}` } }
  const revoke: Call = { operation: 'end', method: 'DELETE', path: `/v1/keys/${String(data['id'])}` }
  return { key, revoke }
}

/**
 * Creates a capture with a credential, ends the credential by `end` while it reads with it, and tries it once more. Returns the ids of
 * the captures.
 */
export const useAndEnd = async (
  { client, untilMs }: Using,
  as: Credential,
  { create, end }: { readonly create: Call; readonly end: Call },
): Promise<string[]> => {
  const { captures } = await client.insist({ ...create, as }, untilMs)
  const read: Call = { operation: 'account', path: '/v1/account', as }
  const [ended] = await Promise.all([client.insist({ ...end, ends: as.name }, untilMs), client.call(read)])
  if (ended.status !== undefined) await client.call(read)
  return captures.map(({ id }) => id)
}
