import type { ApiKey } from '#client/responses.js'

/** What a key may be allowed to do. */
export type Scope = ApiKey['scopes'][number]

/** All scopes, in the order of the form. */
export const scopes: readonly Scope[] = ['capture', 'read', 'manage']
