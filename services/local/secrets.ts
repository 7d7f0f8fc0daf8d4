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
  /** Tokens of the two instances of egress: that of pages, and that of webhooks. */
  egressToken: password(),
  webhookEgressToken: password(),
  queuePasswords: Object.fromEntries(queueUsers.map(({ name }) => [name, password()])) as QueuePasswords,
  sealingKeys: Object.fromEntries(pools.map((pool) => [pool, generateSealingKeys()])) as Record<Pool, SealingKeys>,
  /** To which the secrets of webhooks are sealed. */
  webhookKeys: generateSealingKeys(),
})

/** What is generated at the first start and kept: the data folder is worthless without it. */
export type Secrets = Readonly<ReturnType<typeof generate>>

/** The secrets at `path`, made at the first call; what an earlier version did not know yet is added. */
export const keepSecrets = async (path: string): Promise<Secrets> => {
  const kept = await readPrivate<Partial<Secrets>>(path)
  const made = generate()
  const secrets = {
    ...made,
    ...kept,
    queuePasswords: { ...made.queuePasswords, ...kept?.queuePasswords },
    sealingKeys: { ...made.sealingKeys, ...kept?.sealingKeys },
  }
  if (isDeepStrictEqual(kept, secrets)) return secrets
  await writePrivate(path, secrets)
  return secrets
}
