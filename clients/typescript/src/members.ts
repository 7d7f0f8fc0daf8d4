import type { CallOptions } from './options.ts'
import type { Member } from './responses.ts'
import type { Transport } from './transport.ts'

/** The members of the account. Owners change them in the console; the service refuses changes by a key. */
export class Members {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(options?: CallOptions): Promise<Member[]> {
    return this.#transport.data('/members', options)
  }
}
