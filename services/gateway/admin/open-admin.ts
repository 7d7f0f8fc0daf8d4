import type { Server } from 'node:http'
import { AppError } from '#shared/errors/app-error.ts'
import type { Config } from '#gateway/config.ts'
import type { Gateway } from '#gateway/context.ts'
import { createAdminApp } from './admin-app.ts'

const tokenCharactersMin = 16

/** The administration, listening. */
export type OpenAdmin = AsyncDisposable & { readonly server: Server }

/** Opens the administration on its own port; undefined where no token is configured. Throws `CONFIGURATION` where the token can be guessed. */
export const openAdmin = async (
  { database, events }: Pick<Gateway, 'database' | 'events'>,
  config: Pick<Config, 'adminToken' | 'adminHost' | 'adminPort' | 'keyPepper'>,
): Promise<OpenAdmin | undefined> => {
  const { adminToken: token, adminHost: host, adminPort: port, keyPepper } = config
  if (token === '') return undefined
  if (token.length < tokenCharactersMin) {
    const publicMessage = `SHUTTERFLEET_ADMIN_TOKEN must have at least ${tokenCharactersMin} characters`
    throw new AppError('CONFIGURATION', { publicMessage })
  }
  const app = createAdminApp({ database, events, keyPepper, token })
  await app.listen({ host, port })
  return { server: app.server, [Symbol.asyncDispose]: () => app.close() }
}
