import { randomUUID } from 'node:crypto'

/** The caller's own request id where it is at most 64 token characters, else a new one. */
export const requestIdOf = (given: string | string[] | undefined): string =>
  typeof given === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/.test(given) ? given : randomUUID()
