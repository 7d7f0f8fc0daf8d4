import { boundWarnings } from '#shared/capture/bound-warnings.ts'
import { boundMetadata } from '#shared/capture/page-metadata.ts'
import type { Outcome } from './protocol.ts'

const messageCharactersMax = 1000
const addressCharactersMax = 8192
const detailCharactersMax = 4000

/** An outcome as a record may hold it: a page may write, and go to, what is longer. */
export const boundOutcome = (outcome: Outcome): Outcome => {
  if (outcome.outcome !== 'completed') {
    const detail = outcome.detail.slice(0, detailCharactersMax)
    if (outcome.outcome === 'interrupted') return { ...outcome, detail }
    return { ...outcome, detail, message: outcome.message.slice(0, messageCharactersMax) }
  }
  const { finalUrl, warnings, metadata, ...shot } = outcome.shot
  const isShort = finalUrl !== undefined && finalUrl.length <= addressCharactersMax
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
