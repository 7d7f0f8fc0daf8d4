const at = (id, rest = '') => `/webhooks/${encodeURIComponent(id)}${rest}`;
/** The webhooks of the account. */
export class Webhooks {
    #transport;
    constructor(transport) {
        this.#transport = transport;
    }
    list(options) {
        return this.#transport.data('/webhooks', options);
    }
    create(fields, options) {
        return this.#transport.data('/webhooks', { ...options, method: 'POST', body: fields });
    }
    get(id, options) {
        return this.#transport.data(at(id), options);
    }
    change(id, fields, options) {
        return this.#transport.data(at(id), { ...options, method: 'PATCH', body: fields });
    }
    async delete(id, options) {
        await this.#transport.send(at(id), { ...options, method: 'DELETE' });
    }
    /** Sends a `webhook.test` event; returns the id of its delivery. */
    test(id, options) {
        return this.#transport.data(at(id, '/test'), { ...options, method: 'POST' });
    }
    /** Creates a new secret; deliveries are signed with the old one too for 24 hours. */
    rotateSecret(id, options) {
        return this.#transport.data(at(id, '/rotate-secret'), { ...options, method: 'POST' });
    }
    /** Deliveries, newest first. */
    deliveries(id, options) {
        return this.#transport.pages(at(id, '/deliveries'), options);
    }
    redeliver(id, deliveryId, options) {
        const path = at(id, `/deliveries/${encodeURIComponent(deliveryId)}/redeliver`);
        return this.#transport.data(path, { ...options, method: 'POST' });
    }
}
