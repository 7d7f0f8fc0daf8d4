import type { Env } from '#shared/config/read-env.ts'
import type { QueueUserName } from '#shared/queue/permissions.ts'
import type { DataFolder } from './data-folder.ts'
import type { Programs } from './find-programs.ts'
import { directUrlOf, type LocalSettings } from './local-settings.ts'
import { choosePorts } from './ports.ts'
import { postgresUser } from './postgres.ts'
import { keepSecrets } from './secrets.ts'
import type { Facts } from './service-env.ts'

/** What the facts are gathered from. */
export type FactSources = {
  readonly env: Env
  readonly settings: LocalSettings
  /** A data folder that is ours alone. */
  readonly folder: DataFolder
  readonly programs: Pick<Programs, 'chromium' | 'stealthChromium'>
}

/** Settings of all services of this machine, resolved before the first process starts. Throws `CONFIGURATION` where the requested port is taken. */
export const gatherFacts = async ({ env, settings, folder, programs }: FactSources): Promise<Facts> => {
  const ports = await choosePorts(folder.ports, settings.gatewayPort)
  const kept = await keepSecrets(folder.secrets)
  const secrets = { ...kept, keyPepper: settings.keyPepper || kept.keyPepper }
  const ownDatabase = `postgres://${postgresUser}:${secrets.postgresPassword}@127.0.0.1:${ports.postgres}/postgres`
  const ownNats = (user: QueueUserName) => `nats://${user}:${secrets.queuePasswords[user]}@127.0.0.1:${ports.nats}`
  return {
    operator: env,
    secrets,
    ports,
    databaseUrl: settings.givenDatabaseUrl ?? ownDatabase,
    directUrl: directUrlOf(settings) ?? ownDatabase,
    natsUrlOf: (user) => settings.givenNatsUrl ?? ownNats(user),
    s3Url: settings.s3Url,
    objectsFolder: folder.objects,
    workerEnvFile: folder.workerEnv,
    stealthWorkerEnvFile: folder.stealthWorkerEnv,
    proxiedWorkerEnvFile: folder.proxiedWorkerEnv,
    chromium: programs.chromium,
    stealthChromium: programs.stealthChromium,
    poolMax: settings.poolMax,
    poolIdleCores: settings.poolIdleCores,
    stealthMax: settings.stealthMax,
    proxiedMax: settings.proxiedMax,
  }
}
