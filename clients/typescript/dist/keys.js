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
    /** Creates or replaces the link secret of a key; links of the previous one are served for `previousValidSeconds`, by default a day. */
    rotateLinkSecret(id, { previousValidSeconds, signal } = {}) {
        const body = previousValidSeconds === undefined ? {} : { previous_valid_seconds: previousValidSeconds };
        return this.#transport.data(`/keys/${encodeURIComponent(id)}/link-secret`, { signal, method: 'POST', body });
    }
    /** Has the service sign a link that captures on demand; `renderLink` signs without a request. */
    createLink(id, fields, options) {
        return this.#transport.data(`/keys/${encodeURIComponent(id)}/links`, { ...options, method: 'POST', body: fields });
    }
    async revoke(id, options) {
        await this.#transport.send(`/keys/${encodeURIComponent(id)}`, { ...options, method: 'DELETE' });
    }
}
