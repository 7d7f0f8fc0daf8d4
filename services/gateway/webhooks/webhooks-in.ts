import { randomBytes } from 'node:crypto'
import type { Database } from '#shared/db/connection.ts'
import { listDeliveries, redeliver } from '#shared/db/deliveries.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  queueTest,
  rotateSecret,
} from '#shared/db/webhooks.ts'
import { seal, type SealingKey } from '#shared/queue/seal.ts'
import type { Webhooks } from './webhooks.ts'

/** As Standard Webhooks has it: 24 to 64 bytes as base64 behind the prefix. */
const secretBytes = 32

const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

/** The webhooks in a database. Their secrets are sealed to the sender, bound to their webhook: the gateway cannot read one again. */
export const webhooksIn = (database: Database, sealingKey: SealingKey): Webhooks => {
  const sealFor = (id: string, secret: string) => seal(sealingKey, id, Buffer.from(secret))
  return {
    create: async (accountId, fields) => {
      const secret = newSecret()
      const wanted = { ...fields, accountId, seal: (id: string) => sealFor(id, secret) }
      return { webhook: await createWebhook(database, wanted), secret }
    },
    list: (accountId) => listWebhooks(database, accountId),
    find: (of) => findWebhook(database, of),
    change: (of, fields) => changeWebhook(database, of, fields),
    delete: (of) => deleteWebhook(database, of),
    rotate: async (of) => {
      const secret = newSecret()
      const webhook = await rotateSecret(database, of, sealFor(of.id, secret))
      return webhook && { webhook, secret }
    },
    test: (of) => queueTest(database, of),
    deliveries: (of, page) => listDeliveries(database, of, page),
    redeliver: (of, deliveryId) => redeliver(database, of, deliveryId),
  }
}
