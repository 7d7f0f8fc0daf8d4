import type { DeliveriesOf, DeliveryPage, DeliveryView } from '#shared/db/deliveries.ts'
import type { WebhookFields, WebhookOf, WebhookView } from '#shared/db/webhooks.ts'

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
