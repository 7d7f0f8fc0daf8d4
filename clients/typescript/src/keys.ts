import type { CallOptions } from './options.ts'
import type { ApiKeyParameters } from './requests.ts'
import type { ApiKey, ApiKeyWithSecret } from './responses.ts'
import type { Transport } from './transport.ts'

/** The API keys of the account. */
export class Keys {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(options?: CallOptions): Promise<ApiKey[]> {
    return this.#transport.data('/keys', options)
  }

  /** Creates a key, which is in `key` of this response alone. */
  create(fields: ApiKeyParameters, options?: CallOptions): Promise<ApiKeyWithSecret> {
    return this.#transport.data('/keys', { ...options, method: 'POST', body: fields })
  }

  async revoke(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send(`/keys/${encodeURIComponent(id)}`, { ...options, method: 'DELETE' })
  }
}
