import type { CallOptions } from './options.ts';
import type { ApiKeyParameters } from './requests.ts';
import type { ApiKey, ApiKeyWithSecret } from './responses.ts';
import type { Transport } from './transport.ts';
/** The API keys of the account. */
export declare class Keys {
    #private;
    constructor(transport: Transport);
    list(options?: CallOptions): Promise<ApiKey[]>;
    /** Creates a key, which is in `key` of this response alone. */
    create(fields: ApiKeyParameters, options?: CallOptions): Promise<ApiKeyWithSecret>;
    revoke(id: string, options?: CallOptions): Promise<void>;
}
