import type { AppError } from '#shared/errors/app-error.ts'
import { netErrorIn } from './capture/load/net-error.ts'

/**
 * What logs may hold of a failed capture. The browser's own messages quote addresses and selectors, and what is said to
 * the client may quote the request, so of both only names and codes are kept.
 */
export const detailOf = ({ code, message, publicMessage, cause }: AppError): string => {
  const own = message === publicMessage ? code : message
  if (!(cause instanceof Error)) return own
  return `${own}: ${netErrorIn(cause.message) ?? cause.name}`
}
