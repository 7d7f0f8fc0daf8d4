/** Chromium's own name of a network error in a message, such as `ERR_EMPTY_RESPONSE`, where it holds one. */
export const netErrorIn = (message: string | undefined): string | undefined => /net::(ERR_\w+)/.exec(message ?? '')?.[1]
