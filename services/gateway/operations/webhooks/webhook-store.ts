import { randomBytes } from 'node:crypto'
import type { Database } from '#shared/db/connection.ts'
import {
  type DeliveriesOf,
  type DeliveryPage,
  type DeliveryView,
  listDeliveries,
  redeliver,
} from '#gateway/db/deliveries.ts'
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
  type WebhookView,
} from '#gateway/db/webhooks.ts'
import { seal, type SealingKey } from '#shared/queue/seal.ts'

/** A webhook with its secret, which is shown this once. */
export type WebhookWithSecret = { readonly webhook: WebhookView; readonly secret: string }

/** What the gateway asks of webhooks and their deliveries. All throw `SERVICE_UNAVAILABLE` where the database does not answer. */
export type Webhooks = {
  /** Throws `FEATURE_NOT_AVAILABLE`, or `VALIDATION_ERROR` beyond the bound of an account. */
  readonly create: (accountId: string, fields: WebhookFields) => Promise<WebhookWithSecret>
  readonly list: (accountId: string) => Promise<readonly WebhookView[]>
  readonly find: (of: WebhookOf) => Promise<WebhookView | undefined>
  readonly change: (of: WebhookOf, fields: Partial<WebhookFields>) => Promise<WebhookView | undefined>
  /** Answers whether there was one. */
  readonly delete: (of: WebhookOf) => Promise<boolean>
  readonly rotate: (of: WebhookOf) => Promise<WebhookWithSecret | undefined>
  /** Answers the delivery's id. Throws `FEATURE_NOT_AVAILABLE`. */
  readonly test: (of: WebhookOf) => Promise<string | undefined>
  readonly deliveries: (of: DeliveriesOf, page: DeliveryPage) => Promise<readonly DeliveryView[]>
  /** Answers whether there is such a delivery. */
  readonly redeliver: (of: DeliveriesOf, deliveryId: string) => Promise<boolean>
}

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
