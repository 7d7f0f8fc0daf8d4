import type { IncomingMessage } from 'node:http'
import { captureHeader } from '#shared/net/refusal.ts'

/** The capture that a client says it connects for; `undefined` where it says none or something that is no id. */
export const captureOf = ({ headers }: IncomingMessage): string | undefined => {
  const value = headers[captureHeader]
  return typeof value === 'string' && /^[\w-]{1,64}$/.test(value) ? value : undefined
}
