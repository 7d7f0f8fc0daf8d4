const at = (id, rest = '') => `/upload-destinations/${encodeURIComponent(id)}${rest}`;
/** The upload destinations of the account. */
export class UploadDestinations {
    #transport;
    constructor(transport) {
        this.#transport = transport;
    }
    list(options) {
        return this.#transport.data('/upload-destinations', options);
    }
    create(fields, options) {
        return this.#transport.data('/upload-destinations', { ...options, method: 'POST', body: fields });
    }
    async delete(id, options) {
        await this.#transport.send(at(id), { ...options, method: 'DELETE' });
    }
    /** Uploads a small text, and deletes it; `last_upload` of the destination shows the result. */
    test(id, options) {
        return this.#transport.data(at(id, '/test'), { ...options, method: 'POST' });
    }
}
