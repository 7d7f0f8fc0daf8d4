import type { FastifyInstance } from 'fastify'
import type { Config } from '#gateway/config.ts'
import type { Gateway } from '#gateway/context.ts'
import { adminActors, createTokenCheck } from './admin-tokens.ts'
import { createAdminApp } from './admin-app.ts'
import type { Accepting } from './requeue-failed.ts'

/** The administration; nothing listens yet. Disposing it closes its connections. */
export type OpenAdmin = AsyncDisposable & { readonly app: FastifyInstance }

/** Opens the administration; undefined where no token is configured. */
export const openAdmin = (
  gateway: Pick<Gateway, 'database' | 'events' | 'clients'> & Omit<Accepting, 'windowCaptures'>,
  config: Pick<Config, 'adminToken' | 'adminTokens' | 'keyPepper' | 'windowCaptures'>,
): OpenAdmin | undefined => {
  const { keyPepper, windowCaptures } = config
  const actors = adminActors(config.adminToken, config.adminTokens)
  if (actors.size === 0) return undefined
  const findActor = createTokenCheck(actors, () => performance.now())
  const app = createAdminApp({ ...gateway, accepting: { ...gateway, windowCaptures }, keyPepper, findActor })
  return { app, [Symbol.asyncDispose]: () => app.close() }
}
