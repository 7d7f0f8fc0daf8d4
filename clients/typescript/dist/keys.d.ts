import type { CallOptions } from './options.ts';
import type { ApiKeyParameters, LinkParameters } from './requests.ts';
import type { ApiKey, ApiKeyWithSecret, Link, LinkSecret } from './responses.ts';
import type { Transport } from './transport.ts';
/** The API keys of the account. */
export declare class Keys {
    #private;
    constructor(transport: Transport);
    list(options?: CallOptions): Promise<ApiKey[]>;
    /** Creates a key, which is in `key` of this response alone. */
    create(fields: ApiKeyParameters, options?: CallOptions): Promise<ApiKeyWithSecret>;
    /** Creates or replaces the link secret of a key; links of the previous one are served for `previousValidSeconds`, by default a day. */
    rotateLinkSecret(id: string, { previousValidSeconds, signal }?: CallOptions & {
        previousValidSeconds?: number;
    }): Promise<LinkSecret>;
    /** Has the service sign a link that captures on demand; `renderLink` signs without a request. */
    createLink(id: string, fields: LinkParameters, options?: CallOptions): Promise<Link>;
    revoke(id: string, options?: CallOptions): Promise<void>;
}
