import { randomBytes } from 'node:crypto'
import type { Database } from '#shared/db/connection.ts'
import { type DeliveriesOf, type DeliveryPage, listDeliveries, redeliver } from '#gateway/db/deliveries.ts'
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
} from '#gateway/db/webhooks.ts'
import { seal, type SealingKey } from '#shared/queue/seal.ts'

/** As Standard Webhooks has it: 24 to 64 bytes as base64 behind the prefix. */
const secretBytes = 32

const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

/** What the gateway asks of webhooks and their deliveries. All throw `SERVICE_UNAVAILABLE` where the database does not answer. */
export type Webhooks = ReturnType<typeof webhooksIn>

/** The webhooks in a database. Their secrets are sealed to the sender, bound to their webhook: the gateway cannot read one again. */
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
