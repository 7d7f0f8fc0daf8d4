import { randomBytes } from 'node:crypto'
import type { Database } from '#shared/db/connection.ts'
import { type DeliveriesOf, type DeliveryPage, listDeliveries, redeliver } from './deliveries.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  queueTest,
  rotateSecret,
  type WebhookFields,
  type WebhookOf,
} from './webhooks.ts'
import { seal, type SealingKey } from '#shared/queue/seal.ts'

/** Standard Webhooks requires 24 to 64 bytes, as base64 after the prefix. */
const secretBytes = 32

const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

/** The gateway's queries on webhooks and deliveries. All throw `SERVICE_UNAVAILABLE` if the database is unavailable. */
export type Webhooks = ReturnType<typeof webhooksIn>

/** The webhooks in a database. Each secret is sealed to the sender and bound to its webhook; the gateway cannot decrypt it. */
export const webhooksIn = (database: Database, sealingKey: SealingKey) => {
  const sealFor = (id: string, secret: string) => seal(sealingKey, id, Buffer.from(secret))
  return {
    create: async (accountId: string, fields: WebhookFields) => {
      const secret = newSecret()
      const wanted = { ...fields, accountId, seal: (id: string) => sealFor(id, secret) }
      return { ...(await createWebhook(database, wanted)), secret }
    },
    list: (accountId: string) => listWebhooks(database, accountId),
    find: (of: WebhookOf) => findWebhook(database, of),
    change: (of: WebhookOf, fields: Partial<WebhookFields>) => changeWebhook(database, of, fields),
    delete: (of: WebhookOf) => deleteWebhook(database, of),
    rotate: async (of: WebhookOf) => {
      const secret = newSecret()
      const webhook = await rotateSecret(database, of, sealFor(of.id, secret))
      return webhook && { ...webhook, secret }
    },
    test: (of: WebhookOf) => queueTest(database, of),
    deliveries: (of: DeliveriesOf, page: DeliveryPage) => listDeliveries(database, of, page),
    redeliver: (of: DeliveriesOf, deliveryId: string) => redeliver(database, of, deliveryId),
  }
}
