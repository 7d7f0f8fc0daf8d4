import { readBlocks } from './read-blocks.js';
import { pause } from './send-request.js';
const reconnectMs = 2000;
/** A stream that is silent for so long is broken: the service sends something every 15 seconds. */
const silentMs = 45_000;
/** Consecutive connections without an event after which the stream fails. */
const silentMax = 5;
/** Names of the events that end the stream of a capture or batch. */
export const lastEvents = ['result', 'deleted'];
/** A broken connection is reconnected, and missed events are sent again; an abort by the caller ends the stream. */
const hasBroken = (error, signal) => error instanceof TypeError && !signal?.aborted;
const parse = (block) => {
    const fields = { event: '', id: '' };
    const data = [];
    for (const line of block.split('\n')) {
        const [, name, value = ''] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
        if (name === 'data')
            data.push(value);
        else if (name === 'event' || name === 'id')
            fields[name] = value;
    }
    return fields.event === '' || data.length === 0
        ? undefined
        : { ...fields, data: JSON.parse(data.join('\n')) };
};
const readStream = async function* readStream(body) {
    for await (const block of readBlocks(body, '\n\n', silentMs)) {
        const event = parse(block);
        if (event)
            yield event;
    }
};
/**
 * Yields the events of a stream up to one of `lastNames`. If the connection ends earlier, `connect` is called again with
 * the id of the last event. Throws what `connect` throws, and after 5 consecutive connections without an event.
 */
export const readEvents = async function* readEvents(connect, lastNames, signal) {
    let lastId;
    for (let silent = 0; silent < silentMax; silent += 1) {
        if (silent > 0)
            await pause(reconnectMs, signal);
        const response = await connect(lastId);
        if (response.status === 204 || !response.body)
            return;
        try {
            for await (const { event, id, data } of readStream(response.body)) {
                silent = 0;
                lastId = id;
                yield { event, data };
                if (lastNames.includes(event))
                    return;
            }
        }
        catch (error) {
            if (!hasBroken(error, signal))
                throw error;
        }
    }
    throw new Error(`the event stream ended ${silentMax} times without an event`);
};
