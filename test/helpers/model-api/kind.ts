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
  /** Whether list items contain kind and apiVersion, as those of custom resources do. */
  readonly isCustom?: boolean
  /** Whether a change increments the generation; without it, objects have no generation. */
  readonly isNewGeneration?: (before: Stored, after: Stored) => boolean
  /** Applies defaults. */
  readonly applyDefaults?: (object: Stored) => Stored
  /** Throws if the object or its change is invalid. */
  readonly check?: (object: Stored, before: Stored | undefined) => void
  /** Grace period of a deletion in seconds; 0 without it. */
  readonly graceSeconds?: (object: Stored) => number
  /** Whether a deletion orphans dependents by default. */
  readonly orphansDependents?: boolean
}
