import { generateSealingKeys, readSealingKey, type SealingKey } from '#shared/queue/seal.ts'
import type { QueueUserName } from '#shared/queue/permissions.ts'
import { nodeEnv } from '#test/helpers/node-env.ts'
import { type PoolKeys, poolKeys } from '#test/helpers/pool-keys.ts'
import { testRecordKey } from '#test/helpers/record-seal.ts'
import { testPepper } from '#test/helpers/running-gateway.ts'
import type { Receivers } from '#test/bench/measure-webhooks.ts'
import { standInVariables } from './stand-in-variables.ts'

type Texts = Readonly<Record<string, string>>

/** What services share: addresses, a folder, and receivers of webhooks. */
export type Places = {
  readonly databaseUrl: string
  readonly natsUrl: (user: QueueUserName) => string
  /** Folder of the images. */
  readonly folder: string
  /** Of each gateway: its endpoint of images, to which those go whose addresses it signs. */
  readonly objectsPorts: readonly number[]
  readonly receivers: Pick<Receivers, 'egressPort' | 'certPath'>
}

/** How many stand-ins of workers there are, with how many slots each (16 at most), and the milliseconds of a capture. */
export type StandIns = { readonly workers: number; readonly slots: number; readonly captureMs: number }

/** Settings of each service, without prefix; of gateways one for each. */
export type CarrierSettings = {
  readonly gateways: readonly Texts[]
  readonly ledger: Texts
  readonly webhooks: Texts
  readonly controller: (standIns: StandIns) => Texts
  /** To which the secrets of webhooks are sealed. */
  readonly webhooksKey: SealingKey
}

/** Variables of a service's process. */
export const environmentOf = (settings: Texts): NodeJS.ProcessEnv => ({
  ...nodeEnv,
  ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [`SHUTTERFLEET_${name}`, value])),
})

const workerEnvironment = ({ natsUrl }: Places, keys: PoolKeys, standIns: StandIns): Texts => ({
  ...Object.fromEntries(Object.entries(nodeEnv).map(([name, value = '']) => [name, value])),
  SHUTTERFLEET_NATS_URL: natsUrl('worker_standard'),
  SHUTTERFLEET_WORKER_OPENING_KEYS: keys.standard.private,
  // Required, and not used: stand-ins load nothing.
  SHUTTERFLEET_WORKER_EGRESS: '127.0.0.1:1',
  SHUTTERFLEET_WORKER_SLOTS: String(standIns.slots),
  [standInVariables.workers]: String(standIns.workers),
  [standInVariables.captureMs]: String(standIns.captureMs),
})

/** Settings as `up` makes them, with new keys; all that they leave out has its default. */
export const carrierSettings = (places: Places): CarrierSettings => {
  const keys = poolKeys()
  const webhookKeys = generateSealingKeys()
  const { databaseUrl, natsUrl, folder, objectsPorts, receivers } = places
  const filesUrl = (port: number) => ({ STORAGE_FILES_URL: `http://127.0.0.1:${port}` })
  const stores = {
    DATABASE_URL: databaseUrl,
    STORAGE_DRIVER: 'files',
    STORAGE_FOLDER: folder,
    ...filesUrl(objectsPorts[0] ?? 0),
    STORAGE_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
  }
  return {
    gateways: objectsPorts.map((port) => ({
      ...stores,
      ...filesUrl(port),
      NATS_URL: natsUrl('gateway'),
      KEY_PEPPER: testPepper,
      RECORD_KEYS: testRecordKey,
      // All viewers have one address.
      LINK_REQUESTS_PER_MINUTE: '1000000',
      LINK_REQUESTS_BURST: '1000000',
      LINK_SIGNING_KEYS: `test:${Buffer.alloc(32, 2).toString('base64')}`,
      GATEWAY_PORT: '0',
      GATEWAY_OBJECTS_PORT: String(port),
      SEALING_KEY_STANDARD: keys.standard.public,
      SEALING_KEY_PROXIED: keys.proxied.public,
      SEALING_KEY_STEALTH: keys.stealth.public,
      SEALING_KEY_WEBHOOKS: webhookKeys.public,
    })),
    ledger: { ...stores, NATS_URL: natsUrl('ledger') },
    webhooks: {
      ...stores,
      RECORD_KEYS: testRecordKey,
      PUBLIC_URL: 'https://shots.example',
      WEBHOOK_EGRESS: `127.0.0.1:${receivers.egressPort}`,
      WEBHOOK_OPENING_KEYS: webhookKeys.private,
      EXTRA_CA: receivers.certPath,
    },
    controller: (standIns) => ({
      NATS_URL: natsUrl('controller'),
      POOL_MIN: '1',
      POOL_MAX: '1',
      WORKER_ENV: JSON.stringify(workerEnvironment(places, keys, standIns)),
      PROXIED_WORKER_ENV: '{}',
    }),
    webhooksKey: readSealingKey(webhookKeys.public),
  }
}
