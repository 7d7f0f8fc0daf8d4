import type { FieldFaults } from '#shared/errors/app-error.ts'
import { asksFor } from './asks-for.ts'
import type { CaptureParameters, ParameterName } from './options.ts'

/** The parameters that no worker acts on in this version. They are validated and gated like all others, and refused last. */
export const unavailableNames: readonly ParameterName[] = ['block_ads', 'block_chats']

/** On by default, and no worker acts on it in this version: naming it is refused, and no record says that it was done. */
export const unavailableDefault: ParameterName = 'block_cookies'

const problem = 'is not available in this version'

const noStealth =
  'is not available in this installation, which has no full Chromium: its operator sets SHUTTERFLEET_STEALTH_CHROMIUM for workers and SHUTTERFLEET_SEALING_KEY_STEALTH for the gateway'

/**
 * What a valid request asks for that this version or installation cannot do, as faults of its fields; undefined where they can do
 * all.
 */
export const unavailableIn = (
  supplied: CaptureParameters,
  { hasStealth }: { readonly hasStealth: boolean },
): FieldFaults | undefined => {
  const faults = unavailableNames
    .filter((name) => asksFor(name, supplied[name]))
    .map((name): [string, string[]] => [name, [problem]])
  if (supplied[unavailableDefault] === true) faults.push([unavailableDefault, [problem]])
  if (!hasStealth && asksFor('stealth', supplied.stealth)) faults.push(['stealth', [noStealth]])
  return faults.length === 0 ? undefined : Object.fromEntries(faults)
}
