/**
 * What keys may be allowed to do, in the order in which they are listed: `capture` accepts captures and gets their results, `read`
 * reads everything of the account, `manage` changes keys and webhooks, deletes and redelivers.
 */
export const scopes = ['capture', 'read', 'manage'] as const

/** One of `scopes`. */
export type Scope = (typeof scopes)[number]
