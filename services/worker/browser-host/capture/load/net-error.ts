/** Chromium's own name of a network error in a message, such as `ERR_EMPTY_RESPONSE`, where it holds one. */
export const netErrorIn = (message: string | undefined): string | undefined => /net::(ERR_\w+)/.exec(message ?? '')?.[1]

/** An answer of 4xx or 5xx without a body; Chromium shows a page of its own that names the status. */
export const emptyErrorPage = 'ERR_HTTP_RESPONSE_CODE_FAILURE'

/** Host of an address; '' where it is none. */
export const hostOf = (url: string): string => URL.parse(url)?.hostname ?? ''

/** The browser itself gives up a document for another one, a download or a stop. */
export const givenUp = 'ERR_ABORTED'
