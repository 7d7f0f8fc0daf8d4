import type { FieldFaults } from '#shared/errors/app-error.ts'
import { isRequested } from '#shared/capture/is-requested.ts'
import type { CaptureParameters } from '#shared/capture/options.ts'

const noStealth =
  'is not available in this installation, which has no full Chromium: its operator sets SHUTTERFLEET_STEALTH_CHROMIUM for workers and SHUTTERFLEET_SEALING_KEY_STEALTH for the gateway'

/** What a valid request asks for that this installation cannot do, as faults of its fields; undefined where it can do all. */
export const unavailableIn = (
  supplied: CaptureParameters,
  { hasStealth }: { readonly hasStealth: boolean },
): FieldFaults | undefined =>
  !hasStealth && isRequested('stealth', supplied.stealth) ? { stealth: [noStealth] } : undefined
