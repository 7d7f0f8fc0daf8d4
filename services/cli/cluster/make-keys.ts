import { randomBytes } from 'node:crypto'
import { renewCertificates } from './egress-certificates.ts'
import { natsConfig, type QueuePasswords } from '#local/nats-config.ts'
import { type Pool, pools } from '#shared/capture/lane.ts'
import { workerNatsKeys } from '#shared/config/settings/operator.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { type QueueUserName, queueUsers } from '#shared/queue/permissions.ts'
import { generateSealingKeys } from '#shared/queue/seal.ts'

/** The data of a Secret, decoded. */
export type SecretTexts = Readonly<Record<string, string>>

/** Servers that the release itself runs, as host:port; their passwords are generated with the other keys. */
export type OwnServers = { readonly nats: string | undefined; readonly postgres: string | undefined }

const password = () => randomBytes(24).toString('base64url')
const key = () => randomBytes(32).toString('base64')
const database = 'shutterfleet'

/** A generated key pair. Throws `CONFIGURATION` if the Secret has one half only. */
const pair = (existing: SecretTexts, name: string): SecretTexts => {
  const [sealing, opening] = [`sealing-key-${name}`, `opening-keys-${name}`]
  if ((existing[sealing] === undefined) !== (existing[opening] === undefined)) {
    throw new AppError('CONFIGURATION', { publicMessage: `the Secret has one of ${sealing} and ${opening}, not both` })
  }
  const generated = generateSealingKeys()
  return { [sealing]: generated.public, [opening]: generated.private }
}

const postgresKeys = (existing: SecretTexts, host: string | undefined): SecretTexts => {
  if (host === undefined) return {}
  const secret = existing['postgres-password'] ?? password()
  return { 'postgres-password': secret, 'database-url': `postgres://${database}:${secret}@${host}/${database}` }
}

/** The key in a Secret with the addresses of NATS. */
const natsUrlKey = (user: QueueUserName) => `${user.replace('_', '-')}-url`

const natsKeys = (existing: SecretTexts, host: string | undefined): SecretTexts => {
  if (host === undefined) return {}
  const userUrl = ({ name }: { name: QueueUserName }) =>
    existing[natsUrlKey(name)] ?? `nats://${name}:${password()}@${host}`
  const urls = queueUsers.map((user) => [user.name, userUrl(user)] as const)
  const passwords = Object.fromEntries(urls.map(([name, url]) => [name, new URL(url).password])) as QueuePasswords
  const to = { listen: '0.0.0.0:4222', http: '0.0.0.0:8222', storeFolder: '/data' }
  return {
    ...Object.fromEntries(urls.map(([name, url]) => [natsUrlKey(name), url])),
    'nats.conf': natsConfig(to, passwords),
  }
}

/** The token that clients of an egress send, and the list that the egress accepts, longer during a rotation. */
const tokens = (existing: SecretTexts, name: string): SecretTexts => {
  const token = existing[name] ?? password()
  return { [name]: token, [`${name}s`]: token }
}

/** The egress filters that get certificates, with their host names; without a name none is made. */
export type EgressHosts = Readonly<Record<'egress' | 'webhook-egress', readonly string[]>>

const certificates = (existing: SecretTexts, hosts: EgressHosts | undefined, nowMs: number): SecretTexts =>
  Object.assign(
    {},
    ...Object.entries(hosts ?? {}).map(([filter, of]) =>
      of.length === 0 ? {} : renewCertificates(existing, filter, of, nowMs),
    ),
  )

/**
 * Adds the keys that `existing` lacks, and renews certificates; always regenerates the configuration of NATS, so that it has this version's
 * users. Throws `CONFIGURATION` if one half of a key pair is missing.
 */
export const makeKeys = (
  existing: SecretTexts,
  { nats, postgres }: OwnServers,
  hosts?: EgressHosts,
  nowMs = Date.now(),
): SecretTexts => ({
  'key-pepper': key(),
  'link-signing-keys': `1:${key()}`,
  'record-keys': `1:${key()}`,
  'storage-signing-key': key(),
  ...tokens(existing, 'egress-token'),
  ...tokens(existing, 'webhook-egress-token'),
  ...Object.assign({}, ...[...pools, 'webhooks'].map((name) => pair(existing, name))),
  ...postgresKeys(existing, postgres),
  ...existing,
  ...natsKeys(existing, nats),
  ...certificates(existing, hosts, nowMs),
})

/**
 * Inputs from outside of the release: for an external NATS addresses as `worker-POOL-url`, and, as `worker-POOL-` and their names, files
 * by which workers identify themselves; and authorities that workers trust, as PEM.
 */
export type ExternalInputs = { readonly nats: SecretTexts; readonly authorities: string | undefined }

// Also the names of the files in the folder, after `worker-POOL` instead of `nats`.
const natsFileKeys = Object.values(workerNatsKeys).flatMap((files) => Object.keys(files))

/** The data of a pool's worker Secret; an external NATS address wins over that in `keys`. Throws `CONFIGURATION` if a key is missing. */
export const workerKeys = (pool: Pool, keys: SecretTexts, { nats, authorities }: ExternalInputs): SecretTexts => {
  const natsUrl = { ...keys, ...nats }[natsUrlKey(`worker_${pool}`)]
  const identity = natsFileKeys.flatMap((name) => {
    const text = nats[name.replace('nats', `worker-${pool}`)]
    return text === undefined ? [] : [[name, text] as const]
  })
  const [openingKeys, egressToken] = [keys[`opening-keys-${pool}`], keys['egress-token']]
  const egressAuthorities = keys['egress-ca.crt']
  if (natsUrl === undefined || openingKeys === undefined || egressToken === undefined) {
    throw new AppError('CONFIGURATION', { publicMessage: `no address of NATS for the workers of pool ${pool}` })
  }
  return {
    'nats-url': natsUrl.trim(),
    'opening-keys': openingKeys,
    'egress-token': egressToken,
    ...Object.fromEntries(identity),
    ...(authorities !== undefined && { 'ca.crt': authorities }),
    ...(egressAuthorities !== undefined && { 'egress-ca.crt': egressAuthorities }),
  }
}
