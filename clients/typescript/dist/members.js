/** The members of the account. Owners change them in the console; the service refuses changes by a key. */
export class Members {
    #transport;
    constructor(transport) {
        this.#transport = transport;
    }
    list(options) {
        return this.#transport.data('/members', options);
    }
}
