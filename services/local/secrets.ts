import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Pool, pools } from '#shared/capture/lane.ts'
import { queueUsers } from '#shared/queue/permissions.ts'
import { generateSealingKeys } from '#shared/queue/seal.ts'
import { readPrivate, writePrivate } from './data-folder.ts'
import type { QueuePasswords } from './nats-config.ts'

const password = () => randomBytes(24).toString('base64url')
const key = () => randomBytes(32).toString('base64')
type SealingKeys = ReturnType<typeof generateSealingKeys>

const generate = () => ({
  postgresPassword: password(),
  keyPepper: key(),
  storageSigningKey: key(),
  linkSigningKey: key(),
  recordKey: key(),
  /** Tokens of the two egress instances, for pages and for webhooks. */
  egressToken: password(),
  webhookEgressToken: password(),
  queuePasswords: Object.fromEntries(queueUsers.map(({ name }) => [name, password()])) as QueuePasswords,
  sealingKeys: Object.fromEntries(pools.map((pool) => [pool, generateSealingKeys()])) as Record<Pool, SealingKeys>,
  /** Key pair that webhook secrets are sealed with. */
  webhookKeys: generateSealingKeys(),
})

/** Generated at the first start; the data folder is unusable without them. */
export type Secrets = Readonly<ReturnType<typeof generate>>

/** Stores those that cells need in common, so that accounts can move between them, at `path`, unless there are some. */
export const shareSecrets = async (secrets: Secrets, path: string): Promise<void> => {
  const { keyPepper, linkSigningKey, recordKey, sealingKeys, webhookKeys } = secrets
  const shared = { keyPepper, linkSigningKey, recordKey, sealingKeys, webhookKeys }
  if (!(await readPrivate(path))) await writePrivate(path, shared)
}

/** Reads the secrets at `path`; generates and stores those that are missing, all or those that a newer version added. */
export const loadOrCreateSecrets = async (path: string): Promise<Secrets> => {
  const stored = await readPrivate<Partial<Secrets>>(path)
  const generated = generate()
  const secrets = {
    ...generated,
    ...stored,
    queuePasswords: { ...generated.queuePasswords, ...stored?.queuePasswords },
    sealingKeys: { ...generated.sealingKeys, ...stored?.sealingKeys },
  }
  if (isDeepStrictEqual(stored, secrets)) return secrets
  await writePrivate(path, secrets)
  return secrets
}
