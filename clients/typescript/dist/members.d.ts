import type { CallOptions } from './options.ts';
import type { Member } from './responses.ts';
import type { Transport } from './transport.ts';
/** The members of the account. Owners change them in the console; the service refuses changes by a key. */
export declare class Members {
    #private;
    constructor(transport: Transport);
    list(options?: CallOptions): Promise<Member[]>;
}
