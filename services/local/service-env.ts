import type { Pool } from '#shared/capture/lane.ts'
import { type Env, prefix } from '#shared/config/read-env.ts'
import type { Settings } from '#shared/config/settings/setting.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { controllerSettings } from '#shared/config/settings/controller.ts'
import { egressSettings } from '#shared/config/settings/egress.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { ledgerSettings } from '#shared/config/settings/ledger.ts'
import { databaseSettings, queueSettings, storageSettings, trustSettings } from '#shared/config/settings/outside.ts'
import { webhookSettings } from '#shared/config/settings/webhooks.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import type { QueueUserName } from '#shared/queue/permissions.ts'
import type { DataFolder } from './data-folder.ts'
import type { Programs } from './find-programs.ts'
import type { LocalSettings } from './local-settings.ts'
import type { Ports } from './ports.ts'
import type { Secrets } from './secrets.ts'

/** Everything that is decided before the first service of this machine starts. */
export type Facts = {
  /** The environment of `up`. Each service gets only its own settings of it. */
  readonly operator: Env
  readonly settings: LocalSettings
  /** The locked data folder. */
  readonly folder: DataFolder
  /** Folder of the project. */
  readonly root: string
  readonly programs: Programs
  readonly secrets: Secrets
  readonly ports: Ports
  readonly databaseUrl: string
  /** PostgreSQL itself; differs from `databaseUrl` if that is a pooler. */
  readonly directUrl: string
  readonly natsUrlOf: (user: QueueUserName) => string
}

type ProcessEnv = Readonly<Record<string, string>>

const machineNames = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'NODE_EXTRA_CA_CERTS', 'NODE_COMPILE_CACHE']

const defined = (env: Env): ProcessEnv =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** The variables that every process gets: no settings of ours and no secrets. */
export const machineEnv = (operator: Env): ProcessEnv =>
  defined(Object.fromEntries(machineNames.map((name) => [name, operator[name]])))

/** The operator's values of a group of settings, without the names in `decided`. */
const settingsOf = (operator: Env, settings: Settings, decided: readonly string[]): ProcessEnv => {
  const names = Object.values(settings).flatMap(({ name }) => (decided.includes(name) ? [] : [name, `${name}_FILE`]))
  return defined(Object.fromEntries(names.map((name) => [prefix + name, operator[prefix + name]])))
}

const prefixed = (values: Readonly<Record<string, string>>): ProcessEnv =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]))

/** Environment of a service: the operator's settings, overridden by `values` (by setting name). */
const serviceEnv = (facts: Facts, settings: Settings, values: Readonly<Record<string, string>>): ProcessEnv => {
  const decided = { PROBE_PORT: '0', ...values }
  return {
    ...machineEnv(facts.operator),
    ...settingsOf(facts.operator, settings, Object.keys(decided)),
    ...prefixed(decided),
  }
}

/** Adds the OTEL_ variables, which may contain a receiver's token: only for services that send spans. */
const tracedEnv = (
  facts: Facts,
  ...of: [settings: Settings, values: Readonly<Record<string, string>>]
): ProcessEnv => ({
  ...defined(Object.fromEntries(Object.entries(facts.operator).filter(([name]) => name.startsWith('OTEL_')))),
  ...serviceEnv(facts, ...of),
})

const database = ({ databaseUrl, directUrl }: Facts): Readonly<Record<string, string>> => ({
  DATABASE_URL: databaseUrl,
  DATABASE_DIRECT_URL: directUrl === databaseUrl ? '' : directUrl,
})

const storage = ({ settings: { s3Url }, folder, ports, secrets }: Facts): Readonly<Record<string, string>> =>
  s3Url === undefined
    ? {
        STORAGE_DRIVER: 'files',
        STORAGE_FOLDER: folder.objects,
        STORAGE_FILES_URL: `http://127.0.0.1:${ports.objects}`,
        STORAGE_SIGNING_KEY: secrets.storageSigningKey,
      }
    : { STORAGE_DRIVER: 's3', S3_URL: s3Url }

const filterEnv = (facts: Facts, port: number, token: string): ProcessEnv =>
  serviceEnv(facts, { ...commonSettings, ...egressSettings }, { EGRESS_PORT: String(port), EGRESS_TOKENS: token })

/** Environment of the egress filter. */
export const egressEnv = (facts: Facts): ProcessEnv => filterEnv(facts, facts.ports.egress, facts.secrets.egressToken)

/** Environment of the webhooks' egress filter: same rules, separate port and token. */
export const webhookEgressEnv = (facts: Facts): ProcessEnv =>
  filterEnv(facts, facts.ports.webhookEgress, facts.secrets.webhookEgressToken)

/** Base URL of the gateway: the operator's, else its address on this machine. */
const gatewayUrl = ({ operator, ports }: Facts): string =>
  operator[prefix + gatewaySettings.publicUrl.name] ||
  `http://${operator[prefix + gatewaySettings.gatewayHost.name] ?? '127.0.0.1'}:${ports.gateway}`

/** Environment of the webhooks service: database and egress filter, no queue and no object store. */
export const webhooksEnv = (facts: Facts): ProcessEnv =>
  tracedEnv(
    facts,
    { ...commonSettings, ...databaseSettings, ...trustSettings, ...webhookSettings },
    {
      ...database(facts),
      ...recordKeys(facts),
      PUBLIC_URL: gatewayUrl(facts),
      WEBHOOK_EGRESS: `127.0.0.1:${facts.ports.webhookEgress}`,
      EGRESS_TOKEN: facts.secrets.webhookEgressToken,
      WEBHOOK_OPENING_KEYS: facts.secrets.webhookKeys.private,
    },
  )

/** A generated key, unless the operator sets keys, who can then rotate them. */
const namedKeys = ({ operator }: Facts, name: string, generated: string): Readonly<Record<string, string>> =>
  [name, `${name}_FILE`].some((each) => operator[prefix + each] !== undefined) ? {} : { [name]: `1:${generated}` }

const recordKeys = (facts: Facts) => namedKeys(facts, 'RECORD_KEYS', facts.secrets.recordKey)

/** Environment of the gateway. */
export const gatewayEnv = (facts: Facts): ProcessEnv =>
  tracedEnv(
    facts,
    { ...commonSettings, ...databaseSettings, ...queueSettings, ...storageSettings, ...gatewaySettings },
    {
      ...database(facts),
      NATS_URL: facts.natsUrlOf('gateway'),
      ...storage(facts),
      KEY_PEPPER: facts.secrets.keyPepper,
      ...namedKeys(facts, 'LINK_SIGNING_KEYS', facts.secrets.linkSigningKey),
      ...recordKeys(facts),
      GATEWAY_PORT: String(facts.ports.gateway),
      GATEWAY_OBJECTS_PORT: String(facts.ports.objects),
      SEALING_KEY_STANDARD: facts.secrets.sealingKeys.standard.public,
      SEALING_KEY_PROXIED: facts.secrets.sealingKeys.proxied.public,
      SEALING_KEY_STEALTH: facts.programs.stealthChromium === undefined ? '' : facts.secrets.sealingKeys.stealth.public,
      SEALING_KEY_WEBHOOKS: facts.secrets.webhookKeys.public,
    },
  )

/** Environment of the ledger. */
export const ledgerEnv = (facts: Facts): ProcessEnv =>
  tracedEnv(
    facts,
    { ...commonSettings, ...databaseSettings, ...queueSettings, ...storageSettings, ...ledgerSettings },
    { ...database(facts), NATS_URL: facts.natsUrlOf('ledger'), ...storage(facts) },
  )

/** Environment of a pool's workers, which the controller starts. */
export const workerEnv = (facts: Facts, pool: Pool): ProcessEnv =>
  serviceEnv(
    facts,
    { ...commonSettings, ...queueSettings, ...trustSettings, ...workerSettings },
    {
      NATS_URL: facts.natsUrlOf(`worker_${pool}`),
      WORKER_POOL: pool,
      WORKER_OPENING_KEYS: facts.secrets.sealingKeys[pool].private,
      WORKER_EGRESS: `127.0.0.1:${facts.ports.egress}`,
      EGRESS_TOKEN: facts.secrets.egressToken,
      CHROMIUM: facts.programs.chromium,
      ...(facts.programs.stealthChromium !== undefined && { STEALTH_CHROMIUM: facts.programs.stealthChromium }),
    },
  )

/** Environment of the controller; it names a file with the environment of each kind of worker. */
export const controllerEnv = (facts: Facts): ProcessEnv => {
  const { settings, folder, programs } = facts
  return serviceEnv(
    facts,
    { ...commonSettings, ...queueSettings, ...controllerSettings },
    {
      NATS_URL: facts.natsUrlOf('controller'),
      CONTROLLER_POOL: 'standard',
      POOL_MAX: String(settings.poolMax),
      POOL_IDLE_CORES: String(settings.poolIdleCores),
      WORKER_ENV_FILE: folder.workerEnv,
      ...(programs.stealthChromium !== undefined && { STEALTH_WORKER_ENV_FILE: folder.stealthWorkerEnv }),
      STEALTH_MAX: String(settings.stealthMax),
      PROXIED_WORKER_ENV_FILE: folder.proxiedWorkerEnv,
      PROXIED_MAX: String(settings.proxiedMax),
    },
  )
}
