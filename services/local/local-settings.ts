import { type Env, prefix, readEnv, type ValuesOf } from '#shared/config/read-env.ts'
import { allSettings } from '#shared/config/settings/all.ts'
import { type Setting, type Settings, text } from '#shared/config/setting.ts'
import { controllerSettings } from '#shared/config/settings/controller.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { localSettings } from '#shared/config/settings/local.ts'
import { databaseSettings, storageSettings, trustSettings } from '#shared/config/settings/outside.ts'
import { webhookSettings } from '#shared/config/settings/webhooks.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'

/** The setting behind each flag of `up`; a flag is another way to write the environment variable. */
export const upFlags = {
  data: localSettings.data,
  port: gatewaySettings.gatewayPort,
  'workers-max': controllerSettings.poolMax,
  'allow-target': gatewaySettings.allowTargets,
  plans: localSettings.plansFile,
  'webhook-retries': webhookSettings.webhookRetries,
  'extra-ca': trustSettings.extraCa,
  'public-url': gatewaySettings.publicUrl,
  postgres: localSettings.givenDatabaseUrl,
  nats: localSettings.givenNatsUrl,
  s3: storageSettings.s3Url,
} as const

const optional = ({ name, help, secret }: Setting<string>) => text(name, { help, secret, fallback: '' })

/** The secret that API keys are hashed with; '': that of the data folder. */
export const optionalPepper = optional(gatewaySettings.keyPepper)

const settings = {
  ...localSettings,
  databaseDirectUrl: databaseSettings.databaseDirectUrl,
  gatewayPort: gatewaySettings.gatewayPort,
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

/** Address of PostgreSQL itself, past a pooler; undefined where no database is given. */
export const directUrlOf = ({
  givenDatabaseUrl,
  databaseDirectUrl,
}: {
  readonly givenDatabaseUrl: string | undefined
  readonly databaseDirectUrl: string | undefined
}): string | undefined => givenDatabaseUrl && (databaseDirectUrl ?? givenDatabaseUrl)

/** What one-machine operation itself reads; services read the rest of the environment. */
export type LocalSettings = ValuesOf<typeof settings>

const localNames: ReadonlySet<string> = new Set(Object.values(settings).map(({ name }) => name))

/** The settings of services that are given: what is wrong with one is reported before anything starts. */
const givenServiceSettings = (env: Env): Settings =>
  Object.fromEntries(
    Object.values(allSettings)
      .flatMap((group) => Object.values(group))
      .filter(({ name }) => !localNames.has(name))
      .filter(({ name }) => (env[prefix + name] ?? env[`${prefix}${name}_FILE`]) !== undefined)
      .map((setting) => [setting.name, setting]),
  )

/**
 * Reads the environment of `up`. Throws `CONFIGURATION` with all problems at once, those of services' settings included.
 * Where it does not bound the workers, there are two for each of the machine's `cores`, which mostly wait for pages, and one
 * for each that serve a single capture: they also start anew for each. Full Chromium takes two cores. Every core may be used as soon as a capture waits.
 */
export const readLocalSettings = (env: Env, cores: number): LocalSettings => {
  const defaults = {
    [settings.poolMax.name]: 2 * cores,
    [settings.poolIdleCores.name]: cores,
    [settings.stealthMax.name]: Math.ceil(cores / 2),
    [settings.proxiedMax.name]: cores,
  }
  const given = Object.entries(defaults).map(([name, most]) => [prefix + name, String(most)])
  return readEnv({ ...givenServiceSettings(env), ...settings }, { ...Object.fromEntries(given), ...env })
}
