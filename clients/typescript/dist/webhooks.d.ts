import type { CallOptions, PageOptions } from './options.ts';
import type { WebhookParameters, WebhookChange } from './requests.ts';
import type { Delivery, Webhook, WebhookWithSecret, QueuedDelivery } from './responses.ts';
import type { Transport } from './transport.ts';
/** The webhooks of the account. */
export declare class Webhooks {
    #private;
    constructor(transport: Transport);
    list(options?: CallOptions): Promise<Webhook[]>;
    create(fields: WebhookParameters, options?: CallOptions): Promise<WebhookWithSecret>;
    get(id: string, options?: CallOptions): Promise<Webhook>;
    change(id: string, fields: WebhookChange, options?: CallOptions): Promise<Webhook>;
    delete(id: string, options?: CallOptions): Promise<void>;
    /** Sends a `webhook.test` event; returns the id of its delivery. */
    test(id: string, options?: CallOptions): Promise<QueuedDelivery>;
    /** Creates a new secret; deliveries are signed with the old one too for 24 hours. */
    rotateSecret(id: string, options?: CallOptions): Promise<WebhookWithSecret>;
    /** Deliveries, newest first. */
    deliveries(id: string, options?: PageOptions): AsyncGenerator<Delivery, void>;
    redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<QueuedDelivery>;
}
