import type { FieldFaults } from '#shared/errors/app-error.ts'
import { asksFor } from './asks-for.ts'
import type { CaptureParameters, ParameterName } from './options.ts'

/** The parameters that no worker acts on in this version. They are validated and gated like all others, and refused last. */
export const unavailableNames: readonly ParameterName[] = ['stealth']

const problem = 'is not available in this version'

/**
 * What a valid request asks for that this version cannot do, as faults of its fields; undefined where it can do all.
 */
export const unavailableIn = (supplied: CaptureParameters): FieldFaults | undefined => {
  const faults = unavailableNames
    .filter((name) => asksFor(name, supplied[name]))
    .map((name): [string, string[]] => [name, [problem]])
  return faults.length === 0 ? undefined : Object.fromEntries(faults)
}
