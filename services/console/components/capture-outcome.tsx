import type { CaptureError, Warning } from '#client/responses.js'
import { texts } from '#console/text/texts.ts'
import { Notice } from './state.tsx'

/** Why a capture failed, and what to do about it. */
export const CaptureFailure = ({ error: { code, message } }: { error: CaptureError }) => (
  <Notice tone="error" title={texts.playground.failed}>
    <p>
      <code>{code}</code> {message}
    </p>
    <p>{texts.advice[code]}</p>
  </Notice>
)

/** In what the result differs from the request. */
export const CaptureWarnings = ({ warnings }: { warnings: readonly Warning[] }) =>
  warnings.length === 0 ? null : (
    <div class="notice warning">
      <p class="notice-title">{texts.playground.warnings}</p>
      <ul>
        {warnings.map(({ code, message }) => (
          <li key={code + message}>
            <code>{code}</code> {message}
          </li>
        ))}
      </ul>
    </div>
  )
