import type { CallOptions } from './options.ts'
import type { ApiKeyParameters, LinkParameters } from './requests.ts'
import type { ApiKey, ApiKeyWithSecret, Link, LinkSecret } from './responses.ts'
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

  /** Creates or replaces the link secret of a key; links of the previous one are served for `previousValidSeconds`, by default a day. */
  rotateLinkSecret(
    id: string,
    { previousValidSeconds, signal }: CallOptions & { previousValidSeconds?: number } = {},
  ): Promise<LinkSecret> {
    const body = previousValidSeconds === undefined ? {} : { previous_valid_seconds: previousValidSeconds }
    return this.#transport.data(`/keys/${encodeURIComponent(id)}/link-secret`, { signal, method: 'POST', body })
  }

  /** Has the service sign a link that captures on demand; `renderLink` signs without a request. */
  createLink(id: string, fields: LinkParameters, options?: CallOptions): Promise<Link> {
    return this.#transport.data(`/keys/${encodeURIComponent(id)}/links`, { ...options, method: 'POST', body: fields })
  }

  async revoke(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send(`/keys/${encodeURIComponent(id)}`, { ...options, method: 'DELETE' })
  }
}
