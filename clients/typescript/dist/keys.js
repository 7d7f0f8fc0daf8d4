/** The API keys of the account. */
export class Keys {
    #transport;
    constructor(transport) {
        this.#transport = transport;
    }
    list(options) {
        return this.#transport.data('/keys', options);
    }
    /** Creates a key, which is in `key` of this response alone. */
    create(fields, options) {
        return this.#transport.data('/keys', { ...options, method: 'POST', body: fields });
    }
    async revoke(id, options) {
        await this.#transport.send(`/keys/${encodeURIComponent(id)}`, { ...options, method: 'DELETE' });
    }
}
