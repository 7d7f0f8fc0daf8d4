import { type Env, prefix, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { adminSettings } from '#shared/config/settings/admin.ts'
import { allSettings } from '#shared/config/settings/all.ts'
import { type Setting, type Settings, text } from '#shared/config/settings/setting.ts'
import { controllerSettings } from '#shared/config/settings/controller.ts'
import { egressSettings } from '#shared/config/settings/egress.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { localSettings } from '#shared/config/settings/local.ts'
import { databaseSettings, storageSettings, trustSettings } from '#shared/config/settings/outside.ts'
import { webhookSettings } from '#shared/config/settings/webhooks.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'

/** The setting that each flag of `up` overrides. */
export const upFlags = {
  data: localSettings.data,
  port: gatewaySettings.gatewayPort,
  databases: localSettings.databases,
  'workers-max': controllerSettings.poolMax,
  'allow-target': gatewaySettings.allowTargets,
  plans: localSettings.plansFile,
  'webhook-retries': webhookSettings.webhookRetries,
  'extra-ca': trustSettings.extraCa,
  'public-url': gatewaySettings.publicUrl,
  postgres: localSettings.externalDatabaseUrl,
  nats: localSettings.externalNatsUrl,
  s3: storageSettings.s3Url,
} as const

const optional = ({ name, help, secret }: Setting<string>) => text(name, { help, secret, fallback: '' })

/** The secret that API keys are hashed with; '' means the one in the data folder. */
export const optionalPepper = optional(gatewaySettings.keyPepper)

const settings = {
  ...localSettings,
  databaseDirectUrl: databaseSettings.databaseDirectUrl,
  gatewayHost: gatewaySettings.gatewayHost,
  gatewayPort: gatewaySettings.gatewayPort,
  objectsHost: gatewaySettings.objectsHost,
  egressHost: egressSettings.egressHost,
  ...adminSettings,
  allowTargets: gatewaySettings.allowTargets,
  publicUrl: gatewaySettings.publicUrl,
  extraCa: trustSettings.extraCa,
  poolMax: controllerSettings.poolMax,
  poolIdleCores: controllerSettings.poolIdleCores,
  stealthMax: controllerSettings.stealthMax,
  proxiedMax: controllerSettings.proxiedMax,
  s3Url: storageSettings.s3Url,
  chromium: optional(workerSettings.chromium),
  stealthChromium: optional(workerSettings.stealthChromium),
  keyPepper: optionalPepper,
}

/** URL of PostgreSQL itself, not of a pooler; undefined if no database is given. */
export const chooseDirectUrl = ({
  externalDatabaseUrl,
  databaseDirectUrl,
}: {
  readonly externalDatabaseUrl: string | undefined
  readonly databaseDirectUrl: string | undefined
}): string | undefined => externalDatabaseUrl && (databaseDirectUrl ?? externalDatabaseUrl)

/** The settings that `up` itself reads; its services read the rest. */
export type LocalSettings = SettingValues<typeof settings>

const localNames: ReadonlySet<string> = new Set(Object.values(settings).map(({ name }) => name))

/** The settings of services that are set, to validate them before anything starts. */
const givenServiceSettings = (env: Env): Settings =>
  Object.fromEntries(
    Object.values(allSettings)
      .flatMap((group) => Object.values(group))
      .filter(({ name }) => !localNames.has(name))
      .filter(({ name }) => (env[prefix + name] ?? env[`${prefix}${name}_FILE`]) !== undefined)
      .map((setting) => [setting.name, setting]),
  )

/**
 * Reads the environment of `up`. Throws `CONFIGURATION` with all problems at once, including those of services' settings.
 * Default maximums of workers: one per core (more make a burst slower, since they share the cores, and each takes a third of a
 * gigabyte), one per core for proxied captures (each starts a new worker), one per two cores for full Chromium. As many workers
 * as cores may start as soon as a capture waits.
 */
export const readLocalSettings = (env: Env, cores: number): LocalSettings => {
  const defaults = {
    [settings.poolMax.name]: cores,
    [settings.poolIdleCores.name]: cores,
    [settings.stealthMax.name]: Math.ceil(cores / 2),
    [settings.proxiedMax.name]: cores,
  }
  const entries = Object.entries(defaults).map(([name, most]) => [prefix + name, String(most)])
  return readEnv({ ...givenServiceSettings(env), ...settings }, { ...Object.fromEntries(entries), ...env })
}
