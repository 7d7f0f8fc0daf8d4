import type { FastifyInstance } from 'fastify'
import type { Config } from '#gateway/config.ts'
import type { Gateway } from '#gateway/context.ts'
import { createAdminApp } from './admin-app.ts'
import type { Accepting } from './requeue-failed.ts'

/** The administration; nothing listens yet. Disposing it closes its connections. */
export type OpenAdmin = AsyncDisposable & { readonly app: FastifyInstance }

/** Opens the administration; undefined where no token is configured. */
export const openAdmin = (
  gateway: Pick<Gateway, 'database' | 'events'> & Omit<Accepting, 'windowCaptures'>,
  { adminToken: token, keyPepper, windowCaptures }: Pick<Config, 'adminToken' | 'keyPepper' | 'windowCaptures'>,
): OpenAdmin | undefined => {
  if (token === '') return undefined
  const app = createAdminApp({ ...gateway, accepting: { ...gateway, windowCaptures }, keyPepper, token })
  return { app, [Symbol.asyncDispose]: () => app.close() }
}
