import type { CallOptions } from './options.ts'
import type { UploadDestinationParameters } from './requests.ts'
import type { QueuedDelivery, UploadDestination } from './responses.ts'
import type { Transport } from './transport.ts'

const at = (id: string, rest = '') => `/upload-destinations/${encodeURIComponent(id)}${rest}`

/** The upload destinations of the account. */
export class UploadDestinations {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(options?: CallOptions): Promise<UploadDestination[]> {
    return this.#transport.data('/upload-destinations', options)
  }

  create(fields: UploadDestinationParameters, options?: CallOptions): Promise<UploadDestination> {
    return this.#transport.data('/upload-destinations', { ...options, method: 'POST', body: fields })
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send(at(id), { ...options, method: 'DELETE' })
  }

  /** Uploads a small text, and deletes it; `last_upload` of the destination shows the result. */
  test(id: string, options?: CallOptions): Promise<QueuedDelivery> {
    return this.#transport.data(at(id, '/test'), { ...options, method: 'POST' })
  }
}
