/** Yields the parts of a body that end with `separator`, as they arrive. Cancels the body if the reader stops early. */
export declare const readBlocks: (body: ReadableStream<Uint8Array>, separator: string) => AsyncGenerator<string, void>;
