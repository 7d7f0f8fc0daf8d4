import type { IncomingMessage } from 'node:http'
import type { Cell } from '#shared/config/settings/router.ts'
import type { Client } from '#shared/policy/client.ts'
import { keyOf } from '#gateway/http/identification/identify.ts'
import { sessionTokenOf, withoutSessionCookie } from '#gateway/http/identification/session-cookie.ts'
import type { CellDirectory } from './cell-directory.ts'
import { type Credential, isSignIn } from './credential.ts'
import type { ForwardedHttp } from './forward.ts'

type Routed = {
  readonly cells: readonly Cell[]
  readonly directory: Pick<CellDirectory, 'find'>
  readonly publicUrl: string
}

type Request = {
  readonly request: IncomingMessage
  readonly credential: Credential | undefined
  readonly client: Client
  readonly signsIn: boolean
}

/**
 * Leaves out of a request's headers the credentials that do not decide where it goes: a cell that is no more than reached, as the first
 * one by every browser that loads the console, receives no key or session of an account of another one. A sign-in, which ends the
 * session that it replaces, takes that along to its own cell.
 */
export const createRevision = async (
  { cells, directory, publicUrl }: Routed,
  { request, credential, client, signsIn }: Request,
): Promise<ForwardedHttp['revise']> => {
  const { headers } = request
  if (cells.length === 1 || credential?.kind === 'session') return (_cell, _name, value) => value
  const token = signsIn || isSignIn(request) ? sessionTokenOf(headers, publicUrl) : undefined
  const replaced = token === undefined ? undefined : ({ kind: 'session', value: token } as const)
  const cellOfSession = replaced && (await directory.find(replaced, client).catch(() => undefined))
  const hasOtherKey = credential?.kind !== 'key' && keyOf(headers) !== undefined
  return (cell, name, value) => {
    if (name === 'cookie' && cell !== cellOfSession) return withoutSessionCookie(value, publicUrl)
    return name === 'authorization' && hasOtherKey ? undefined : value
  }
}
