import { boundWarnings } from '#shared/capture/bound-warnings.ts'
import { boundMetadata } from '#shared/capture/page-metadata.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import { netErrorIn } from './capture/page/navigation-error.ts'
import { type Outcome, outcomeCharactersMax } from '#worker/protocol/protocol.ts'

/**
 * The detail of a failed capture for logs. Keeps only names and codes, because the browser's messages quote addresses and
 * selectors, and the public message may quote the request.
 */
export const formatDetail = ({ code, message, publicMessage, cause }: AppError): string => {
  const own = message === publicMessage ? code : message
  if (!(cause instanceof Error)) return own
  return `${own}: ${netErrorIn(cause.message) ?? cause.name}`
}

/** Truncates texts to the record's limits; pages control their length. */
export const truncateOutcome = (outcome: Outcome): Outcome => {
  if (outcome.outcome !== 'completed') {
    const detail = outcome.detail.slice(0, outcomeCharactersMax.detail)
    if (outcome.outcome === 'interrupted') return { ...outcome, detail }
    return { ...outcome, detail, message: outcome.message.slice(0, outcomeCharactersMax.message) }
  }
  const { finalUrl, warnings, metadata, ...shot } = outcome.shot
  const isShort = finalUrl !== undefined && finalUrl.length <= outcomeCharactersMax.finalUrl
  return {
    ...outcome,
    shot: {
      ...shot,
      ...(isShort && { finalUrl }),
      warnings: boundWarnings(warnings),
      ...(metadata && { metadata: boundMetadata(metadata) }),
    },
  }
}
