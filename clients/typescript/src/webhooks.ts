import type { CallOptions, PageOptions } from './options.ts'
import type { WebhookParameters, WebhookChange } from './requests.ts'
import type { Delivery, Webhook, WebhookWithSecret, QueuedDelivery } from './responses.ts'
import type { Transport } from './transport.ts'

const at = (id: string, rest = '') => `/webhooks/${encodeURIComponent(id)}${rest}`

/** The webhooks of the account. */
export class Webhooks {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(options?: CallOptions): Promise<Webhook[]> {
    return this.#transport.data('/webhooks', options)
  }

  create(fields: WebhookParameters, options?: CallOptions): Promise<WebhookWithSecret> {
    return this.#transport.data('/webhooks', { ...options, method: 'POST', body: fields })
  }

  get(id: string, options?: CallOptions): Promise<Webhook> {
    return this.#transport.data(at(id), options)
  }

  change(id: string, fields: WebhookChange, options?: CallOptions): Promise<Webhook> {
    return this.#transport.data(at(id), { ...options, method: 'PATCH', body: fields })
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send(at(id), { ...options, method: 'DELETE' })
  }

  /** Sends a `webhook.test` event; returns the id of its delivery. */
  test(id: string, options?: CallOptions): Promise<QueuedDelivery> {
    return this.#transport.data(at(id, '/test'), { ...options, method: 'POST' })
  }

  /** Creates a new secret; deliveries are signed with the old one too for 24 hours. */
  rotateSecret(id: string, options?: CallOptions): Promise<WebhookWithSecret> {
    return this.#transport.data(at(id, '/rotate-secret'), { ...options, method: 'POST' })
  }

  /** Deliveries, newest first. */
  deliveries(id: string, options?: PageOptions): AsyncGenerator<Delivery, void> {
    return this.#transport.pages(at(id, '/deliveries'), options)
  }

  redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<QueuedDelivery> {
    const path = at(id, `/deliveries/${encodeURIComponent(deliveryId)}/redeliver`)
    return this.#transport.data(path, { ...options, method: 'POST' })
  }
}
