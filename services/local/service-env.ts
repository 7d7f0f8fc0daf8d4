import type { Pool } from '#shared/capture/lane.ts'
import { type Env, prefix } from '#shared/config/read-env.ts'
import { type ServiceName, services, serviceSettings } from '#shared/config/services.ts'
import type { Settings } from '#shared/config/settings/setting.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { databaseSettings, queueSettings, storageSettings, trustSettings } from '#shared/config/settings/outside.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import { formatAuthority } from '#shared/policy/host.ts'
import type { Rest } from '#shared/process/rest.ts'
import { type QueueUserName, serviceUsers } from '#shared/queue/permissions.ts'
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
  readonly natsUrl: (user: QueueUserName) => string
  /** Whether no service reports activity: probes are rare then. */
  readonly rest: Rest
}

type ProcessEnv = Readonly<Record<string, string>>

const machineNames = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'NODE_EXTRA_CA_CERTS', 'NODE_COMPILE_CACHE']

const defined = (env: Env): ProcessEnv =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** The variables that every process gets: no settings of ours and no secrets. */
export const machineEnv = (operator: Env): ProcessEnv =>
  defined(Object.fromEntries(machineNames.map((name) => [name, operator[name]])))

/** The operator's values of a group of settings, without the names in `decided`. */
export const chosenBy = (operator: Env, settings: Settings, decided: readonly string[] = []): ProcessEnv => {
  const names = Object.values(settings).flatMap(({ name }) => (decided.includes(name) ? [] : [name, `${name}_FILE`]))
  return defined(Object.fromEntries(names.map((name) => [prefix + name, operator[prefix + name]])))
}

type Values = Readonly<Record<string, string>>

/** Settings by their variables' names. */
export const prefixed = (values: Values): ProcessEnv =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]))

/** Environment of a process: the operator's settings, overridden by `values` (by setting name). */
export const processEnv = ({ operator }: Pick<Facts, 'operator'>, settings: Settings, values: Values): ProcessEnv => {
  const decided = { PROBE_PORT: '0', ...values }
  return {
    ...machineEnv(operator),
    ...chosenBy(operator, settings, Object.keys(decided)),
    ...prefixed(decided),
  }
}

const database = ({ databaseUrl, directUrl }: Facts): Values => ({
  DATABASE_URL: databaseUrl,
  DATABASE_DIRECT_URL: directUrl === databaseUrl ? '' : directUrl,
})

const storage = ({ settings: { s3Url, objectsHost }, folder, ports, secrets }: Facts): Values =>
  s3Url === undefined
    ? {
        STORAGE_DRIVER: 'files',
        STORAGE_FOLDER: folder.objects,
        STORAGE_FILES_URL: `http://${formatAuthority({ host: objectsHost, port: ports.objects })}`,
        STORAGE_SIGNING_KEY: secrets.storageSigningKey,
      }
    : { STORAGE_DRIVER: 's3', S3_URL: s3Url }

/** Base URL of the gateway: the operator's, else its address on this machine. */
export const gatewayUrl = ({ operator, settings, ports }: Facts): string =>
  operator[prefix + gatewaySettings.publicUrl.name] ||
  `http://${formatAuthority({ host: settings.gatewayHost, port: ports.gateway })}`

/** A generated key, unless the operator sets keys, who can then rotate them. */
const namedKeys = ({ operator }: Facts, name: string, generated: string): Values =>
  [name, `${name}_FILE`].some((each) => operator[prefix + each] !== undefined) ? {} : { [name]: `1:${generated}` }

const recordKeys = (facts: Facts) => namedKeys(facts, 'RECORD_KEYS', facts.secrets.recordKey)

/** Values of settings that only this service has. */
const ownValues: Readonly<Partial<Record<ServiceName, (facts: Facts) => Values>>> = {
  egress: ({ ports, secrets }) => ({ EGRESS_PORT: String(ports.egress), EGRESS_TOKENS: secrets.egressToken }),
  'webhook-egress': ({ ports, secrets }) => ({
    EGRESS_COMPONENT: 'webhook-egress',
    EGRESS_PORT: String(ports.webhookEgress),
    EGRESS_TOKENS: secrets.webhookEgressToken,
  }),
  gateway: (facts) => ({
    KEY_PEPPER: facts.secrets.keyPepper,
    ...namedKeys(facts, 'LINK_SIGNING_KEYS', facts.secrets.linkSigningKey),
    ...recordKeys(facts),
    GATEWAY_PORT: String(facts.ports.gateway),
    GATEWAY_OBJECTS_PORT: String(facts.ports.objects),
    SEALING_KEY_STANDARD: facts.secrets.sealingKeys.standard.public,
    SEALING_KEY_PROXIED: facts.secrets.sealingKeys.proxied.public,
    SEALING_KEY_STEALTH: facts.programs.stealthChromium === undefined ? '' : facts.secrets.sealingKeys.stealth.public,
    SEALING_KEY_WEBHOOKS: facts.secrets.webhookKeys.public,
  }),
  webhooks: (facts) => ({
    ...recordKeys(facts),
    PUBLIC_URL: gatewayUrl(facts),
    WEBHOOK_EGRESS: formatAuthority({ host: facts.settings.egressHost, port: facts.ports.webhookEgress }),
    EGRESS_TOKEN: facts.secrets.webhookEgressToken,
    WEBHOOK_OPENING_KEYS: facts.secrets.webhookKeys.private,
  }),
  controller: ({ settings, folder, programs }) => ({
    CONTROLLER_POOL: 'standard',
    POOL_MAX: String(settings.poolMax),
    POOL_IDLE_CORES: String(settings.poolIdleCores),
    WORKER_ENV_FILE: folder.workerEnv,
    ...(programs.stealthChromium !== undefined && { STEALTH_WORKER_ENV_FILE: folder.stealthWorkerEnv }),
    STEALTH_MAX: String(settings.stealthMax),
    PROXIED_WORKER_ENV_FILE: folder.proxiedWorkerEnv,
    PROXIED_MAX: String(settings.proxiedMax),
  }),
}

/** Environment of a service. Each gets the values of the groups of settings that it reads, and no secret of another. */
export const serviceEnv = (facts: Facts, name: ServiceName): ProcessEnv => {
  const service = services[name]
  const user = serviceUsers.find((each) => each.name === name)
  const groups: readonly Settings[] = service.settings
  const traceEnv = Object.entries(facts.operator).filter(([each]) => service.sendsSpans && each.startsWith('OTEL_'))
  return {
    ...defined(Object.fromEntries(traceEnv)),
    ...processEnv(facts, serviceSettings(name), {
      ...(groups.includes(databaseSettings) && database(facts)),
      ...(user && { NATS_URL: facts.natsUrl(user.name) }),
      ...(groups.includes(storageSettings) && storage(facts)),
      ...ownValues[name]?.(facts),
    }),
  }
}

/** Environment of a pool's workers, which the controller starts. */
export const workerEnv = (facts: Facts, pool: Pool): ProcessEnv =>
  processEnv(
    facts,
    { ...commonSettings, ...queueSettings, ...trustSettings, ...workerSettings },
    {
      NATS_URL: facts.natsUrl(`worker_${pool}`),
      WORKER_POOL: pool,
      WORKER_OPENING_KEYS: facts.secrets.sealingKeys[pool].private,
      WORKER_EGRESS: formatAuthority({ host: facts.settings.egressHost, port: facts.ports.egress }),
      EGRESS_TOKEN: facts.secrets.egressToken,
      CHROMIUM: facts.programs.chromium,
      ...(facts.programs.stealthChromium !== undefined && { STEALTH_CHROMIUM: facts.programs.stealthChromium }),
    },
  )
