/** An event of a stream as it was sent. */
export type StreamEvent = {
    readonly event: string;
    readonly data: unknown;
};
/** Names of the events that end the stream of a capture or batch. */
export declare const lastEvents: readonly string[];
/**
 * Yields the events of a stream up to one of `lastNames`. If the connection ends earlier, `connect` is called again with
 * the id of the last event. Throws what `connect` throws, and after 5 consecutive connections without an event.
 */
export declare const readEvents: (connect: (lastId: string | undefined) => Promise<Response>, lastNames: readonly string[], signal: AbortSignal | undefined) => AsyncGenerator<StreamEvent, void>;
