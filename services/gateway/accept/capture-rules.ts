import type { Context } from '#gateway/context.ts'
import type { CaptureRules } from '#shared/capture/parse-capture.ts'

/** What requests of this installation are judged by. */
export const captureRules = ({
  allowTargets,
  hasStealth,
}: Pick<Context, 'allowTargets' | 'hasStealth'>): CaptureRules => ({
  allow: allowTargets,
  hasStealth,
})
