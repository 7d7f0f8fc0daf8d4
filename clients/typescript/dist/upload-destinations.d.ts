import type { CallOptions } from './options.ts';
import type { UploadDestinationParameters } from './requests.ts';
import type { QueuedDelivery, UploadDestination } from './responses.ts';
import type { Transport } from './transport.ts';
/** The upload destinations of the account. */
export declare class UploadDestinations {
    #private;
    constructor(transport: Transport);
    list(options?: CallOptions): Promise<UploadDestination[]>;
    create(fields: UploadDestinationParameters, options?: CallOptions): Promise<UploadDestination>;
    delete(id: string, options?: CallOptions): Promise<void>;
    /** Uploads a small text, and deletes it; `last_upload` of the destination shows the result. */
    test(id: string, options?: CallOptions): Promise<QueuedDelivery>;
}
