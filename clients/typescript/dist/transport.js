import { readBlocks } from './read-blocks.js';
import { createSender } from './send-request.js';
/** `?name=value…`, or nothing if no value is given. */
export const queryOf = (values) => {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
};
export const createTransport = (options) => {
    const send = createSender(options);
    return {
        send,
        async data(...request) {
            const { data } = (await (await send(...request)).json());
            return data;
        },
        /** The JSON of each line of a response, as it arrives. */
        async *lines(path, { signal, ...filter }) {
            const { body } = await send(path + queryOf(filter), { signal, limitMs: Infinity });
            if (body)
                for await (const line of readBlocks(body, '\n'))
                    yield JSON.parse(line);
        },
        /** Entries of all pages; a page is requested when its first entry is read. */
        async *pages(path, { perPage, signal, ...filter } = {}) {
            let cursor;
            do {
                const response = await send(path + queryOf({ per_page: perPage, ...filter, cursor }), { signal });
                const { data, meta } = (await response.json());
                yield* data;
                cursor = meta.next_cursor ?? undefined;
            } while (cursor !== undefined);
        },
    };
};
