/**
 * Yields the parts of a body that end with `separator`, as they arrive. Cancels the body if the reader stops early, and ends if nothing
 * arrives for `silentMs`.
 */
export const readBlocks = async function* readBlocks(body, separator, silentMs) {
    const decoder = new TextDecoder();
    const reader = body.getReader();
    const read = async () => {
        const timer = silentMs === undefined ? undefined : setTimeout(() => void reader.cancel().catch(() => { }), silentMs);
        try {
            return await reader.read();
        }
        finally {
            clearTimeout(timer);
        }
    };
    let rest = '';
    try {
        for (;;) {
            const { done, value } = await read();
            if (done)
                return;
            const blocks = (rest + decoder.decode(value, { stream: true })).split(separator);
            rest = blocks.pop() ?? '';
            yield* blocks;
        }
    }
    finally {
        await reader.cancel().catch(() => { });
    }
};
