import type { FastifyInstance } from 'fastify'
import { AppError } from '#shared/errors/app-error.ts'
import type { Config } from '#gateway/config.ts'
import type { Gateway } from '#gateway/context.ts'
import { createAdminApp } from './admin-app.ts'
import type { Accepting } from './requeue-failed.ts'

const tokenCharactersMin = 16

/** The administration; nothing listens yet. Disposing it closes its connections. */
export type OpenAdmin = AsyncDisposable & { readonly app: FastifyInstance }

/** Opens the administration; undefined where no token is configured. Throws `CONFIGURATION` where the token can be guessed. */
export const openAdmin = (
  gateway: Pick<Gateway, 'database' | 'events'> & Omit<Accepting, 'windowCaptures'>,
  { adminToken: token, keyPepper, windowCaptures }: Pick<Config, 'adminToken' | 'keyPepper' | 'windowCaptures'>,
): OpenAdmin | undefined => {
  if (token === '') return undefined
  if (token.length < tokenCharactersMin) {
    const publicMessage = `SHUTTERFLEET_ADMIN_TOKEN must have at least ${tokenCharactersMin} characters`
    throw new AppError('CONFIGURATION', { publicMessage })
  }
  const app = createAdminApp({ ...gateway, accepting: { ...gateway, windowCaptures }, keyPepper, token })
  return { app, [Symbol.asyncDispose]: () => app.close() }
}
