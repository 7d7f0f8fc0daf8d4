/**
 * Yields the parts of a body that end with `separator`, as they arrive. Cancels the body if the reader stops early, and ends if nothing
 * arrives for `silentMs`.
 */
export declare const readBlocks: (body: ReadableStream<Uint8Array>, separator: string, silentMs?: number) => AsyncGenerator<string, void>;
