import type { QueueUserName } from '#shared/queue/permissions.ts'
import { chooseDirectUrl } from './local-settings.ts'
import { Rest } from '#shared/process/rest.ts'
import { choosePorts } from './ports.ts'
import { postgresUser } from './postgres.ts'
import { loadOrCreateSecrets } from './secrets.ts'
import type { Facts } from './service-env.ts'

type KnownFacts = Pick<Facts, 'operator' | 'settings' | 'folder' | 'root' | 'programs'>

/** Resolves ports, secrets and addresses of all services. Throws `CONFIGURATION` if a requested port is in use. */
export const gatherFacts = async (known: KnownFacts): Promise<Facts> => {
  const { settings, folder } = known
  const isAdministered = settings.adminToken !== '' || settings.adminTokens.length > 0
  const ports = await choosePorts(folder.ports, {
    gatewayPort: settings.gatewayPort,
    gatewayHost: settings.gatewayHost,
    admin: isAdministered ? { port: settings.adminPort, host: settings.adminHost } : undefined,
  })
  const stored = await loadOrCreateSecrets(folder.secrets)
  const secrets = { ...stored, keyPepper: settings.keyPepper || stored.keyPepper }
  const ownDatabase = `postgres://${postgresUser}:${secrets.postgresPassword}@127.0.0.1:${ports.postgres}/postgres`
  const ownNats = (user: QueueUserName) => `nats://${user}:${secrets.queuePasswords[user]}@127.0.0.1:${ports.nats}`
  return {
    ...known,
    secrets,
    ports,
    databaseUrl: settings.externalDatabaseUrl ?? ownDatabase,
    directUrl: chooseDirectUrl(settings) ?? ownDatabase,
    natsUrl: (user) => settings.externalNatsUrl ?? ownNats(user),
    rest: new Rest(),
  }
}
