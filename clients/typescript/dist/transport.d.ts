import { type Send } from './send-request.ts';
import type { ActivityExport, ActivityFilter, BatchFilter, ClientOptions, ListFilter } from './options.ts';
type Query = Readonly<Record<string, string | number | undefined>>;
/** `?name=value…`, or nothing if no value is given. */
export declare const queryOf: (values: Query) => string;
/** Sends requests and reads the `data` of responses; the caller names its type, as docs/openapi.json describes it. */
export type Transport = ReturnType<typeof createTransport>;
export declare const createTransport: (options: Required<ClientOptions> & {
    apiKey: string;
}) => {
    send: Send;
    data<Data>(path: string, options?: import("./send-request.ts").SendOptions | undefined): Promise<Data>;
    /** The JSON of each line of a response, as it arrives. */
    lines<Entry>(path: string, { signal, ...filter }: ActivityExport): AsyncGenerator<Entry, void>;
    /** Entries of all pages; a page is requested when its first entry is read. */
    pages<Entry>(path: string, { perPage, signal, ...filter }?: ListFilter | ActivityFilter | BatchFilter): AsyncGenerator<Entry, void>;
};
export {};
