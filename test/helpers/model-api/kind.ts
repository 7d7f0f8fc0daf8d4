import type { Stored } from './object.ts'

/** How objects of one kind behave. */
export type Kind = {
  /** Group, version and plural: `apps/v1/deployments`. */
  readonly resource: string
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly hasStatus?: boolean
  readonly hasScale?: boolean
  /** Whether lists say kind and version with each item, as those of custom resources do. */
  readonly isCustom?: boolean
  /** Whether a change of the object counts as a new generation; without it there are none. */
  readonly isNewGeneration?: (before: Stored, after: Stored) => boolean
  /** Fills in what is left out. */
  readonly fill?: (object: Stored) => Stored
  /** Throws where the object, or the change of it, is not allowed. */
  readonly check?: (object: Stored, before: Stored | undefined) => void
  /** Seconds from a deletion to the end of the object; 0 without it. */
  readonly graceSeconds?: (object: Stored) => number
  /** What becomes of dependents where a deletion does not say so. */
  readonly orphansDependents?: boolean
}
