import { createHash, timingSafeEqual } from 'node:crypto'
import type { AdminToken } from '#shared/config/settings/admin.ts'
import type { Actor } from '#shared/db/audit.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Client } from '#shared/policy/client.ts'
import { createClientLimit } from '#gateway/http/identification/client-limit.ts'

/** Token bucket for wrong tokens of one client: burst and refill per minute. */
const wrongPerMinute = 10

/** Authenticates a request. Throws `INVALID_API_KEY`, or `RATE_LIMIT_EXCEEDED` for a wrong token after too many of its client. */
export type FindActor = (authorization: string | undefined, client: () => Client) => Actor

/** The actor of each token in the audit log. */
export const adminActors = (single: string, named: readonly AdminToken[]): ReadonlyMap<string, Actor> =>
  new Map<string, Actor>([
    ...(single === '' ? [] : [[single, 'admin'] as const]),
    ...named.map(({ name, token }) => [token, `admin:${name}`] as const),
  ])

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * Creates the check of tokens. Each token is compared with all known ones, so that valid and wrong ones take the same time. A
 * valid one is always accepted, so that wrong ones do not lock out others with the same address; after too many a client's further
 * wrong tokens are answered with the time until its bucket is refilled, six seconds for one.
 */
export const createTokenCheck = (
  actors: ReadonlyMap<string, Actor>,
  nowMs: () => number,
  what = "The administration's token",
): FindActor => {
  const known = [...actors].map(([token, actor]) => ({ hash: digest(token), actor }))
  const limit = createClientLimit({ burst: wrongPerMinute, perMinute: wrongPerMinute, nowMs })
  return (authorization, client) => {
    const token = /^bearer +(?<token>\S+)$/i.exec(authorization ?? '')?.groups?.['token']
    const publicMessage = `${what} is missing or wrong.`
    if (token === undefined) throw new AppError('INVALID_API_KEY', { publicMessage })
    const hash = digest(token)
    const actor = known.reduce<Actor | undefined>(
      (found, each) => (timingSafeEqual(each.hash, hash) ? each.actor : found),
      undefined,
    )
    if (actor !== undefined) return actor
    const retryAfterSeconds = limit.take(client())
    if (retryAfterSeconds === 0) throw new AppError('INVALID_API_KEY', { publicMessage })
    const tooMany = `Too many wrong tokens from this address; try again in ${retryAfterSeconds} seconds.`
    throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage: tooMany, retryAfterSeconds })
  }
}
